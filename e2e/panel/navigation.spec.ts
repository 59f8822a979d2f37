import type { Page } from 'playwright/test';
import { expect, footer, rows, test } from './fixtures.ts';

test('the palette goes to views, runs commands and runs them again', async ({ panel, project }) => {
  await panel.keyboard.press('Control+k');
  const palette = panel.getByRole('dialog', { name: 'Command palette' });
  await palette.getByRole('combobox').fill('echo from the palette');
  await panel.keyboard.press('Enter');
  await expect(palette).toBeHidden();
  await expect(rows(panel).filter({ hasText: 'from the palette' })).toBeVisible();
  await expect(footer(panel)).toContainText('Exited with code 0');

  await panel.keyboard.press('Control+k');
  await palette.getByRole('combobox').fill('daemon');
  await panel.keyboard.press('Enter');
  await expect(panel.getByRole('heading', { name: 'Daemon', level: 1 })).toBeVisible();

  await panel.keyboard.press('Control+k');
  await palette
    .getByRole('group', { name: 'Run again' })
    .getByRole('option', { name: 'echo from the palette' })
    .click();
  await expect(panel.getByRole('navigation', { name: 'Jobs' }).getByRole('button')).toHaveCount(2);
  await panel.keyboard.press('Control+k');
  await panel.keyboard.press('Escape');
  await expect(palette).toBeHidden();
  expect(project.name).toBe('acme');
});

test('the theme is kept, and shows before anything is fetched', async ({ panel }) => {
  const background = () => panel.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await panel.getByRole('button', { name: /^Theme: system/ }).click();
  await panel.getByRole('button', { name: /^Theme: light/ }).click();
  await expect(panel.getByRole('button', { name: /^Theme: dark/ })).toBeVisible();
  const dark = await background();
  expect(dark).not.toBe(light);
  await panel.reload();
  expect(await background()).toBe(dark);
  await panel.keyboard.press('Control+k');
  await panel.getByRole('option', { name: 'Toggle light and dark theme' }).click();
  expect(await background()).toBe(light);
});

test('the system theme follows the system', async ({ panel }) => {
  await panel.emulateMedia({ colorScheme: 'light' });
  const light = await panel.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await panel.emulateMedia({ colorScheme: 'dark' });
  expect(await panel.evaluate(() => getComputedStyle(document.body).backgroundColor)).not.toBe(light);
});

test('every view and a whole run can be reached with the keyboard alone', async ({ panel, project }) => {
  await panel.evaluate(() =>
    document.activeElement instanceof HTMLElement ? document.activeElement.blur() : undefined,
  );
  await goWith(panel, 'k', 'API keys');
  await goWith(panel, 'h', 'SSH hosts');
  await goWith(panel, 's', 'Secrets');
  await goWith(panel, 'm', 'Security');
  await goWith(panel, 'd', 'Daemon');
  await goWith(panel, 'w', 'Workspaces');
  await panel.keyboard.press('?');
  await expect(panel.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await panel.keyboard.press('Escape');
  await panel.keyboard.press('r');
  await expect(panel.getByLabel('Command to run in acme')).toBeFocused();
  await panel.keyboard.type('seq 300');
  await panel.keyboard.press('Enter');
  await expect(footer(panel)).toContainText('300 lines');
  const log = panel.getByRole('region', { name: 'Output' });
  await tabUntil(panel, () => log.evaluate((element) => element === document.activeElement));
  await panel.keyboard.press('Home');
  await expect(rows(panel).filter({ hasText: /^1$/ })).toBeInViewport();
  await panel.keyboard.press('PageDown');
  await expect(rows(panel).filter({ hasText: /^1$/ })).not.toBeInViewport();
  expect(project.name).toBe('acme');
});

test('whatever has the focus shows it', async ({ panel }) => {
  for (let step = 0; step < 9; step++) {
    await panel.keyboard.press('Tab');
    const shown = await panel.evaluate(() => {
      const element = document.activeElement;
      // After the last element the focus leaves the page, to the browser's own bars.
      if (element === null || element === document.body) return 'shown';
      const style = getComputedStyle(element);
      const ring =
        style.outlineStyle !== 'none' || style.boxShadow !== 'none' || element.matches('input[type=radio]');
      return ring ? 'shown' : `no ring on ${element.outerHTML.slice(0, 120)}`;
    });
    expect(shown).toBe('shown');
  }
});

async function goWith(panel: Page, key: string, heading: string): Promise<void> {
  await panel.keyboard.press('g');
  await panel.keyboard.press(key);
  await expect(panel.getByRole('heading', { name: heading, level: 1 })).toBeVisible();
}

async function tabUntil(panel: Page, reached: () => Promise<boolean>): Promise<void> {
  for (let presses = 0; presses < 30; presses++) {
    if (await reached()) return;
    await panel.keyboard.press('Tab');
  }
  throw new Error('Not reached with 30 presses of Tab');
}
