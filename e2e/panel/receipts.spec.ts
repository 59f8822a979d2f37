import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright/test';
import type { CreatedKey } from '../../daemon/contract/api-keys.ts';
import type { LoadedProject } from '../../daemon/contract/projects.ts';
import { api, expect, footer, run, script, test, view } from './fixtures.ts';

const formatter = `
  import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
  for (const name of readdirSync('src'))
    writeFileSync('src/' + name, readFileSync('src/' + name, 'utf8').replace(/ *= */g, ' = ').replace(/;*$/m, ';'));
`;

test('write, edit, format 20 files by shell, verify, tamper, restore, and roll the command back', async ({
  panel,
  project,
  folder,
}) => {
  await writeSources(project, 20);
  const format = await script(project, 'format.mjs', formatter);

  // Write a file and edit it in the panel.
  await view(panel, 'Files');
  await panel.getByRole('button', { name: 'New file' }).click();
  await panel.getByLabel('Path in the workspace').fill('notes/plan.md');
  await panel.keyboard.press('Enter');
  await panel.locator('.cm-content').click();
  await panel.keyboard.type('# Plan');
  await panel.keyboard.press('Control+s');
  await expect(panel.getByText('Saved', { exact: true })).toBeVisible();
  expect(await readFile(join(project.path, 'notes/plan.md'), 'utf8')).toBe('# Plan');

  // Run the formatter; its receipt is one click from the job.
  await view(panel, 'Jobs');
  await run(panel, format);
  await footer(panel).getByRole('link', { name: '20 files changed' }).click();
  const receipt = panel.getByRole('region', { name: 'Receipt', exact: true });
  await expect(receipt.getByRole('heading', { name: format })).toBeVisible();
  await expect(receipt.getByRole('heading', { name: '20 files changed' })).toBeVisible();
  await expect(receipt.getByRole('region', { name: 'Changes in src/00.js' })).toContainText('const a = 0;');
  expect(await sources(project)).toEqual(Array(20).fill(expect.stringContaining(' = ')));

  // The chain is intact; with one flipped byte it is not, and the field is named.
  await panel.getByRole('button', { name: 'Verify chain' }).click();
  await expect(panel.getByText('Chain is intact: 3 receipts')).toBeVisible();
  const receiptId = decodeURIComponent(new URL(panel.url()).hash.split('/').at(-1) ?? '');
  const file = join(folder, 'data/workspaces', project.slug, 'receipts', `${receiptId}.json`);
  const bytes = await readFile(file);
  await writeFile(file, flipped(bytes, 'format.mjs'));
  await panel.getByRole('button', { name: 'Verify chain' }).click();
  const tampering = panel.getByRole('alert').filter({ hasText: 'Tampering found' });
  await expect(tampering).toContainText(`field command of receipt ${receiptId}`);
  await receipt.getByRole('button', { name: 'Verify', exact: true }).click();
  await expect(receipt.getByRole('alert')).toContainText('Tampering found: field command');
  await expect(tampering.getByRole('link', { name: 'Show the receipt' })).toHaveAttribute(
    'href',
    `#/receipts/${receiptId}`,
  );

  // With the byte as it was, it is intact again.
  await writeFile(file, bytes);
  await panel.getByRole('button', { name: 'Verify chain' }).click();
  await expect(panel.getByText('Chain is intact: 3 receipts')).toBeVisible();
  await expect(receipt.getByRole('heading', { name: format })).toBeVisible();

  // Roll the command back: every file is as it was before, and nothing else.
  const before = sourceTexts(20);
  await receipt.getByRole('button', { name: 'Roll back…' }).click();
  const dialog = panel.getByRole('alertdialog');
  await expect(dialog.getByRole('listitem')).toHaveCount(20);
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await dialog.getByRole('button', { name: 'Roll back 20 files' }).click();
  await expect(panel.getByText('Rolled back 20 files').first()).toBeVisible();
  expect(await sources(project)).toEqual(before);
  expect(await readFile(join(project.path, 'notes/plan.md'), 'utf8')).toBe('# Plan');

  // The rollback has its own receipt at the top, leads back to what it undid, and can be undone itself.
  const list = panel.getByRole('navigation', { name: 'Receipts' });
  await expect(list.getByRole('button').first()).toContainText('Rolled back 20 files');
  await expect(list.getByRole('button').nth(1)).toContainText('Rolled back');
  await panel.locator('[data-sonner-toast]').getByRole('link').first().click();
  await expect(receipt.getByText('This undid')).toContainText(format);
  await panel.locator('[data-sonner-toast]').getByRole('button', { name: 'Undo' }).first().click();
  await expect(list.getByRole('button').filter({ hasText: 'Rolled back 20 files' })).toHaveCount(2);
  expect(await sources(project)).not.toEqual(before);
  await panel.getByRole('button', { name: 'Verify chain' }).click();
  await expect(panel.getByText('Chain is intact: 5 receipts')).toBeVisible();
});

