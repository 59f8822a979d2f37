import type { Locator, Page } from 'playwright/test';
import { expect, view } from './fixtures.ts';

/** Adds a secret with the panel's own dialog. */
export async function addSecret(panel: Page, name: string, value: string): Promise<void> {
  await view(panel, 'Secrets');
  await panel.getByRole('button', { name: 'Add secret' }).click();
  const dialog = panel.getByRole('dialog', { name: 'Add secret' });
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('textbox', { name: 'Value' }).fill(value);
  await panel.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  await expect(secretRow(panel, name)).toBeVisible();
}

export function secretRow(panel: Page, name: string): Locator {
  return panel.getByRole('table', { name: 'Secrets' }).getByRole('row').filter({ hasText: name });
}

/** Asks for a value, confirms, and answers where it is shown. */
export async function reveal(panel: Page, name: string): Promise<Locator> {
  await panel.getByRole('button', { name: `Reveal ${name}`, exact: true }).click();
  const ask = panel.getByRole('dialog', { name: `Reveal ${name}?` });
  await ask.getByRole('button', { name: 'Reveal', exact: true }).click();
  const value = panel.getByRole('dialog', { name, exact: true }).getByLabel(`Value of ${name}`);
  await expect(value).toBeVisible();
  return value;
}

/** Every place of the page that a value could have been left in. */
export function leftIn(panel: Page): Promise<string> {
  return panel.evaluate(() => {
    const fields = [...document.querySelectorAll('input, textarea')].map((field) =>
      Reflect.get(field, 'value'),
    );
    return JSON.stringify([
      document.documentElement.outerHTML,
      fields,
      location.href,
      document.title,
      { ...localStorage },
      { ...sessionStorage },
      history.state,
    ]);
  });
}
