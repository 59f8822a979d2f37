import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright/test';
import type { CreatedKey } from '../../daemon/contract/api-keys.ts';
import type { LoadedProject } from '../../daemon/contract/projects.ts';
import { api, expect, test } from './fixtures.ts';

test('the tree is walked with the keyboard, and tells links, executables and what git ignores', async ({
  panel,
  project,
}) => {
  await mkdir(join(project.path, 'src/inner'), { recursive: true });
  await mkdir(join(project.path, 'node_modules'));
  await writeFile(join(project.path, '.gitignore'), 'node_modules/\n');
  await writeFile(join(project.path, 'src/main.ts'), 'export {};\n');
  await writeFile(join(project.path, 'run.sh'), 'true\n');
  await chmod(join(project.path, 'run.sh'), 0o755);
  await symlink('src/main.ts', join(project.path, 'current'));
  await openFiles(panel);
  await expect(row(panel, 'current')).toHaveAccessibleName(/→ src\/main\.ts.*link to/);
  await expect(row(panel, 'run.sh')).toHaveAccessibleName(/executable/);
  await expect(row(panel, 'node_modules')).toHaveAccessibleName(/ignored by git/);

  await row(panel, 'node_modules').focus();
  await panel.keyboard.press('ArrowDown');
  await expect(row(panel, 'src')).toBeFocused();
  await panel.keyboard.press('ArrowRight');
  await expect(row(panel, 'src')).toHaveAttribute('aria-expanded', 'true');
  await expect(row(panel, 'src/main.ts')).toHaveAttribute('aria-level', '2');
  await panel.keyboard.press('End');
  await expect(row(panel, 'run.sh')).toBeFocused();
  await panel.keyboard.press('m');
  await expect(row(panel, 'src/main.ts')).toBeFocused();
  await panel.keyboard.press('Enter');
  await expect(editor(panel)).toHaveText('export {};');
  await row(panel, 'src/main.ts').focus();
  await panel.keyboard.press('ArrowLeft');
  await expect(row(panel, 'src')).toBeFocused();
  await panel.keyboard.press('ArrowLeft');
  await expect(row(panel, 'src/main.ts')).toHaveCount(0);
});

test('a save is written with a receipt, keeps the file’s line breaks, and can be undone', async ({
  panel,
  project,
}) => {
  const file = join(project.path, 'windows.txt');
  await writeFile(file, 'one\r\ntwo\r\n');
  await openFiles(panel, 'windows.txt');
  await expect(panel.getByText('CRLF')).toBeVisible();
  await editor(panel).click();
  await panel.keyboard.press('Control+End');
  await panel.keyboard.type('three\nfour');
  await expect(unsaved(panel)).toBeVisible();
  await panel.keyboard.press('Control+s');
  await expect(unsaved(panel)).toBeHidden();
  expect(await readFile(file, 'utf8')).toBe('one\r\ntwo\r\nthree\r\nfour');
  const toast = panel.locator('[data-sonner-toast]').filter({ hasText: 'Saved' });
  const receipt = (await toast.getByRole('link').textContent()) ?? '';
  await toast.getByRole('button', { name: 'Undo' }).click();
  await expect(editor(panel)).toHaveText('onetwo');
  expect(await readFile(file, 'utf8')).toBe('one\r\ntwo\r\n');
  await panel.getByRole('link', { name: 'Receipts of this file' }).click();
  const list = panel.getByRole('navigation', { name: 'Receipts' });
  await expect(list.getByRole('button')).toHaveCount(2);
  await expect(list.locator(`[data-receipt=${receipt}]`)).toContainText('Wrote windows.txt');
});