test('what an agent changes shows up by itself, under its name, and filters find it', async ({
  panel,
  project,
  daemon,
}) => {
  const agent = await agentFor(panel, project, daemon.url);
  await view(panel, 'Receipts');
  await expect(panel.getByText('No receipts in acme yet')).toBeVisible();
  await agent('PUT', '/api/project/file?path=src/agent.ts', 'export const x = 1;\n');
  const list = panel.getByRole('navigation', { name: 'Receipts' });
  await expect(list.getByRole('button')).toContainText(['Created agent.ts']);
  await expect(list.getByRole('button')).toContainText(['My agent']);
  await api(panel, 'POST', '/api/project/move', { from: 'src/agent.ts', to: 'lib/agent.ts' });
  await expect(list.getByRole('button').first()).toContainText('Moved agent.ts');
  await expect(list.getByRole('button').first()).toContainText('You');

  await panel.getByRole('radio', { name: 'Agents' }).check();
  await expect(list.getByRole('button')).toHaveCount(1);
  await panel.getByRole('radio', { name: 'Anyone' }).check();
  await panel.getByLabel('Kind of change').selectOption('File moved');
  await expect(list.getByRole('button')).toHaveText([/Moved agent\.ts/]);
  await panel.getByLabel('Kind of change').selectOption('All changes');
  await panel.getByLabel('Filter by path').fill('lib/');
  await expect(list.getByRole('button')).toHaveText([/Moved agent\.ts/]);
  await panel.getByLabel('Filter by path').fill('nowhere');
  await expect(panel.getByText('No receipt matches these filters')).toBeVisible();
  await panel.getByRole('button', { name: 'Clear filters' }).click();
  await expect(list.getByRole('button')).toHaveCount(2);
});

test('older receipts come as the list is scrolled', async ({ panel, project, daemon }) => {
  const agent = await agentFor(panel, project, daemon.url);
  for (let n = 1; n <= 60; n++) await agent('PUT', `/api/project/file?path=${n}.txt`, `${n}\n`);
  await view(panel, 'Receipts');
  const list = panel.getByRole('navigation', { name: 'Receipts' });
  await expect(list.getByRole('button').first()).toContainText('Created 60.txt');
  await list.getByRole('button').first().press('ArrowDown');
  await expect(panel.getByRole('heading', { name: 'Created 59.txt', exact: true })).toBeVisible();
  await list.hover();
  await panel.mouse.wheel(0, 20_000);
  await expect(list.getByText('Created 1.txt')).toBeAttached();
  await expect(list.getByText('The beginning of the chain')).toBeAttached();
  await expect(list.locator('[data-receipt]')).toHaveCount(60);
});

test('a rollback that would replace later changes says so, and does it only when told to', async ({
  panel,
  project,
}) => {
  await writeSources(project, 2);
  await view(panel, 'Jobs');
  await run(panel, 'for f in src/*; do echo changed > "$f"; done');
  await footer(panel).getByRole('link', { name: '2 files changed' }).click();
  await panel.getByRole('button', { name: 'Roll back…' }).waitFor();
  await writeFile(join(project.path, 'src/00.js'), 'mine, written since\n');
  await panel.getByRole('button', { name: 'Roll back…' }).click();
  const dialog = panel.getByRole('alertdialog');
  await expect(dialog.getByRole('region', { name: '1 file changed since' })).toContainText('src/00.js');
  await panel.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  expect(await sources(project)).toEqual(['mine, written since\n', 'changed\n']);

  await panel.getByRole('button', { name: 'Roll back…' }).click();
  await dialog.getByRole('button', { name: 'Roll back anyway' }).click();
  const toast = panel.locator('[data-sonner-toast]').filter({ hasText: 'Rolled back 2 files' });
  await expect(toast).toBeVisible();
  expect(await sources(project)).toEqual(sourceTexts(2));
  await toast.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => sources(project)).toEqual(['mine, written since\n', 'changed\n']);
});

