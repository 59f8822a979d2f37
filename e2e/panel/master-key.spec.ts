import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright/test';
import type { LoadedProject } from '../../daemon/contract/projects.ts';
import { startDaemon } from './daemon-process.ts';
import { api, test as base, expect, view } from './fixtures.ts';
import { addSecret, leftIn, reveal } from './secrets-panel.ts';

const password = 'correct-horse-battery-staple';

/** The key is in a file: there it can be rotated, lost and put back without a keychain. */
const test = base.extend({
  daemonOptions: async ({ folder }, use) => {
    await mkdir(join(folder, 'keys'), { mode: 0o700 });
    const keyFile = join(folder, 'keys/secret_key');
    await writeFile(keyFile, `${randomBytes(32).toString('base64url')}=\n`, { mode: 0o600 });
    await use({
      environment: { SERVICE_SECRET_KEY: undefined, TALLYSTICK_KEYCHAIN: 'off' },
      args: ['--key-file', keyFile],
    });
  },
});

test('a rotation shows how far it is; one that was cut short is finished after a restart', async ({
  panel,
  project,
  daemon,
  daemonOptions,
  folder,
}) => {
  await addSecret(panel, 'DB_PASSWORD', password);
  const others = Array.from({ length: 40 }, (_, index) => `other-${index}`);
  for (const name of others) await loadWithSecret(panel, join(folder, name));
  await openProject(panel, project.path);
  await view(panel, 'Security');
  const underWay = rotationUnderWay(panel);
  await panel.getByRole('button', { name: 'Rotate key…' }).click();
  await panel.getByRole('alertdialog').getByRole('button', { name: 'Rotate key' }).click();
  const progress = await underWay;
  await daemon.kill();
  expect(progress).toBeLessThan(41);

  const restarted = await startDaemon({
    ...daemonOptions,
    dataDir: join(folder, 'data'),
    port: daemon.port,
  });
  try {
    await panel.reload();
    await expect(masterKey(panel)).toContainText('A rotation was cut short');
    await expect(masterKey(panel).getByRole('button', { name: 'Rotate key…' })).toBeDisabled();
    await panel.getByRole('button', { name: 'Finish rotation' }).click();
    await expect(toast(panel, 'The master key is rotated')).toContainText(
      'workspaces are encrypted with the new',
    );
    await expect(masterKey(panel)).not.toContainText('cut short');
    await view(panel, 'Secrets');
    await expect(await reveal(panel, 'DB_PASSWORD')).toHaveText(password);
  } finally {
    await restarted.stop();
  }
});

test('an old key is kept for a workspace that could not be reached, until its secrets are used again', async ({
  panel,
  project,
  folder,
}) => {
  await addSecret(panel, 'DB_PASSWORD', password);
  await loadWithSecret(panel, join(folder, 'on-a-disk'));
  await rename(join(folder, 'on-a-disk'), join(folder, 'away'));
  await view(panel, 'Security');
  const oldKey = await masterKey(panel).locator('dd code').textContent();
  await panel.getByRole('button', { name: 'Rotate key…' }).click();
  await panel.getByRole('alertdialog').getByRole('button', { name: 'Rotate key' }).click();
  await expect(toast(panel, 'The master key is rotated')).toContainText('kept for 1 workspace');
  await expect(masterKey(panel)).toContainText('Old keys that are kept');
  await expect(masterKey(panel).getByRole('listitem')).toHaveText([`${oldKey}on-a-disk`]);

  await rename(join(folder, 'away'), join(folder, 'on-a-disk'));
  await openProject(panel, join(folder, 'on-a-disk'));
  await view(panel, 'Secrets');
  await expect(await reveal(panel, 'TOKEN')).toHaveText('token-of-on-a-disk');
  await panel.keyboard.press('Escape');
  await view(panel, 'Security');
  await expect(masterKey(panel)).toContainText('Ready');
  await expect(masterKey(panel)).not.toContainText('Old keys that are kept');
  expect(project.name).toBe('acme');
});

test('a key that was lost is put back from its export, and no other one is taken', async ({
  panel,
  project,
  daemon,
  daemonOptions,
  folder,
}) => {
  await addSecret(panel, 'DB_PASSWORD', password);
  await view(panel, 'Security');
  await panel.getByRole('button', { name: 'Export recovery key…' }).click();
  await panel.getByRole('button', { name: 'Show recovery key' }).click();
  const key = (await panel.getByLabel('The recovery key', { exact: true }).textContent()) ?? '';
  await panel.getByRole('button', { name: 'Done' }).click();
  await daemon.stop();
  const file = join(folder, 'keys/secret_key');
  expect((await readFile(file, 'utf8')).trim()).toBe(key);
  await rm(file);

  const restarted = await startDaemon({
    ...daemonOptions,
    dataDir: join(folder, 'data'),
    port: daemon.port,
  });
  try {
    await panel.reload();
    await view(panel, 'Secrets');
    const problem = panel.getByRole('alert', { name: 'The master key is missing' });
    await expect(problem).toContainText('Nothing is lost');
    await problem.getByRole('button', { name: 'Open Security' }).click();
    await expect(masterKey(panel)).toContainText('The right key is missing');
    await importKey(panel, `${randomBytes(32).toString('base64url')}=`);
    await expect(panel.getByRole('dialog').getByRole('alert')).toContainText('Nothing was changed');
    await panel.keyboard.press('Escape');
    await importKey(panel, key);
    await expect(toast(panel, 'The master key is imported')).toBeVisible();
    await expect(masterKey(panel)).toContainText('Ready');
    expect(await leftIn(panel)).not.toContain(key);
    await view(panel, 'Secrets');
    await expect(await reveal(panel, 'DB_PASSWORD')).toHaveText(password);
    expect(project.name).toBe('acme');
  } finally {
    await restarted.stop();
  }
});

function masterKey(panel: Page) {
  return panel.getByRole('region', { name: 'Master key' });
}

function toast(panel: Page, title: string) {
  return panel.locator('[data-sonner-toast]').filter({ hasText: title });
}

/** How many workspaces are done when the panel first shows that one is. Tells at once: the next may be the last. */
function rotationUnderWay(panel: Page): Promise<number> {
  return panel.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const look = () => {
          const bar = document.querySelector<HTMLProgressElement>('progress[aria-label=Rotation]');
          const words = bar?.parentElement?.textContent ?? '';
          if (bar !== null && bar.value > 0 && words.includes(`${bar.value} of ${bar.max} workspaces done`))
            resolve(bar.value);
        };
        new MutationObserver(look).observe(document.body, {
          subtree: true,
          childList: true,
          attributes: true,
          characterData: true,
        });
      }),
  );
}

async function importKey(panel: Page, key: string): Promise<void> {
  await panel.getByRole('button', { name: 'Import recovery key…' }).click();
  await panel.getByRole('dialog').getByRole('textbox', { name: 'Recovery key' }).fill(key);
  await panel.keyboard.press('Enter');
}

async function loadWithSecret(panel: Page, path: string): Promise<void> {
  await mkdir(path);
  const { slug } = await api<LoadedProject>(panel, 'POST', '/api/project/load', { path });
  await api(panel, 'POST', '/api/secrets/TOKEN', { value: `token-of-${slug}` });
}

async function openProject(panel: Page, path: string): Promise<void> {
  await view(panel, 'Workspaces');
  await panel.getByLabel('Path of a project folder').fill(path);
  await panel.keyboard.press('Enter');
  await expect(panel.getByRole('listitem').filter({ hasText: path })).toContainText('Active');
}
