import { expect, test } from './fixtures.ts';

test('a sign-in link opens the panel and leaves no token in the address', async ({ page, daemon }) => {
  await page.goto(`${daemon.url}/#token=${daemon.loginToken}`);
  await expect(page.getByRole('heading', { name: 'Workspaces', level: 1 })).toBeVisible();
  expect(page.url()).not.toContain('token');
  expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
  expect(await page.evaluate(() => document.cookie)).toBe('');
});

test('a session outlives a reload of the page', async ({ panel }) => {
  await panel.reload();
  await expect(panel.getByRole('heading', { name: 'Workspaces', level: 1 })).toBeVisible();
});

test('a pasted link signs in', async ({ page, daemon }) => {
  await page.goto(daemon.url);
  await page.getByLabel('Sign-in link or token').fill(`  ${daemon.url}/#token=${daemon.loginToken}\n`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('heading', { name: 'Workspaces', level: 1 })).toBeVisible();
});

test('a pasted token signs in with Enter', async ({ page, daemon }) => {
  await page.goto(daemon.url);
  await page.getByLabel('Sign-in link or token').fill(daemon.loginToken);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Workspaces', level: 1 })).toBeVisible();
});

test('a link that was used already is refused in plain words', async ({ panel, daemon, browser }) => {
  await expect(panel.getByText('Connected')).toBeVisible();
  const stranger = await browser.newPage();
  await stranger.goto(`${daemon.url}/#token=${daemon.loginToken}`);
  await expect(stranger.getByRole('alert')).toContainText(
    'has been used already or is older than five minutes',
  );
  await expect(stranger.getByText('tallystick serve')).toBeVisible();
  await stranger.close();
});

test('text that is no link is not sent anywhere', async ({ page, daemon }) => {
  await page.goto(daemon.url);
  const calls: string[] = [];
  // The browser may ask for the page's icon at any time.
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/api/')) calls.push(request.url());
  });
  await page.getByLabel('Sign-in link or token').fill('hello there');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert')).toContainText('neither a sign-in link nor a token');
  expect(calls).toEqual([]);
});

test('a session that the daemon has ended leads back to signing in', async ({ panel }) => {
  await panel.evaluate(async () => {
    const token = sessionStorage.getItem('tallystick.session');
    await fetch('/api/session', { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } });
  });
  await panel.getByRole('link', { name: 'API keys' }).click();
  await expect(panel.getByText('Your session has ended')).toBeVisible();
  expect(await panel.evaluate(() => sessionStorage.getItem('tallystick.session'))).toBeNull();
});

test('signing out ends the session at the daemon too', async ({ panel, daemon }) => {
  const token = await panel.evaluate(() => sessionStorage.getItem('tallystick.session'));
  await panel.keyboard.press('Control+k');
  await panel.getByRole('option', { name: 'Sign out' }).click();
  await expect(panel.getByText('You are signed out of this window')).toBeVisible();
  const answer = await fetch(`${daemon.url}/api/session`, { headers: { Authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(401);
});
