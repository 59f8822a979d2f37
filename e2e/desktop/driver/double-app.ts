import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import type { DriverAnswer, DriverRequest } from '../electron-double/answer-driver.ts';
import type { DesktopApp, Ending, LaunchOptions } from './desktop-app.ts';

const launcher = fileURLToPath(new URL('../electron-double/launch.ts', import.meta.url));

/** Starts the built main process on the double of Electron. */
export async function launchOnDouble({ root, env }: LaunchOptions): Promise<DesktopApp> {
  const child = fork(launcher, [join(root, 'dist', 'main', 'index.js')], { env, silent: true, execArgv: [] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += String(text)));
  const ended = once(child, 'close').then(([code, signal]): Ending => ({ code, signal }));
  const evaluate = evaluator(child, () => output);
  let browser: Promise<Browser> | null = null;
  return {
    pid: child.pid ?? -1,
    evaluate,
    ended,
    output: () => output,
    page: async () => {
      browser ??= evaluate(async (_electron, url) => (await import(url)).whereWindowIs(), windowModule).then(
        (endpoint) => chromium.connectOverCDP(endpoint),
      );
      return await windowPage(await browser);
    },
    kill: async () => {
      await (await browser?.catch(() => null))?.close().catch(() => undefined); // it may have gone with the app
      // In order, so that nothing writes to the browser's folder any more when the test removes it.
      if (child.connected) await evaluate(closeBrowser, chromiumModule).catch(() => undefined);
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const chromiumModule = new URL('../electron-double/chromium.ts', import.meta.url).href;
const closeBrowser = async (_electron: unknown, url: string) => (await import(url)).closeBrowser();
const windowModule = new URL('../electron-double/web-contents.ts', import.meta.url).href;

/** The page that shows something: a persistent context also has the blank page it began with. */
async function windowPage(browser: Browser): Promise<Page> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  const shown = pages.find((page) => /^(http|data):/.test(page.url()));
  if (shown === undefined) throw new Error(`no window among ${pages.map((page) => page.url()).join(', ')}`);
  return shown;
}

function evaluator(child: ChildProcess, output: () => string): DesktopApp['evaluate'] {
  let lastId = 0;
  return async (work, argument) => {
    lastId += 1;
    const id = lastId;
    const request: DriverRequest = { id, source: work.toString(), argument };
    const answer = new Promise<DriverAnswer>((resolve, reject) => {
      const settle = (message: DriverAnswer) => {
        if (message.id !== id) return;
        child.off('message', settle);
        child.off('exit', fail);
        resolve(message);
      };
      const fail = () => reject(new Error(`the app ended before it answered\n${output()}`));
      child.on('message', settle);
      child.on('exit', fail);
    });
    child.send(request);
    const answered = await answer;
    if ('error' in answered) throw new Error(answered.error);
    return answered.value as Awaited<ReturnType<typeof work>>;
  };
}
