import { expect, test } from './fixtures.ts';

test('a key is made, shown once, copied, used and revoked', async ({ panel, daemon }) => {
  await panel.getByRole('link', { name: 'API keys' }).click();
  await panel.getByRole('button', { name: 'Create key' }).first().click();
  const dialog = panel.getByRole('dialog', { name: 'Create API key' });
  await expect(dialog.getByRole('button', { name: 'Create key' })).toBeDisabled();
  await dialog.getByLabel('Name').fill('My agent');
  await dialog.getByRole('radio', { name: /^Read/ }).check();
  await dialog.getByRole('radio', { name: '1 day' }).check();
  await dialog.getByLabel('Weekly spend cap in US dollars').fill('12.5');
  await dialog.getByRole('button', { name: 'Create key' }).click();

  const ready = panel.getByRole('dialog', { name: 'Key “My agent” is ready' });
  const key = (await ready.getByLabel('The new API key').textContent()) ?? '';
  expect(key).toMatch(/^tly_live_[0-9A-Za-z]{36}$/);
  await panel.keyboard.press('Escape');
  await expect(ready).toBeVisible();
  await ready.getByRole('button', { name: 'Copy key' }).click();
  expect(await panel.evaluate(() => navigator.clipboard.readText())).toBe(key);
  await ready.getByRole('button', { name: 'I have copied it' }).click();
  await expect(panel.getByText(key)).toHaveCount(0);

  const row = panel.getByRole('row', { name: /My agent/ });
  await expect(row).toContainText(`${key.slice(0, 12)}***`);
  await expect(row).toContainText('read');
  await expect(row).toContainText('in 24 h');
  await expect(row).toContainText('$0.00 of $12.50');
  const call = () =>
    fetch(`${daemon.url}/api/project/recent`, { headers: { Authorization: `Bearer ${key}` } });
  expect((await call()).status).toBe(200);

  await row.getByRole('button', { name: 'Revoke My agent' }).click();
  const confirm = panel.getByRole('alertdialog', { name: 'Revoke “My agent”?' });
  await expect(confirm.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await confirm.getByRole('button', { name: 'Revoke key' }).click();
  await expect(panel.getByText('Key “My agent” is revoked')).toBeVisible();
  expect(await (await call()).json()).toMatchObject({ status: 401, code: 'revoked_key' });
  await expect(panel.getByRole('button', { name: 'Revoke My agent' })).toHaveCount(0);
  await panel.getByRole('button', { name: 'Show 1 revoked or expired key' }).click();
  await expect(panel.getByRole('table', { name: 'Revoked and expired keys' })).toContainText('revoked');
});

test('what the daemon refuses stands beside the field', async ({ panel }) => {
  await panel.keyboard.press('n');
  const dialog = panel.getByRole('dialog', { name: 'Create API key' });
  await dialog.getByLabel('Name').fill('x');
  await dialog.getByLabel('Weekly spend cap in US dollars').fill('-1');
  await expect(dialog.getByRole('alert')).toContainText('from 0 to 1,000,000');
  await expect(dialog.getByRole('button', { name: 'Create key' })).toBeDisabled();
  await dialog.getByLabel('Weekly spend cap in US dollars').fill('1000000');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await expect(panel.getByRole('dialog', { name: 'Key “x” is ready' })).toBeVisible();
});

test('a key made elsewhere appears by itself', async ({ panel }) => {
  await panel.getByRole('link', { name: 'API keys' }).click();
  await expect(panel.getByText('No API key yet')).toBeVisible();
  await panel.evaluate(() =>
    fetch('/api/account/api-keys', {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${sessionStorage.getItem('tallystick.session')}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ name: 'from elsewhere', scopes: 'read', expiry: 'never' }),
    }),
  );
  await expect(panel.getByRole('row', { name: /from elsewhere/ })).toContainText('never');
});
