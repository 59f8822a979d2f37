import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DesktopApp } from './driver/desktop-app.ts';
import { signedIn } from './driver/panel-client.ts';
import { recorded } from './driver/recorded.ts';
import { expect, test, writeSessionBus } from './driver/test.ts';

test('opens the panel signed in, and no token stays in the address', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  await expect.poll(() => page.url()).not.toContain('token');
  const window = await windowState(app);
  expect(window).toMatchObject({ visible: true, minimumSize: [900, 600] });
});

test('puts the window where it was when the app was last closed', async ({ machine }) => {
  const place = { x: 220, y: 140, width: 1010, height: 700 };
  const first = await machine.start();
  await signedIn(first);
  await first.evaluate(
    ({ BrowserWindow }, bounds) => BrowserWindow.getAllWindows()[0]?.setBounds(bounds),
    place,
  );
  await first.evaluate(({ app }) => app.quit(), null);
  await first.ended;

  const second = await machine.start();
  await signedIn(second);
  expect((await windowState(second)).bounds).toEqual(place);
});

test('a second start brings the first to the front and ends', async ({ machine }) => {
  const first = await machine.start();
  await signedIn(first);
  await first.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.minimize(), null);
  expect((await windowState(first)).visible).toBe(false);

  expect(await machine.startAgain()).toEqual({ code: 0, signal: null });
  await expect.poll(async () => await windowState(first)).toMatchObject({ visible: true, focused: true });
});

test('closing the window keeps the app in the tray, and says so the first time', async ({ machine }) => {
  const app = await machine.start();
  await signedIn(app);
  await closeWindow(app);
  expect((await windowState(app)).visible).toBe(false);
  expect((await recorded(app)).notifications).toEqual([
    { title: 'Tallystick keeps running', body: expect.stringContaining('tray') },
  ]);

  await app.evaluate(({ app: electronApp }) => electronApp.emit('activate'), null);
  expect((await windowState(app)).visible).toBe(true);
  await closeWindow(app);
  expect((await recorded(app)).notifications).toHaveLength(1);
});

test('where the desktop shows no tray icons, closing the window quits', async ({ machine }) => {
  writeSessionBus(join(machine.home, 'bin'), false);
  const app = await machine.start();
  await signedIn(app);
  expect((await recorded(app)).trayImage).toBeNull();
  await closeWindow(app);
  expect(await app.ended).toEqual({ code: 0, signal: null });
});

test('help opens the documentation of the daemon in the system browser', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  await app.evaluate(({ Menu }) => {
    const help = Menu.getApplicationMenu()?.items.find(({ role }) => role === 'help');
    const submenu: unknown = help?.submenu;
    const items = (submenu as { items?: { label: string; click: () => void }[] }).items ?? submenu;
    (items as { label: string; click: () => void }[])
      .find(({ label }) => label === 'API documentation')
      ?.click();
  }, null);
  expect((await recorded(app)).opened).toEqual([`${new URL(page.url()).origin}/docs`]);
});

test('what the daemon prints is in the logs folder', async ({ machine }) => {
  const app = await machine.start();
  await signedIn(app);
  const logs = await app.evaluate(({ app: electronApp }) => electronApp.getPath('logs'), null);
  expect(readFileSync(join(logs, 'daemon.log'), 'utf8')).not.toBe('');
});

async function closeWindow(app: DesktopApp): Promise<void> {
  await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close(), null);
}

async function windowState(app: DesktopApp) {
  return await app.evaluate(({ BrowserWindow }) => {
    const window = BrowserWindow.getAllWindows()[0];
    if (window === undefined) throw new Error('there is no window');
    return {
      visible: window.isVisible() && !window.isMinimized(),
      focused: window.isFocused(),
      bounds: window.getBounds(),
      minimumSize: window.getMinimumSize(),
    };
  }, null);
}
