import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright/test';
import { api, expect, footer, job, output, rows, run, test, view } from './fixtures.ts';
import { addSecret, leftIn, reveal, secretRow } from './secrets-panel.ts';

const password = 'correct-horse-battery-staple';
const token = 'tok_4f9b21c0d7e84aa39c51';

test('what a command prints of two secrets is masked and counted, also in base64', async ({
  panel,
  project,
}) => {
  await view(panel, 'Secrets');
  await expect(panel.getByText('No secrets in acme yet')).toBeVisible();
  await addSecret(panel, 'DB_PASSWORD', password);
  await addSecret(panel, 'API_TOKEN', token);
  await expect(secretRow(panel, 'DB_PASSWORD')).toContainText('corr***');
  expect(await leftIn(panel)).not.toContain(password);

  await view(panel, 'Jobs');
  await run(panel, 'echo "$DB_PASSWORD"; echo "key=$API_TOKEN;"; printf %s "$API_TOKEN" | base64 -w0; echo');
  await expect(footer(panel)).toContainText('Exited with code 0');
  await expect(footer(panel)).toContainText('3 values masked');
  await expect(rows(panel).filter({ hasText: /^\*\*\*$/ })).toHaveCount(2);
  await expect(rows(panel).filter({ hasText: 'key=***;' })).toHaveCount(1);
  await expect(output(panel)).not.toContainText(token.slice(4, 12));

  await run(panel, 'echo nothing to hide');
  await expect(footer(panel)).toContainText('Exited with code 0');
  await expect(footer(panel)).not.toContainText('masked');
  expect(project.name).toBe('acme');
});

test('a value is hidden while it is typed, and the daemon says what is wrong with a name', async ({
  panel,
  project,
}) => {
  await view(panel, 'Secrets');
  await panel.getByRole('button', { name: 'Add secret' }).click();
  const dialog = panel.getByRole('dialog', { name: 'Add secret' });
  const value = dialog.getByRole('textbox', { name: 'Value' });
  const dots = () =>
    value.evaluate((field) => getComputedStyle(field).getPropertyValue('-webkit-text-security'));
  await expect(dialog.getByRole('button', { name: 'Add secret' })).toBeDisabled();
  await dialog.getByLabel('Name').fill('NODE_OPTIONS');
  await value.fill('one');
  expect(await dots()).toBe('disc');
  await dialog.getByRole('button', { name: 'Show value' }).click();
  expect(await dots()).toBe('none');
  await value.press('Shift+Enter');
  await value.pressSequentially('two');
  await value.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('changes which code programs load');
  await dialog.getByLabel('Name').fill('..');
  await value.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('can not be the name');

  await dialog.getByLabel('Name').fill('PIN');
  await value.fill('1234\n');
  await dialog.getByRole('button', { name: 'Remove it' }).click();
  await value.press('Enter');
  await expect(toast(panel, 'PIN is added')).toContainText('not masked');
  expect(await (await reveal(panel, 'PIN')).textContent()).toBe('1234');
  await panel.keyboard.press('Escape');

  await panel.getByRole('button', { name: 'Change PIN' }).click();
  const change = panel.getByRole('dialog', { name: 'Change PIN' });
  await change.getByRole('textbox', { name: 'New value' }).fill('a longer one\nof two lines');
  await change.getByRole('button', { name: 'Replace value' }).click();
  await toast(panel, 'PIN has its new value').getByRole('button', { name: 'Undo' }).click();
  await expect(toast(panel, 'Rolled back 1 file')).toBeVisible();
  expect(await (await reveal(panel, 'PIN')).textContent()).toBe('1234');
  expect(project.name).toBe('acme');
});

test('a revealed value is hidden again after 30 seconds', async ({ panel, project }) => {
  await addSecret(panel, 'DB_PASSWORD', password);
  await panel.clock.install();
  const value = await reveal(panel, 'DB_PASSWORD');
  await expect(value).toHaveText(password);
  await expect(panel.getByRole('timer')).toContainText('Hidden in');
  await panel.clock.fastForward(25_000);
  await expect(value).toBeVisible();
  await panel.clock.fastForward(5_500);
  await expect(value).toBeHidden();
  await expect(panel.getByRole('dialog')).toHaveCount(0);
  expect(await leftIn(panel)).not.toContain(password);
  expect(project.name).toBe('acme');
});

const endings: [string, (panel: Page) => Promise<unknown>][] = [
  ['the button', (panel) => panel.getByRole('button', { name: 'Hide now' }).click()],
  ['Escape', (panel) => panel.keyboard.press('Escape')],
  ['another view', (panel) => panel.evaluate(() => location.assign('#/keys'))],
  ['a window out of sight', (panel) => panel.evaluate(pretendHidden)],
];
for (const [what, end] of endings) {
  test(`a revealed value is hidden at once by ${what}`, async ({ panel, project }) => {
    await addSecret(panel, 'DB_PASSWORD', password);
    const value = await reveal(panel, 'DB_PASSWORD');
    await expect(value).toHaveText(password);
    await end(panel);
    await expect(value).toBeHidden();
    expect(await leftIn(panel)).not.toContain(password);
    expect(project.name).toBe('acme');
  });
}

