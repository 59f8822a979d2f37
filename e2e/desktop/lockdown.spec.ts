import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signedIn } from './driver/panel-client.ts';
import { recorded } from './driver/recorded.ts';
import { test as base, expect } from './driver/test.ts';

/** A foreign server on this machine, which counts what reaches it. */
const test = base.extend<{ foreign: { url: string; seen: string[] } }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern.
  foreign: async ({}, use) => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.writeHead(200, { 'content-type': 'text/html', 'access-control-allow-origin': '*' });
      response.end('<title>foreign</title>');
    });
    server.on('upgrade', (request, socket) => {
      seen.push(`upgrade ${request.url}`);
      socket.destroy();
    });
    const url = await listen(server);
    await use({ url, seen });
    server.closeAllConnections();
    server.close();
  },
});

test('the page has no Node, runs in the sandbox, and finds only the five desktop things', async ({
  machine,
}) => {
  const app = await machine.start();
  const page = await signedIn(app);
  const found = await page.evaluate(() => ({
    node: ['require', 'process', 'module', 'Buffer', 'global', '__dirname'].filter((name) => name in window),
    api: Object.keys(window.tallystick).sort(),
    frozen: Object.isFrozen(window.tallystick),
    platform: window.tallystick.platform,
  }));
  expect(found).toEqual({
    node: [],
    api: ['chooseFolder', 'copy', 'notify', 'platform', 'requestLoginToken'],
    frozen: true,
    platform: process.platform,
  });
  const preferences = await app.evaluate(({ BrowserWindow }) => {
    const contents: unknown = BrowserWindow.getAllWindows()[0]?.webContents;
    const all = (contents as { getLastWebPreferences(): Record<string, unknown> }).getLastWebPreferences();
    const names = [
      'sandbox',
      'contextIsolation',
      'nodeIntegration',
      'nodeIntegrationInSubFrames',
      'webSecurity',
      'webviewTag',
    ];
    return Object.fromEntries(names.map((name) => [name, all[name]]));
  }, null);
  expect(preferences).toEqual({
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    webviewTag: false,
  });
});

test('the page stays where it is when it tries to leave for another origin', async ({ machine, foreign }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  const before = page.url();
  for (const url of [`${foreign.url}/assigned`, 'https://example.com/', 'file:///etc/passwd']) {
    await page.evaluate((target) => location.assign(target), url);
  }
  await page.evaluate((target) => {
    const form = Object.assign(document.createElement('form'), { action: target, method: 'post' });
    document.body.append(form);
    form.submit();
  }, `${foreign.url}/posted`);
  // A request of the panel itself goes after the others and comes back: they have been decided by then.
  expect(await page.evaluate(async () => (await fetch('/healthz')).status)).toBe(200);
  expect(page.url()).toBe(before);
  expect(foreign.seen).toEqual([]);
});

test('the page can send nothing to another origin', async ({ machine, foreign }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  const outcomes = await page.evaluate(async (url) => {
    const outcome = (work: Promise<unknown>) =>
      work.then(
        () => 'sent',
        () => 'refused',
      );
    const element = (made: HTMLElement & { src: string }, src: string) =>
      new Promise((resolve, reject) => {
        made.onload = resolve;
        made.onerror = reject;
        made.src = src;
        document.body.append(made);
      });
    const socket = (target: string) =>
      new Promise((resolve, reject) => {
        try {
          const opened = new WebSocket(target);
          opened.onopen = resolve;
          opened.onclose = reject;
        } catch (error) {
          reject(error);
        }
      });
    return {
      fetch: await outcome(fetch(`${url}/fetched`, { mode: 'no-cors' })),
      image: await outcome(element(new Image(), `${url}/image.png`)),
      script: await outcome(element(document.createElement('script'), `${url}/script.js`)),
      socket: await outcome(socket(`${url.replace('http', 'ws')}/socket`)),
      beacon: navigator.sendBeacon(`${url}/beacon`) && 'queued',
    };
  }, foreign.url);
  expect(outcomes).toMatchObject({
    fetch: 'refused',
    image: 'refused',
    script: 'refused',
    socket: 'refused',
  });
  expect(foreign.seen).toEqual([]);
});

