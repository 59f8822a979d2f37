import type { DesktopApp } from './driver/desktop-app.ts';
import { signedIn } from './driver/panel-client.ts';
import { chooseNext, recorded } from './driver/recorded.ts';
import { expect, test } from './driver/test.ts';

test('the folder chosen in the dialog reaches the panel, and a cancelled dialog is null', async ({
  machine,
}) => {
  const app = await machine.start();
  const page = await signedIn(app);
  await chooseNext(app, ['/home/someone/project']);
  expect(await page.evaluate(() => window.tallystick.chooseFolder())).toBe('/home/someone/project');
  await chooseNext(app, []);
  expect(await page.evaluate(() => window.tallystick.chooseFolder())).toBeNull();
  expect((await recorded(app)).asked[0]?.properties).toContain('openDirectory');
});

test('notifies through the system', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  await page.evaluate(() => window.tallystick.notify('Tests failed', '3 of 120'));
  expect((await recorded(app)).notifications).toEqual([{ title: 'Tests failed', body: '3 of 120' }]);
});

test('copied text is cleared after its time', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  await page.evaluate(() => window.tallystick.copy('tly_live_secret', 300));
  expect(await clipboardText(app)).toBe('tly_live_secret');
  await expect.poll(() => clipboardText(app)).toBe('');
});

test('copied text stays when something else was copied since, or no time was given', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  await page.evaluate(() => window.tallystick.copy('stays'));
  await page.evaluate(() => window.tallystick.copy('tly_live_secret', 1));
  await expect.poll(() => clipboardText(app)).toBe('');
  // Copied by the user between the panel's copy and its clearing; the second lease shows that its time came.
  await page.evaluate(() => window.tallystick.copy('tly_live_secret', 200));
  const cleared = await app.evaluate(async ({ clipboard }) => {
    const read = clipboard.readText.bind(clipboard);
    const asked = new Promise<string>((resolve) => {
      clipboard.readText = async () => {
        const text = await read();
        resolve(text);
        return text;
      };
    });
    await clipboard.writeText('of the user');
    await asked;
    return await read();
  }, null);
  expect(cleared).toBe('of the user');
  expect(await clipboardText(app)).toBe('of the user');
});

test('copied text is cleared when the app quits before its time', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  await page.evaluate(() => window.tallystick.copy('tly_live_secret', 3_600_000));
  const atExit = await app.evaluate(async ({ app: electronApp, clipboard }) => {
    const exit = new Promise<string>((resolve) => {
      electronApp.exit = () => void clipboard.readText().then(resolve);
    });
    electronApp.quit();
    return await exit;
  }, null);
  expect(atExit).toBe('');
});

test('a login token from the desktop signs in once', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  const statuses = await page.evaluate(async () => {
    const body = JSON.stringify({ token: await window.tallystick.requestLoginToken() });
    const signIn = () =>
      fetch('/api/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return [(await signIn()).status, (await signIn()).status];
  });
  expect(statuses).toEqual([201, 401]);
});

test('malformed arguments are refused and nothing is done', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  const refusals = await page.evaluate(async () => {
    const api = window.tallystick as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
    const attempts: [string, unknown[]][] = [
      ['notify', [{}, 'body']],
      ['notify', ['t'.repeat(201), 'body']],
      ['notify', ['title', 'b'.repeat(1_001)]],
      ['copy', [42]],
      ['copy', ['text', 0]],
      ['copy', ['text', 1.5]],
      ['copy', ['text', 3_600_001]],
      ['copy', ['text', 'soon']],
    ];
    const messages: string[] = [];
    for (const [name, given] of attempts) {
      messages.push(
        await (api[name]?.(...given) ?? Promise.resolve()).then(
          () => 'done',
          (error: Error) => error.message,
        ),
      );
    }
    return messages;
  });
  expect(refusals).toEqual([
    expect.stringContaining('title must be text'),
    expect.stringContaining('title must have at most 200'),
    expect.stringContaining('body must have at most 1000'),
    expect.stringContaining('text must be text'),
    ...Array(4).fill(expect.stringContaining('clearAfterMs must be')),
  ]);
  expect((await recorded(app)).notifications).toEqual([]);
  expect(
    await page.evaluate(() => window.tallystick.notify('t'.repeat(200), 'b'.repeat(1_000))),
  ).toBeUndefined();
});

test('calls from any other window are refused, though it has the same preload', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  const origin = new URL(page.url()).origin;
  for (const url of ['about:blank', `${origin}/`]) {
    const answer = await app.evaluate(async ({ BrowserWindow, session }, target) => {
      const ours: unknown = BrowserWindow.getAllWindows()[0]?.webContents;
      const { preload } = (ours as { getLastWebPreferences(): { preload: string } }).getLastWebPreferences();
      const foreign = new BrowserWindow({
        show: false,
        webPreferences: { preload, session: session.fromPartition('persist:panel') },
      });
      await foreign.loadURL(target);
      const call = 'window.tallystick.requestLoginToken().then(() => "answered", (error) => error.message)';
      const answered: string = await foreign.webContents.executeJavaScript(call);
      foreign.destroy();
      return answered;
    }, url);
    expect(answer).toContain('the caller is not the panel');
  }
});

test('the desktop answers no call from the failure view or any page that is not the panel', async ({
  machine,
}) => {
  const app = await machine.start();
  await signedIn(app);
  const answer = await app.evaluate(async ({ BrowserWindow }) => {
    const window = BrowserWindow.getAllWindows()[0];
    await window?.loadURL('data:text/html,<title>not the panel</title>');
    const call = 'window.tallystick.chooseFolder().then(() => "answered", (error) => error.message)';
    return (await window?.webContents.executeJavaScript(call)) as string;
  }, null);
  expect(answer).toContain('the caller is not the panel');
});

async function clipboardText(app: DesktopApp): Promise<string> {
  return await app.evaluate(({ clipboard }) => clipboard.readText(), null);
}
