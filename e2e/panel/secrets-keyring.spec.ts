import { randomBytes } from 'node:crypto';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright/test';
import { type Keyring, keyringMissing, startKeyring } from '../../daemon/testing/keyring.ts';
import { type DaemonOptions, type DaemonProcess, startDaemon } from './daemon-process.ts';
import { expect, footer, rows, run, test, view } from './fixtures.ts';
import { addSecret, leftIn, reveal } from './secrets-panel.ts';

const password = 'correct-horse-battery-staple';
const token = 'tok_4f9b21c0d7e84aa39c51';

test('set two secrets, see them masked, reveal one, rotate, restart, reveal again: with the key in a keyring', async ({
  page,
  folder,
}) => {
  const missing = keyringMissing();
  if (missing !== undefined) console.error(`Skipped: ${missing}`);
  test.skip(missing !== undefined, missing);
  await using keyring = await startKeyring();
  await keyring.unlock();
  const options = {
    dataDir: join(folder, 'data'),
    environment: { ...keyring.environment, SERVICE_SECRET_KEY: undefined, TALLYSTICK_KEYCHAIN: undefined },
  };
  await journey(page, folder, options, 'Keychain');
  expect(await keyring.accounts()).toContain('master-key');
  await lockAndUnlock(page, options, keyring);
});

test('set two secrets, see them masked, reveal one, rotate, restart, reveal again: with the key in a file', async ({
  page,
  folder,
}) => {
  await mkdir(join(folder, 'keys'), { mode: 0o700 });
  const keyFile = join(folder, 'keys/secret_key');
  await writeFile(keyFile, `${randomBytes(32).toString('base64url')}=\n`, { mode: 0o600 });
  const options = {
    dataDir: join(folder, 'data'),
    environment: { SERVICE_SECRET_KEY: undefined, TALLYSTICK_KEYCHAIN: 'off' },
    args: ['--key-file', keyFile],
  };
  await journey(page, folder, options, 'Key file');
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
});

async function journey(page: Page, folder: string, options: DaemonOptions, source: string): Promise<void> {
  await mkdir(join(folder, 'acme'));
  const first = await startDaemon(options);
  let oldKey: string;
  try {
    await openIn(page, first, join(folder, 'acme'));
    await addSecret(page, 'DB_PASSWORD', password);
    await addSecret(page, 'API_TOKEN', token);

    await view(page, 'Jobs');
    await run(page, 'echo "$DB_PASSWORD and $API_TOKEN"');
    await expect(rows(page).filter({ hasText: '*** and ***' })).toBeVisible();
    await expect(footer(page)).toContainText('2 values masked');
    await expectRevealed(page);

    await view(page, 'Security');
    const section = page.getByRole('region', { name: 'Master key' });
    await expect(section).toContainText(source);
    oldKey = await keyId(page);
    await section.getByRole('button', { name: 'Rotate key…' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate key' }).click();
    const done = page.locator('[data-sonner-toast]').filter({ hasText: 'The master key is rotated' });
    await expect(done).toContainText('The secrets of 1 workspace are encrypted with the new one.');
    await expect(section).not.toContainText(oldKey);
    await expect(section).toContainText('Ready');
    const log = page.getByRole('region', { name: 'Audit log' }).getByRole('listitem');
    await expect(log.first()).toContainText(`You rotated the master key ${await keyId(page)}`);
    await expectRevealed(page);
  } finally {
    await first.stop();
  }

  const second = await startDaemon(options);
  try {
    await openIn(page, second, join(folder, 'acme'));
    await expectRevealed(page);
    await view(page, 'Security');
    expect(await keyId(page)).not.toBe(oldKey);
    expect(await leftIn(page)).not.toContain(password);
  } finally {
    await second.stop();
  }
}

/** A keyring that is locked is no keyring without a key: the panel waits for it. */
async function lockAndUnlock(page: Page, options: DaemonOptions, keyring: Keyring): Promise<void> {
  await keyring.lock();
  const daemon = await startDaemon(options);
  try {
    await openIn(page, daemon, join(dirname(options.dataDir), 'acme'));
    await view(page, 'Secrets');
    const problem = page.getByRole('alert', { name: 'The master key is locked' });
    await expect(problem).toContainText('Unlock it and try again');
    await keyring.unlock();
    await problem.getByRole('button', { name: 'Try again' }).click();
    await expectRevealed(page);
  } finally {
    await daemon.stop();
  }
}

/** Signs in, and opens the project: each session begins without one. */
async function openIn(page: Page, daemon: DaemonProcess, path: string): Promise<void> {
  await page.goto(`${daemon.url}/#token=${daemon.loginToken}`);
  await expect(page.getByRole('heading', { name: 'Workspaces', level: 1 })).toBeVisible();
  await page.getByLabel('Path of a project folder').fill(path);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Workspace: acme. Switch' })).toBeVisible();
}

async function expectRevealed(page: Page): Promise<void> {
  await view(page, 'Secrets');
  await expect(await reveal(page, 'DB_PASSWORD')).toHaveText(password);
  await page.getByRole('button', { name: 'Hide now' }).click();
}

async function keyId(page: Page): Promise<string> {
  const id = page.getByRole('region', { name: 'Master key' }).locator('dd code');
  await expect(id).toHaveText(/^mk_[0-9a-f]{16}$/);
  return (await id.textContent()) ?? '';
}