test('a receipt whose file is gone, or is none any more, is named and not hidden', async ({
  panel,
  project,
  folder,
}) => {
  for (const name of ['one', 'two', 'three']) {
    await view(panel, 'Jobs');
    await run(panel, `echo ${name} > ${name}.txt`);
    await expect(footer(panel).getByRole('link', { name: '1 file changed' })).toBeVisible();
  }
  const receipts = join(folder, 'data/workspaces', project.slug, 'receipts');
  const [first = '', second = ''] = (await readdir(receipts))
    .filter((name) => name.startsWith('rcpt_'))
    .sort();
  await rm(join(receipts, first));
  await writeFile(join(receipts, second), 'not a receipt');
  await panel.reload();
  await view(panel, 'Receipts');
  const unreadable = panel.getByRole('region', { name: 'Unreadable receipts' });
  await expect(unreadable).toContainText('2 receipts can not be read');
  await unreadable.getByRole('link', { name: second.replace('.json', '') }).click();
  await expect(panel.getByText('This is no receipt any more')).toBeVisible();
  await expect(panel.getByRole('region', { name: 'Raw JSON' })).toContainText('not a receipt');
  await panel.getByRole('button', { name: 'Verify chain' }).click();
  await expect(panel.getByRole('alert').filter({ hasText: 'Tampering found' })).toBeVisible();
});

test('the head and a command that checks it without the daemon can be copied, and the command works', async ({
  panel,
  project,
}) => {
  await run(panel, 'echo one > one.txt');
  await expect(footer(panel).getByRole('link', { name: '1 file changed' })).toBeVisible();
  await view(panel, 'Receipts');
  await panel.getByRole('button', { name: 'Chain head' }).click();
  const dialog = panel.getByRole('dialog', { name: 'Chain head' });
  await dialog.getByRole('button', { name: 'Copy head hash' }).click();
  const head = await panel.evaluate(() => navigator.clipboard.readText());
  expect(head).toMatch(/^sha256:[0-9a-f]{64}$/);
  await dialog.getByRole('button', { name: 'Copy verify command' }).click();
  const command = await panel.evaluate(() => navigator.clipboard.readText());
  expect(command).toContain(`--head ${head}`);
  const program = join(import.meta.dirname, '../../dist/daemon/tallystick.js');
  const line = command.replace(/^tallystick/, `'${process.execPath}' '${program}'`);
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: project.path });
  expect(stdout).toMatch(/\b1\b/);
});

test('a receipt shows its lines, its hashes and itself as it is stored', async ({
  panel,
  project,
  folder,
}) => {
  await writeFile(join(project.path, 'a.txt'), 'first\nsecond\n');
  await run(panel, "printf 'first\\nchanged\\n' > a.txt; printf '\\0' > b.bin; exit 3");
  await footer(panel).getByRole('link', { name: '2 files changed' }).click();
  const receipt = panel.getByRole('region', { name: 'Receipt', exact: true });
  const diff = receipt.getByRole('region', { name: 'Changes in a.txt' });
  await expect(diff.locator('tr[data-kind=removed]')).toContainText('second');
  await expect(diff.locator('tr[data-kind=added]')).toContainText('changed');
  await expect(receipt.getByText('Binary file')).toBeVisible();
  await expect(receipt.getByText('Exit 3', { exact: true })).toBeVisible();
  await receipt.getByRole('button', { name: 'Record' }).click();
  await receipt.getByRole('button', { name: 'Copy own hash' }).click();
  const ownHash = await panel.evaluate(() => navigator.clipboard.readText());
  await receipt.getByRole('button', { name: 'Raw JSON' }).click();
  await receipt.getByRole('button', { name: 'Copy as stored' }).click();
  const stored = await panel.evaluate(() => navigator.clipboard.readText());
  expect(JSON.parse(stored)).toMatchObject({ self_hash: ownHash, tool: 'shell.run' });
  const { receipt_id } = JSON.parse(stored);
  const file = join(folder, 'data/workspaces', project.slug, 'receipts', `${receipt_id}.json`);
  expect(stored).toBe(await readFile(file, 'utf8'));
});

function sourceTexts(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `const a=${n}\n`);
}

async function writeSources(project: LoadedProject, count: number): Promise<void> {
  await mkdir(join(project.path, 'src'));
  for (const [n, text] of sourceTexts(count).entries())
    await writeFile(join(project.path, 'src', `${String(n).padStart(2, '0')}.js`), text);
}

async function sources(project: LoadedProject): Promise<string[]> {
  const names = (await readdir(join(project.path, 'src'))).sort();
  return Promise.all(names.map((name) => readFile(join(project.path, 'src', name), 'utf8')));
}

/** The bytes with one bit of one letter of `text` turned. */
function flipped(bytes: Buffer, text: string): Buffer {
  const at = bytes.indexOf(text);
  expect(at).toBeGreaterThan(0);
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
}

/** Calls the daemon with a key of its own, as an agent would. */
async function agentFor(panel: Page, project: LoadedProject, url: string) {
  const { key } = await api<CreatedKey>(panel, 'POST', '/api/account/api-keys', {
    name: 'My agent',
    scopes: 'agent',
    expiry: '1d',
  });
  return async (method: string, path: string, content: string): Promise<void> => {
    const response = await fetch(`${url}${path}`, {
      method,
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