test('a change on disk under unsaved changes is never overwritten unasked', async ({ panel, project }) => {
  const file = join(project.path, 'a.txt');
  await writeFile(file, 'one\n');
  await openFiles(panel, 'a.txt');
  await typeAtStart(panel, 'mine ');
  await writeFile(file, 'theirs\n');
  await panel.keyboard.press('Control+s');
  const dialog = panel.getByRole('dialog', { name: 'a.txt has changed on disk' });
  await dialog.getByRole('button', { name: 'Compare' }).click();
  const comparison = dialog.getByRole('region', { name: 'Your changes against the file on disk' });
  await expect(comparison.locator('tr[data-kind=removed]')).toContainText('theirs');
  await expect(comparison.locator('tr[data-kind=added]')).toContainText('mine one');
  await panel.keyboard.press('Escape');
  expect(await readFile(file, 'utf8')).toBe('theirs\n');
  await expect(panel.getByText('This file has changed on disk')).toBeVisible();

  await panel.getByRole('button', { name: 'Compare…' }).click();
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
  await expect(unsaved(panel)).toBeHidden();
  expect(await readFile(file, 'utf8')).toBe('mine one\n');

  await typeAtStart(panel, 'again ');
  await writeFile(file, 'theirs again\n');
  await panel.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('button', { name: 'Reload, discard mine' }).click();
  await expect(editor(panel)).toHaveText('theirs again');
  await expect(unsaved(panel)).toBeHidden();
});

test('a file that was deleted under unsaved changes can be written again', async ({ panel, project }) => {
  const file = join(project.path, 'a.txt');
  await writeFile(file, 'one\n');
  await openFiles(panel, 'a.txt');
  await typeAtStart(panel, 'mine ');
  await rm(file);
  await panel.getByRole('button', { name: 'Save' }).click();
  const dialog = panel.getByRole('dialog', { name: 'a.txt was deleted on disk' });
  await dialog.getByRole('button', { name: 'Write it again' }).click();
  await expect(unsaved(panel)).toBeHidden();
  expect(await readFile(file, 'utf8')).toBe('mine one\n');
});

test('what an agent writes shows at once; under unsaved changes it is told, with who it was', async ({
  panel,
  project,
  daemon,
}) => {
  const agent = await agentFor(panel, project, daemon.url);
  await writeFile(join(project.path, 'a.txt'), 'one\n');
  await openFiles(panel, 'a.txt');
  await expect(editor(panel)).toHaveText('one');
  await agent('a.txt', 'from the agent\n');
  await expect(editor(panel)).toHaveText('from the agent');
  await agent('new/b.txt', 'new\n');
  await expect(row(panel, 'new')).toBeVisible();

  await typeAtStart(panel, 'mine ');
  await agent('a.txt', 'from the agent again\n');
  const banner = panel.getByRole('alert').filter({ hasText: 'has changed on disk' });
  await expect(banner.getByRole('link', { name: 'Changed by My agent' })).toBeVisible();
  await expect(editor(panel)).toHaveText('mine from the agent');
  await banner.getByRole('button', { name: 'Reload' }).click();
  await expect(editor(panel)).toHaveText('from the agent again');
  await expect(banner).toBeHidden();
});

test('unsaved changes stay while other views are looked at, and closing the page asks', async ({
  panel,
  project,
}) => {
  await writeFile(join(project.path, 'a.txt'), 'one\n');
  await writeFile(join(project.path, 'b.txt'), 'two\n');
  await openFiles(panel, 'a.txt');
  await typeAtStart(panel, 'draft ');
  await row(panel, 'b.txt').click();
  await expect(editor(panel)).toHaveText('two');
  await expect(row(panel, 'a.txt')).toHaveAccessibleName(/unsaved changes/);
  await panel.getByRole('link', { name: 'Daemon', exact: true }).click();
  await panel.getByRole('link', { name: /^Files/ }).click();
  await row(panel, 'a.txt').click();
  await expect(editor(panel)).toHaveText('draft one');
  await editor(panel).click();
  await panel.keyboard.press('Control+z');
  await expect(unsaved(panel)).toBeHidden();
  await panel.keyboard.type('x');

  const asked = panel.waitForEvent('dialog');
  const reloading = panel.reload().catch(() => undefined);
  const dialog = await asked;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.accept();
  await reloading;
  expect(await readFile(join(project.path, 'a.txt'), 'utf8')).toBe('one\n');
});

