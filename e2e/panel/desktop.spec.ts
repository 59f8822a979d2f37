import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from './fixtures.ts';

test('the desktop’s folder dialog opens a workspace, and copying goes through the desktop', async ({
  page,
  daemon,
  folder,
}) => {
  await mkdir(join(folder, 'chosen'));
  const copied: unknown[] = [];
  await page.exposeFunction('noteCopy', (...given: unknown[]) => copied.push(given));
  await page.addInitScript(
    (chosen) => {
      Object.assign(window, {
        tallystick: {
          platform: 'linux',
          chooseFolder: async () => chosen,
          notify: async () => {},
          copy: (text: string, clearAfterMs?: number) =>
            Reflect.get(window, 'noteCopy')(text, clearAfterMs ?? null),
          requestLoginToken: async () => null,
        },
      });
    },
    join(folder, 'chosen'),
  );
  await page.goto(`${daemon.url}/#token=${daemon.loginToken}`);
  await page.getByRole('button', { name: 'Choose folder…' }).click();
  await expect(page.getByRole('button', { name: 'Workspace: chosen. Switch' })).toBeVisible();

  await page.keyboard.press('n');
  await page.getByRole('dialog').getByLabel('Name').fill('k');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  const key = await page.getByLabel('The new API key').textContent();
  await page.getByRole('button', { name: 'Copy key' }).click();
  await expect(page.getByRole('button', { name: 'Copied' }).first()).toBeVisible();
  expect(copied).toEqual([[key, 60_000]]);
});

test('in the desktop the panel asks for a login token by itself', async ({ page, daemon }) => {
  await page.addInitScript((token) => {
    Object.assign(window, { tallystick: { platform: 'linux', requestLoginToken: async () => token } });
  }, daemon.loginToken);
  await page.goto(daemon.url);
  await expect(page.getByRole('heading', { name: 'Workspaces', level: 1 })).toBeVisible();
});
