import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DesktopApp } from './driver/desktop-app.ts';
import { hasSession, readLock, runCommand, signedIn } from './driver/panel-client.ts';
import { isAlive } from './driver/processes.ts';
import { recorded } from './driver/recorded.ts';
import { expect, test } from './driver/test.ts';

test('a daemon that is killed starts again, and the window recovers', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  const killed = readLock(machine.dataDir).pid;
  await page.evaluate(() => sessionStorage.clear());
  process.kill(killed, 'SIGKILL');
  await expect.poll(() => hasSession(page)).toBe(true);
  const restarted = readLock(machine.dataDir);
  expect(restarted.pid).not.toBe(killed);
  expect(new URL(page.url()).origin).toBe(new URL(restarted.url).origin);
  expect((await recorded(app)).toolTips).toEqual([
    'Tallystick: starting',
    'Tallystick: no commands running',
    'Tallystick: starting',
    'Tallystick: no commands running',
  ]);
});

test('killed once over the budget there is a failure view, and trying again works', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  await spendBudget(app, machine.dataDir);
  await expect(page.getByRole('heading')).toHaveText('Tallystick could not keep its daemon running');
  await expect(page.locator('#reason')).toContainText('ended');
  await expect(page.locator('#output')).not.toBeEmpty();
  expect(await recorded(app)).toMatchObject({ trayImage: expect.stringMatching(/^failed/) });

  await page.getByRole('link', { name: 'Show logs' }).click();
  await expect
    .poll(async () => (await recorded(app)).shownInFolder)
    .toEqual([expect.stringMatching(/daemon\.log$/)]);

  await page.getByRole('link', { name: 'Try again' }).click();
  await expect.poll(() => hasSession(page)).toBe(true);
  expect(await recorded(app)).toMatchObject({ trayImage: expect.stringMatching(/^idle/) });
});

test('the failure view shows no markup that the daemon printed, and quits', async ({ machine }) => {
  // The daemon says what is wrong with the variable, in the words it was given.
  const app = await machine.start({ env: { TALLYSTICK_PORT: '<img src=x onerror=document.title=1>' } });
  const page = await app.page();
  await expect(page.locator('#reason')).toContainText('<img src=x');
  expect(await page.locator('img').count()).toBe(0);
  await page.getByRole('link', { name: 'Quit' }).click();
  expect(await app.ended).toEqual({ code: 0, signal: null });
});

test('the tray shows whether commands are running', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  await expect
    .poll(async () => (await recorded(app)).toolTips.at(-1))
    .toBe('Tallystick: no commands running');
  const project = join(machine.home, 'project');
  mkdirSync(project);
  const pid = await runCommand(page, project, 'sleep 1000');
  await expect.poll(async () => (await recorded(app)).toolTips.at(-1)).toBe('Tallystick: 1 command running');
  expect((await recorded(app)).trayImage).toMatch(/^running/);
  process.kill(pid, 'SIGKILL');
  await expect
    .poll(async () => (await recorded(app)).toolTips.at(-1))
    .toBe('Tallystick: no commands running');
  expect((await recorded(app)).trayImage).toMatch(/^idle/);
});

/** Kills each daemon as soon as it is ready, until there is none left to start: the first and three more. */
async function spendBudget(app: DesktopApp, dataDir: string): Promise<void> {
  let last = 0;
  for (let start = 1; start <= 4; start += 1) {
    await expect.poll(() => readyPid(app, dataDir, last)).not.toBe(last);
    last = readLock(dataDir).pid;
    process.kill(last, 'SIGKILL');
    await expect.poll(() => isAlive(last)).toBe(false);
  }
}

/** The daemon's pid once the app knows that it is ready; `before` until then. */
async function readyPid(app: DesktopApp, dataDir: string, before: number): Promise<number> {
  const isReady = (await recorded(app)).toolTips.at(-1) === 'Tallystick: no commands running';
  return isReady ? readLock(dataDir).pid : before;
}