test('files are made, renamed and deleted, and each of these can be undone', async ({ panel, project }) => {
  await openFiles(panel);
  const toast = (words: string) => panel.locator('[data-sonner-toast]').filter({ hasText: words });
  await panel.getByRole('button', { name: 'New file' }).click();
  await panel.getByLabel('Path in the workspace').fill('docs/plan.md');
  await panel.getByRole('button', { name: 'Create file' }).click();
  await expect(row(panel, 'docs/plan.md')).toHaveAttribute('aria-selected', 'true');
  await editor(panel).click();
  await panel.keyboard.type('# Plan');
  await panel.keyboard.press('Control+s');
  await expect(toast('Saved')).toBeVisible();

  await panel.getByRole('button', { name: 'File actions' }).click();
  await panel.getByRole('menuitem', { name: 'Rename or move…' }).click();
  // The name is selected, the folder is not.
  await panel.keyboard.type('goals.md');
  await panel.keyboard.press('Enter');
  await expect(row(panel, 'docs/goals.md')).toHaveAttribute('aria-selected', 'true');
  expect(await readFile(join(project.path, 'docs/goals.md'), 'utf8')).toBe('# Plan');

  await panel.getByRole('button', { name: 'New file' }).click();
  await panel.keyboard.type('goals.md');
  await panel.keyboard.press('Enter');
  await expect(panel.getByRole('dialog').getByRole('alert')).toHaveText(
    'There is a file with this name already.',
  );
  await panel.keyboard.press('Escape');

  await panel.getByRole('button', { name: 'File actions' }).click();
  await panel.getByRole('menuitem', { name: 'Delete…' }).click();
  await panel.getByRole('alertdialog').getByRole('button', { name: 'Delete file' }).click();
  await expect(row(panel, 'docs/goals.md')).toHaveCount(0);
  await toast('Deleted').getByRole('button', { name: 'Undo' }).click();
  await expect(row(panel, 'docs/goals.md')).toBeVisible();
  expect(await readFile(join(project.path, 'docs/goals.md'), 'utf8')).toBe('# Plan');
});

test('a folder is renamed and deleted from the tree, and the file that is looked at goes along', async ({
  panel,
  project,
}) => {
  await mkdir(join(project.path, 'src/inner'), { recursive: true });
  await writeFile(join(project.path, 'src/inner/a.txt'), 'one\n');
  await openFiles(panel, 'src');
  await row(panel, 'src/inner').click();
  await row(panel, 'src/inner/a.txt').click();
  await typeAtStart(panel, 'draft ');
  await row(panel, 'src').click({ button: 'right' });
  await panel.getByRole('menuitem', { name: 'Rename or move…' }).click();
  await panel.getByLabel('Path in the workspace').fill('lib');
  await panel.keyboard.press('Enter');
  await expect(row(panel, 'lib/inner/a.txt')).toHaveAttribute('aria-selected', 'true');
  await expect(editor(panel)).toHaveText('draft one');
  expect(await readFile(join(project.path, 'lib/inner/a.txt'), 'utf8')).toBe('one\n');

  await row(panel, 'lib').click({ button: 'right' });
  await panel.getByRole('menuitem', { name: 'Delete…' }).click();
  await panel.getByRole('alertdialog').getByRole('button', { name: 'Delete folder' }).click();
  await expect(row(panel, 'lib')).toHaveCount(0);
  await expect(panel.getByText('No file is open')).toBeVisible();
  const deleted = panel.locator('[data-sonner-toast]').filter({ hasText: 'Deleted' });
  await deleted.getByRole('button', { name: 'Undo' }).click();
  await expect(row(panel, 'lib')).toBeVisible();
  expect(await readFile(join(project.path, 'lib/inner/a.txt'), 'utf8')).toBe('one\n');
});

