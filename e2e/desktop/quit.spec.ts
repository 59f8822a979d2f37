import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DesktopApp } from './driver/desktop-app.ts';
import { readLock, runCommand, signedIn } from './driver/panel-client.ts';
import { isAlive, processesWith } from './driver/processes.ts';
import { answerNext, clickTray, recorded } from './driver/recorded.ts';
import { expect, type Machine, test } from './driver/test.ts';

/** The daemon's own bound is 5 s; past 6 s the desktop kills it. */
const boundMs = 8_000;

test('with nothing running it quits without asking, and the daemon ends with it', async ({ machine }) => {
  const app = await machine.start();
  await signedIn(app);
  const daemon = readLock(machine.dataDir).pid;
  await clickTray(app, 'Quit Tallystick');
  expect(await app.ended).toEqual({ code: 0, signal: null });
  expect(isAlive(daemon)).toBe(false);
});

test('with a command running it asks; cancelled, everything goes on', async ({ machine }) => {
  const { app, marker } = await startWithCommand(machine);
  await answerNext(app, 1);
  await clickTray(app, 'Quit Tallystick');
  await expect
    .poll(async () => (await recorded(app)).asked)
    .toEqual([
      expect.objectContaining({
        message: '1 command is running; quitting ends it.',
        buttons: ['Quit', 'Cancel'],
      }),
    ]);
  expect(processesWith(marker)).not.toEqual([]);
  // It asks anew the next time, so the first answer was taken as the end of the matter.
  await answerNext(app, 0);
  await clickTray(app, 'Quit Tallystick');
  expect(await app.ended).toEqual({ code: 0, signal: null });
});

test('agreed, it ends the command and all its children within bounds', async ({ machine }) => {
  const { app, marker } = await startWithCommand(machine);
  const daemon = readLock(machine.dataDir).pid;
  expect(processesWith(marker).length).toBeGreaterThanOrEqual(2);
  await answerNext(app, 0);
  const askedAt = performance.now();
  await clickTray(app, 'Quit Tallystick');
  expect(await app.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - askedAt).toBeLessThan(boundMs);
  expect(processesWith(marker)).toEqual([]);
  expect(isAlive(daemon)).toBe(false);
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} ends the app and its command without asking`, async ({ machine }) => {
    const { app, marker } = await startWithCommand(machine);
    process.kill(app.pid, signal);
    expect(await app.ended).toEqual({ code: 0, signal: null });
    expect(processesWith(marker)).toEqual([]);
  });
}

test('the end of the session ends the app without asking, even while it asks', async ({ machine }) => {
  const { app, marker } = await startWithCommand(machine);
  await clickTray(app, 'Quit Tallystick');
  await expect.poll(async () => (await recorded(app)).asked.length).toBe(1);
  await app.evaluate(({ powerMonitor }) => powerMonitor.emit('shutdown'), null);
  expect(await app.ended).toEqual({ code: 0, signal: null });
  expect(processesWith(marker)).toEqual([]);
});

test('a daemon that does not answer is killed after its time', async ({ machine }) => {
  const app = await machine.start();
  await signedIn(app);
  const daemon = readLock(machine.dataDir).pid;
  process.kill(daemon, 'SIGSTOP');
  const askedAt = performance.now();
  await clickTray(app, 'Quit Tallystick');
  expect(await app.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - askedAt).toBeLessThan(boundMs);
  expect(isAlive(daemon)).toBe(false);
});

/** A command with a grandchild that left its process group; the marker finds each of its processes. */
async function startWithCommand(machine: Machine): Promise<{ app: DesktopApp; marker: string }> {
  const app = await machine.start();
  const page = await signedIn(app);
  const project = join(machine.home, 'project');
  mkdirSync(project);
  const marker = `86400.${String(app.pid).padStart(8, '0')}`;
  await runCommand(page, project, `setsid sleep ${marker} & sleep ${marker}`);
  await expect.poll(async () => (await recorded(app)).toolTips.at(-1)).toBe('Tallystick: 1 command running');
  return { app, marker };
}