test('nothing of a value stays in the memory of the page', async ({ panel, project }) => {
  const revealed = `${password}-revealed`;
  await api(panel, 'POST', '/api/secrets/SET_ELSEWHERE', { value: revealed });
  await addSecret(panel, 'TYPED', `${password}-typed`);
  await panel.getByRole('button', { name: 'Paste .env' }).click();
  await panel.getByRole('textbox', { name: 'Content of the file' }).fill(`PASTED=${password}-pasted`);
  await panel.getByRole('button', { name: 'Preview' }).click();
  await panel.getByRole('button', { name: 'Set 1 secret' }).click();
  await reveal(panel, 'SET_ELSEWHERE');
  expect(await heapOf(panel)).toContain(revealed);
  await panel.keyboard.press('Escape');
  await expect.poll(() => heapOf(panel).then((heap) => heap.includes(password))).toBe(false);
  expect(project.name).toBe('acme');
});

test('a value is copied with and without showing it, and the panel says what becomes of the copy', async ({
  panel,
  project,
}) => {
  await addSecret(panel, 'API_TOKEN', token);
  const clipboard = () => panel.evaluate(() => navigator.clipboard.readText());
  await panel.getByRole('button', { name: 'Reveal API_TOKEN' }).click();
  await panel.getByRole('button', { name: 'Copy without showing' }).click();
  await expect(toast(panel, 'API_TOKEN is copied')).toContainText('A browser can’t clear the clipboard');
  expect(await clipboard()).toBe(token);
  expect(await leftIn(panel)).not.toContain(token);

  await panel.evaluate(() => navigator.clipboard.writeText(''));
  await reveal(panel, 'API_TOKEN');
  await expect(panel.getByRole('dialog')).toContainText('A browser can’t clear the clipboard');
  await panel.getByRole('dialog').getByRole('button', { name: 'Copy' }).click();
  await expect(panel.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await clipboard()).toBe(token);

  const copied: unknown[] = [];
  await panel.exposeFunction('noteCopy', (...given: unknown[]) => copied.push(given));
  await panel.evaluate(() =>
    Object.assign(window, { tallystick: { platform: 'linux', copy: Reflect.get(window, 'noteCopy') } }),
  );
  await panel.keyboard.press('Escape');
  await reveal(panel, 'API_TOKEN');
  await expect(panel.getByRole('dialog')).toContainText('cleared 30 seconds after');
  await panel.getByRole('dialog').getByRole('button', { name: 'Copy' }).click();
  await expect.poll(() => copied).toEqual([[token, 30_000]]);
  expect(project.name).toBe('acme');
});

test('a pasted .env shows what it would set, and sets what was chosen with one receipt', async ({
  panel,
  project,
}) => {
  await addSecret(panel, 'DB_PASSWORD', password);
  await addSecret(panel, 'API_TOKEN', token);
  await panel.getByRole('button', { name: 'Paste .env' }).click();
  const dialog = panel.getByRole('dialog', { name: 'Paste a .env file' });
  const text = `# ours\nDB_PASSWORD="${password}"\nAPI_TOKEN=another-token-now\nSMTP_URL='smtp://mail.example'\nPIN=12\nPATH=/tmp\n`;
  await dialog.getByRole('textbox', { name: 'Content of the file' }).fill(text);
  await dialog.getByRole('button', { name: 'Preview' }).click();
  const found = (name: string) => dialog.getByRole('listitem').filter({ hasText: name });
  await expect(dialog).toContainText('2 new, 1 changed, 1 unchanged, 1 refused');
  await expect(found('DB_PASSWORD')).toContainText('Unchanged');
  await expect(found('API_TOKEN')).toContainText('Changed');
  await expect(found('SMTP_URL')).toContainText('New');
  await expect(found('PIN')).toContainText('not masked');
  await expect(found('PATH')).toContainText('Refused');
  await expect(dialog.getByRole('checkbox', { name: 'PATH' })).toBeDisabled();
  await expect(dialog.getByRole('button', { name: 'Set 3 secrets' })).toBeFocused();
  await dialog.getByRole('checkbox', { name: 'PIN' }).uncheck();
  await dialog.getByRole('button', { name: 'Set 2 secrets' }).click();

  await expect(toast(panel, '2 secrets set').getByRole('link')).toBeVisible();
  await expect(secretRow(panel, 'SMTP_URL')).toBeVisible();
  await expect(secretRow(panel, 'PIN')).toHaveCount(0);
  await expect(await reveal(panel, 'API_TOKEN')).toHaveText('another-token-now');
  await panel.keyboard.press('Escape');
  await toast(panel, '2 secrets set').getByRole('link').click();
  const list = panel.getByRole('navigation', { name: 'Receipts' }).getByRole('button');
  await expect(list).toContainText(['Set secrets from a .env', 'Set a secret', 'Set a secret']);
  expect(project.name).toBe('acme');
});

