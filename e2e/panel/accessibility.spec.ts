import type { Page } from 'playwright/test';
import { expect, footer, run, test } from './fixtures.ts';
import { addSecret, reveal } from './secrets-panel.ts';

const viewNames = [
  'Workspaces',
  'Jobs',
  'Files',
  'Receipts',
  'SSH hosts',
  'Secrets',
  'API keys',
  'Security',
  'Daemon',
];

test('everything that can be used has a name, in every view and dialog', async ({ panel, project }) => {
  await run(panel, 'echo hi > hi.txt');
  await expect(footer(panel)).toContainText('Exited');
  for (const name of viewNames) {
    await panel.getByRole('link', { name, exact: true }).click();
    await expect(panel.getByRole('heading', { level: 1, name: new RegExp(name) })).toBeAttached();
    expect(await nameless(panel), name).toEqual([]);
  }
  await panel.keyboard.press('n');
  await panel.getByRole('dialog').waitFor();
  expect(await nameless(panel)).toEqual([]);
  await panel.keyboard.press('Escape');

  await panel.getByRole('link', { name: 'Files', exact: true }).click();
  await panel.getByRole('treeitem', { name: 'hi.txt' }).click();
  await panel.locator('.cm-content').click();
  await panel.keyboard.press('Control+f');
  await panel.locator('.cm-search').waitFor();
  expect(await nameless(panel)).toEqual([]);

  await panel.getByRole('link', { name: 'Receipts', exact: true }).click();
  await panel.getByRole('region', { name: 'Changes in hi.txt' }).waitFor();
  await panel.getByRole('button', { name: 'Verify chain' }).click();
  await panel.getByText('Chain is intact').waitFor();
  await panel.getByRole('button', { name: 'Roll back…' }).click();
  await panel.getByRole('alertdialog').getByRole('listitem').waitFor();
  expect(await nameless(panel)).toEqual([]);
  await panel.keyboard.press('Escape');

  await addSecret(panel, 'DB_PASSWORD', 'correct-horse');
  for (const name of ['Add secret', 'Paste .env', 'Change DB_PASSWORD', 'Delete DB_PASSWORD']) {
    await panel.getByRole('button', { name, exact: true }).click();
    await panel.locator('[role=dialog], [role=alertdialog]').waitFor();
    expect(await nameless(panel), name).toEqual([]);
    await panel.keyboard.press('Escape');
  }
  await reveal(panel, 'DB_PASSWORD');
  expect(await nameless(panel)).toEqual([]);
  await panel.keyboard.press('Escape');
  await expect(panel.getByRole('button', { name: 'Reveal DB_PASSWORD' })).toBeFocused();
  expect(project.name).toBe('acme');
});

test('each view has one main landmark, one first heading, and no id twice', async ({ panel, project }) => {
  for (const name of viewNames) {
    await panel.getByRole('link', { name, exact: true }).click();
    await expect(panel.getByRole('main')).toHaveCount(1);
    await expect(panel.getByRole('heading', { level: 1 })).toHaveCount(1);
    const ids = await panel.evaluate(() =>
      [...document.querySelectorAll('[id]')].map((element) => element.id),
    );
    expect(ids.length).toBe(new Set(ids).size);
  }
  expect(project.name).toBe('acme');
});

for (const scheme of ['light', 'dark'] as const) {
  test(`texts can be told from what they stand on in the ${scheme} theme`, async ({ panel }) => {
    await panel.emulateMedia({ colorScheme: scheme });
    const pairs: [string, string][] = [
      ...['--text', '--muted', '--faint'].flatMap((text): [string, string][] => [
        [text, '--surface'],
        [text, '--canvas'],
        [text, '--raised'],
      ]),
      ['--accent', '--surface'],
      ['--danger-text', '--surface'],
      ['--success-text', '--surface'],
      ['--warning-text', '--surface'],
      ['--on-accent', '--accent-fill'],
      ['--log-text', '--log'],
      ...['--diff-added', '--diff-added-mark', '--diff-removed', '--diff-removed-mark'].map(
        (ground): [string, string] => ['--log-text', ground],
      ),
      ['--faint', '--diff-added'],
      ['--faint', '--diff-removed'],
      ['--faint', '--inset'],
      ['--success-text', '--diff-added'],
      ['--danger-text', '--diff-removed'],
      ...Array.from({ length: 16 }, (_, index): [string, string] => [`--ansi-${index}`, '--log']),
    ];
    for (const [text, ground] of pairs) {
      expect(await contrast(panel, text, ground), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    }
  });
}

/** Elements that can be used but would be read out as nothing. */
function nameless(panel: Page): Promise<string[]> {
  return panel.evaluate(() => {
    const named = (element: Element) => {
      const labelledBy = element.getAttribute('aria-labelledby');
      const labels = 'labels' in element && element.labels instanceof NodeList ? [...element.labels] : [];
      const referred = labelledBy === null ? null : document.getElementById(labelledBy);
      const texts = [element.getAttribute('aria-label'), element.textContent, referred?.textContent];
      return [...texts, ...labels.map((label) => label.textContent)].some(
        (text) => (text ?? '').trim() !== '',
      );
    };
    return [
      ...document.querySelectorAll(
        'button, a, input, textarea, select, [role=radio], [role=menuitem], [role=option], [tabindex="0"]',
      ),
    ]
      .filter((element) => element.closest('[aria-hidden=true]') === null && !named(element))
      .map((element) => element.outerHTML.slice(0, 160));
  });
}

/** WCAG contrast of two of the theme's colours, as the browser draws them. */
function contrast(panel: Page, text: string, ground: string): Promise<number> {
  return panel.evaluate(
    ([front, back]) => {
      const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      const probe = document.body.appendChild(document.createElement('i'));
      const luminance = (name: string | undefined) => {
        probe.style.color = `var(${name})`;
        if (canvas === null) throw new Error('no canvas');
        canvas.fillStyle = getComputedStyle(probe).color;
        canvas.fillRect(0, 0, 1, 1);
        const [red = 0, green = 0, blue = 0] = [...canvas.getImageData(0, 0, 1, 1).data].map((byte) => {
          const value = byte / 255;
          return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const [one, other] = [luminance(front), luminance(back)];
      probe.remove();
      return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    },
    [text, ground],
  );
}
