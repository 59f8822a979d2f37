import { mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright/test';
import { expect, test } from './fixtures.ts';

const openPath = async (panel: Page, path: string) => {
  await panel.getByLabel('Path of a project folder').fill(path);
  await panel.keyboard.press('Enter');
};

test('opening a folder makes it the active workspace and says what to do next', async ({
  panel,
  folder,
  daemon,
}) => {
  await expect(panel.getByText('No workspace yet')).toBeVisible();
  await mkdir(join(folder, 'shop'));
  await openPath(panel, join(folder, 'shop'));
  const row = panel.getByRole('listitem').filter({ hasText: join(folder, 'shop') });
  await expect(row.getByText('Active')).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Workspace: shop. Switch' })).toBeVisible();
  const next = panel.getByRole('region', { name: 'Use shop' });
  await expect(next).toContainText(`curl -N ${daemon.url}/api/shell/run`);
  await next.getByRole('button', { name: 'Create API key' }).click();
  await expect(panel.getByRole('dialog', { name: 'Create API key' })).toBeVisible();
});

test('each reason why a folder can not be opened is told in plain words', async ({ panel, folder }) => {
  await writeFile(join(folder, 'notes.txt'), 'not a folder');
  const cases: [string, RegExp][] = [
    [join(folder, 'missing'), /no folder at this path/],
    [join(folder, 'notes.txt'), /not a folder/],
    ['projects/shop', /whole path/],
    ['/etc', /can’t be a workspace.*operating system/],
    [homedir(), /can’t be a workspace.*home folder/],
    [join(folder, 'data'), /can’t be a workspace/],
  ];
  for (const [path, words] of cases) {
    await openPath(panel, path);
    await expect(panel.getByRole('alert'), path).toContainText(words);
    await expect(panel.getByLabel('Path of a project folder')).toHaveAttribute('aria-invalid', 'true');
  }
  await expect(panel.getByText('No workspace yet')).toBeVisible();
});

test('a workspace can be taken off the list and brought back', async ({ panel, folder }) => {
  for (const name of ['one', 'two']) {
    await mkdir(join(folder, name));
    await openPath(panel, join(folder, name));
    await expect(panel.getByRole('button', { name: `Remove ${name} from the list` })).toBeVisible();
  }
  await panel.getByRole('button', { name: 'Remove one from the list' }).click();
  await expect(panel.getByRole('button', { name: 'Open one' })).toBeHidden();
  await panel.getByRole('button', { name: 'Undo' }).click();
  await expect(panel.getByRole('listitem').filter({ hasText: join(folder, 'one') })).toBeVisible();
});

test('a workspace whose folder is gone says so, can not be opened, and asks before it is removed', async ({
  panel,
  folder,
}) => {
  for (const name of ['gone', 'here']) {
    await mkdir(join(folder, name));
    await openPath(panel, join(folder, name));
    await expect(panel.getByRole('button', { name: `Workspace: ${name}. Switch` })).toBeVisible();
  }
  await rm(join(folder, 'gone'), { recursive: true });
  await panel.reload();
  const row = panel.getByRole('listitem').filter({ hasText: join(folder, 'gone') });
  // The daemon looks at the folders once in a while only, and so does the panel.
  await expect(row.getByText('Folder not found')).toBeVisible({ timeout: 20_000 });
  await expect(row.getByRole('button', { name: 'Open gone' })).toBeDisabled();
  await row.getByRole('button', { name: 'Remove gone from the list' }).click();
  await panel.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await expect(row).toBeHidden();
});

test('the switcher changes the workspace, and the tab keeps it over a reload', async ({ panel, folder }) => {
  for (const name of ['one', 'two']) {
    await mkdir(join(folder, name));
    await openPath(panel, join(folder, name));
    await expect(panel.getByRole('button', { name: `Workspace: ${name}. Switch` })).toBeVisible();
  }
  await panel.getByRole('button', { name: 'Workspace: two. Switch' }).click();
  await panel.getByRole('menuitem', { name: 'one' }).click();
  await expect(panel.getByRole('button', { name: 'Workspace: one. Switch' })).toBeVisible();
  await panel.reload();
  await expect(panel.getByRole('button', { name: 'Workspace: one. Switch' })).toBeVisible();
});