test('requests are refused by the app itself, not by the page policy alone', async ({ machine, foreign }) => {
  const app = await machine.start();
  await signedIn(app);
  const decided = await app.evaluate(async ({ BrowserWindow, session }, url) => {
    const window = new BrowserWindow({
      show: false,
      webPreferences: { session: session.fromPartition('persist:panel') },
    });
    const outcome = await window.loadURL(url).then(
      () => 'loaded',
      () => 'refused',
    );
    window.destroy();
    return outcome;
  }, `${foreign.url}/window`);
  expect(decided).toBe('refused');
  expect(foreign.seen).toEqual([]);
});

test('what the panel serves arrives with the policy of the desktop beside its own', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  const policy = await page.evaluate(
    async () => (await fetch('/', { cache: 'no-store' })).headers.get('content-security-policy') ?? '',
  );
  expect(policy).toContain("default-src 'none'; script-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  const evaluated = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'globalThis.inlineScriptRan = true';
    document.body.append(script);
    return 'inlineScriptRan' in globalThis;
  });
  expect(evaluated).toBe(false);
});

test('new windows are denied; an https link that the user clicks opens in the system browser', async ({
  machine,
  foreign,
}) => {
  const app = await machine.start();
  const page = await signedIn(app);
  await page.evaluate((url) => {
    window.open(`${url}/popup`);
    window.open('https://example.com/not-clicked');
  }, foreign.url);
  await page.evaluate((url) => {
    for (const [id, href] of [
      ['outside', 'https://example.com/docs'],
      ['plain', `${url}/plain`],
      ['program', 'vscode://file/etc/passwd'],
      ['local', 'file:///etc/passwd'],
    ] as const) {
      const link = Object.assign(document.createElement('a'), {
        id,
        href,
        target: '_blank',
        textContent: id,
      });
      link.style.cssText = 'position:fixed;z-index:9999;background:white;left:0;top:0';
      document.body.prepend(link);
    }
  }, foreign.url);
  for (const id of ['plain', 'program', 'local', 'outside']) {
    await page.evaluate((shown) => {
      for (const link of document.querySelectorAll<HTMLElement>('a[target=_blank]'))
        link.hidden = link.id !== shown;
    }, id);
    await page.click(`#${id}`);
  }
  await expect.poll(async () => (await recorded(app)).opened).toEqual(['https://example.com/docs']);
  expect(await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length, null)).toBe(1);
  expect(foreign.seen).toEqual([]);
});

test('webviews, permissions, devices and bad certificates are refused', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  expect(
    await page.evaluate(async () => ({
      asked: await Notification.requestPermission(),
      notifications: (await navigator.permissions.query({ name: 'notifications' })).state,
      geolocation: (await navigator.permissions.query({ name: 'geolocation' })).state,
      clipboard: await navigator.clipboard.readText().catch((error: Error) => error.name),
    })),
  ).toEqual({
    asked: 'denied',
    notifications: 'denied',
    geolocation: 'denied',
    clipboard: 'NotAllowedError',
  });

  const prevented = await app.evaluate(({ app: electronApp, BrowserWindow }) => {
    const contents = BrowserWindow.getAllWindows()[0]?.webContents;
    let count = 0;
    const event = { preventDefault: () => (count += 1) };
    contents?.emit('will-attach-webview', event, {}, {});
    let trusted: boolean | null = null;
    electronApp.emit(
      'certificate-error',
      event,
      contents,
      'https://127.0.0.1/',
      'ERR',
      {},
      (answer: boolean) => {
        trusted = answer;
      },
    );
    return { count, trusted };
  }, null);
  expect(prevented).toEqual({ count: 2, trusted: false });
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