test('binary and large files are described, not edited', async ({ panel, project }) => {
  await writeFile(join(project.path, 'image.bin'), Buffer.from([0, 1, 2, 255]));
  await writeFile(join(project.path, 'at-limit.txt'), 'a'.repeat(2 * 1024 * 1024));
  await writeFile(join(project.path, 'over-limit.txt'), 'a'.repeat(2 * 1024 * 1024 + 1));
  await openFiles(panel, 'image.bin');
  await expect(panel.getByText('Not a text file')).toBeVisible();
  await expect(panel.getByText('(4 bytes)')).toBeVisible();
  await row(panel, 'over-limit.txt').click();
  await expect(panel.getByText('Too large for the editor')).toBeVisible();
  await expect(panel.getByText('(2,097,153 bytes)')).toBeVisible();
  await row(panel, 'at-limit.txt').click();
  await expect(editor(panel)).toBeVisible();
  await panel.goto(`${new URL(panel.url()).origin}/#/files/no/such%20file.txt`);
  await expect(panel.getByText('There is no such file')).toBeVisible();
});

test('a search finds lines and leads to them', async ({ panel, project }) => {
  const lines = Array.from({ length: 200 }, (_, n) => (n === 149 ? 'the needle is here' : `line ${n + 1}`));
  await writeFile(join(project.path, 'hay.txt'), lines.join('\n'));
  await openFiles(panel);
  await panel.getByLabel('Search in files').fill('needle');
  await expect(panel.getByText('1 line in 1 file')).toBeVisible();
  await panel.getByRole('navigation', { name: 'Search results' }).getByRole('link').click();
  await expect(editor(panel).getByText('the needle is here')).toBeInViewport();
  await expect(editor(panel)).toBeFocused();
  await panel.getByLabel('Search in files').fill('absent');
  await expect(panel.getByText('Nothing found')).toBeVisible();
});

test('the editor is left with the keyboard, and its own search opens with Ctrl-F', async ({
  panel,
  project,
}) => {
  await writeFile(join(project.path, 'a.txt'), 'one two one\n');
  await openFiles(panel, 'a.txt');
  await editor(panel).click();
  await panel.keyboard.press('Control+f');
  await panel.keyboard.type('one');
  await expect(panel.locator('.cm-searchMatch')).toHaveCount(2);
  await panel.keyboard.press('Escape');
  await expect(editor(panel)).toBeFocused();
  await panel.keyboard.press('Escape');
  await panel.keyboard.press('Tab');
  await expect(editor(panel)).not.toBeFocused();
});

async function openFiles(panel: Page, path?: string): Promise<void> {
  await panel.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Files' }).click();
  if (path !== undefined) await row(panel, path).click();
}

function row(panel: Page, path: string) {
  return panel.locator(`[role=treeitem][data-path="${path}"]`);
}

function editor(panel: Page) {
  return panel.locator('.cm-content');
}

async function typeAtStart(panel: Page, text: string): Promise<void> {
  await editor(panel).click();
  await panel.keyboard.press('Control+Home');
  await panel.keyboard.type(text);
}

function unsaved(panel: Page) {
  return panel.getByText('Unsaved', { exact: true });
}

/** Writes files with a key of its own, as an agent would. */
async function agentFor(panel: Page, project: LoadedProject, url: string) {
  const { key } = await api<CreatedKey>(panel, 'POST', '/api/account/api-keys', {
    name: 'My agent',
    scopes: 'agent',
    expiry: '1d',
  });
  return async (path: string, content: string): Promise<void> => {
    const response = await fetch(`${url}/api/project/file?path=${path}`, {
      method: 'PUT',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/octet-stream',
        'X-Workspace-Id': project.ws_id,
      },
      body: content,
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
}