test('a secret is deleted when that is confirmed, comes back by its receipt, and the audit log tells of it', async ({
  panel,
  project,
}) => {
  await addSecret(panel, 'DB_PASSWORD', password);
  await reveal(panel, 'DB_PASSWORD');
  await panel.getByRole('button', { name: 'Hide now' }).click();
  await panel.getByRole('button', { name: 'Delete DB_PASSWORD' }).click();
  const confirm = panel.getByRole('alertdialog', { name: 'Delete DB_PASSWORD?' });
  await expect(confirm.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await panel.keyboard.press('Enter');
  await expect(confirm).toBeHidden();
  await expect(secretRow(panel, 'DB_PASSWORD')).toBeVisible();
  await panel.getByRole('button', { name: 'Delete DB_PASSWORD' }).click();
  await confirm.getByRole('button', { name: 'Delete secret' }).click();
  await expect(panel.getByText('No secrets in acme yet')).toBeVisible();

  await toast(panel, 'DB_PASSWORD is deleted').getByRole('link').click();
  const receipt = panel.getByRole('region', { name: 'Receipt', exact: true });
  await expect(receipt.getByRole('heading', { name: 'Deleted a secret' })).toBeVisible();
  await expect(receipt).toContainText('The encrypted secrets.');
  await receipt.getByRole('button', { name: 'Raw JSON' }).click();
  await expect(receipt.getByRole('region', { name: 'Raw JSON' })).toContainText('"secret.delete"');
  expect(await leftIn(panel)).not.toContain(password);
  await receipt.getByRole('button', { name: 'Roll back…' }).click();
  await panel.getByRole('alertdialog').getByRole('button', { name: 'Roll back 1 file' }).click();
  await expect(toast(panel, 'Rolled back 1 file')).toBeVisible();
  await view(panel, 'Secrets');
  await expect(await reveal(panel, 'DB_PASSWORD')).toHaveText(password);
  await panel.keyboard.press('Escape');

  await view(panel, 'Security');
  await expect(auditLog(panel)).toContainText([
    'You revealed DB_PASSWORD in acme',
    'You deleted DB_PASSWORD in acme',
    'You revealed DB_PASSWORD in acme',
    'You set DB_PASSWORD in acme',
  ]);
  expect(project.name).toBe('acme');
});

test('many secrets can be filtered, and the audit log comes in pages', async ({ panel, project }) => {
  const lines = Array.from({ length: 60 }, (_, index) => `SECRET_${index}=value-number-${index}`);
  for (const line of lines) await api(panel, 'POST', '/api/secrets', { env: line });
  await view(panel, 'Secrets');
  await expect(panel.getByText('60 secrets')).toBeVisible();
  await panel.getByLabel('Filter by name').fill('secret_5');
  await expect(panel.getByText('11 of 60')).toBeVisible();
  await panel.getByLabel('Filter by name').fill('nothing');
  await panel.getByRole('button', { name: 'Clear filter' }).click();
  await expect(panel.getByText('60 secrets')).toBeVisible();

  await view(panel, 'Security');
  await expect(auditLog(panel).first()).toContainText('You set SECRET_59 from a .env in acme');
  await panel.getByRole('main').hover();
  await panel.mouse.wheel(0, 20_000);
  await expect(auditLog(panel).filter({ hasText: 'SECRET_0 ' })).toBeAttached();
  expect(project.name).toBe('acme');
});

test('a store that was damaged is recovered from the daemon’s copy, or started anew, when told to', async ({
  panel,
  project,
}) => {
  await addSecret(panel, 'DB_PASSWORD', password);
  const store = join(project.path, '.service/secrets.enc');
  const sealed = await readFile(store, 'utf8');
  await writeFile(store, `${sealed.slice(0, 40)}AAAA${sealed.slice(44)}`);
  await panel.reload();
  const problem = panel.getByRole('alert', { name: 'The secrets of acme can not be opened' });
  await expect(problem).toContainText('was altered, or made with another master key');
  await expect(problem).toContainText('a copy of its own with 1 secret');
  await view(panel, 'Jobs');
  await panel.getByLabel('Command to run in acme').fill('echo "no secrets: [$DB_PASSWORD]"');
  await panel.keyboard.press('Enter');
  await expect(panel.getByRole('alert')).toContainText('secrets of this workspace can’t be opened');
  await panel.getByRole('button', { name: 'Run without secrets' }).click();
  await expect(rows(panel).filter({ hasText: 'no secrets: []' })).toBeVisible();
  await job(panel).getByRole('button', { name: 'Run again' }).click();
  await toast(panel, 'The command did not start').getByRole('button', { name: 'Run without' }).click();
  await expect(panel.getByRole('navigation', { name: 'Jobs' }).getByRole('button')).toHaveCount(2);

  await view(panel, 'Secrets');
  await problem.getByRole('button', { name: 'Use the copy…' }).click();
  await panel.getByRole('alertdialog').getByRole('button', { name: 'Use the copy' }).click();
  await expect(toast(panel, '1 secret recovered')).toContainText('The old file is now .service/');
  await expect(await reveal(panel, 'DB_PASSWORD')).toHaveText(password);
  await panel.keyboard.press('Escape');

  await writeFile(store, 'no token at all');
  await panel.reload();
  await problem.getByRole('button', { name: 'Start empty…' }).click();
  const confirm = panel.getByRole('alertdialog', { name: 'Start with no secrets?' });
  await confirm.getByRole('button', { name: 'Start empty' }).click();
  await expect(panel.getByText('No secrets in acme yet')).toBeVisible();
});

test('a key from the environment is exported after a warning, and says how it can be rotated', async ({
  panel,
  project,
}) => {
  await addSecret(panel, 'DB_PASSWORD', password);
  await view(panel, 'Security');
  const section = panel.getByRole('region', { name: 'Master key' });
  await expect(section).toContainText('Ready');
  await expect(section).toContainText('SERVICE_SECRET_KEY');
  await expect(section).toContainText('it can’t be rotated here');
  await expect(section.getByRole('button', { name: 'Rotate key…' })).toBeDisabled();
  await section.getByRole('button', { name: 'Export recovery key…' }).click();
  await expect(panel.getByRole('dialog')).toContainText('can read all its secrets');
  await panel.getByRole('button', { name: 'Show recovery key' }).click();
  const shown = panel.getByRole('dialog', { name: 'Recovery key' });
  const key = (await shown.getByLabel('The recovery key').textContent()) ?? '';
  expect(key).toMatch(/^[A-Za-z0-9_-]{43}=$/);
  const download = panel.waitForEvent('download');
  await shown.getByRole('button', { name: 'Save as file' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^tallystick-recovery-key-mk_[0-9a-f]{16}\.txt$/);
  expect(await readFile(await file.path(), 'utf8')).toBe(`${key}\n`);
  await shown.getByRole('button', { name: 'Done' }).click();
  expect(await leftIn(panel)).not.toContain(key);
  await expect(auditLog(panel).first()).toContainText('You exported the master key mk_');

  await section.getByRole('button', { name: 'Import recovery key…' }).click();
  const dialog = panel.getByRole('dialog', { name: 'Import a recovery key' });
  await dialog.getByRole('textbox', { name: 'Recovery key' }).fill('not a key');
  await panel.keyboard.press('Enter');
  await expect(dialog.getByRole('alert')).toBeVisible();
  expect(project.name).toBe('acme');
});

test.describe('without a master key', () => {
  test.use({ daemonOptions: { environment: { SERVICE_SECRET_KEY: undefined, TALLYSTICK_KEYCHAIN: 'off' } } });

  test('the panel says what to do, and goes on once there is one', async ({ panel, project }) => {
    await view(panel, 'Secrets');
    const problem = panel.getByRole('alert', { name: 'The master key is missing' });
    await expect(problem).toContainText('SERVICE_SECRET_KEY');
    await problem.getByRole('button', { name: 'Try again' }).click();
    await expect(problem).toBeVisible();
    await problem.getByRole('button', { name: 'Open Security' }).click();
    await expect(panel.getByRole('region', { name: 'Master key' })).toContainText('Missing');
    expect(project.name).toBe('acme');
  });
});

function toast(panel: Page, title: string) {
  return panel.locator('[data-sonner-toast]').filter({ hasText: title });
}

function auditLog(panel: Page) {
  return panel.getByRole('region', { name: 'Audit log' }).getByRole('listitem');
}

/** Every string and object that JavaScript still holds on to, after a collection of garbage. */
async function heapOf(panel: Page): Promise<string> {
  const devtools = await panel.context().newCDPSession(panel);
  const chunks: string[] = [];
  devtools.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk));
  await devtools.send('HeapProfiler.collectGarbage');
  await devtools.send('HeapProfiler.takeHeapSnapshot', {});
  await devtools.detach();
  return chunks.join('');
}

/** What a browser does when its window is minimised or another tab is chosen. */
function pretendHidden(): void {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
  document.dispatchEvent(new Event('visibilitychange'));
}
