import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page, type Request } from 'playwright';

/** Pages that are windows of the app; every other page of the browser is a popup, and gets nothing. */
const windowPages = new Set<Page>();

let opened: { context: Promise<BrowserContext>; folder: string } | null = null;

/** The one Chromium of the app's process, started on first use. */
export function browserContext(): Promise<BrowserContext> {
  opened ??= open();
  return opened.context;
}

export async function newWindowPage(): Promise<Page> {
  const context = await browserContext();
  const page = await context.newPage();
  windowPages.add(page);
  page.once('close', () => windowPages.delete(page));
  return page;
}

/** Where another Playwright client finds this browser. */
export async function browserEndpoint(): Promise<string> {
  await browserContext();
  const [port] = readFileSync(join(opened?.folder ?? '', 'DevToolsActivePort'), 'utf8').split('\n');
  return `http://127.0.0.1:${port}`;
}

export async function closeBrowser(): Promise<void> {
  if (opened === null) return;
  await (await opened.context).close();
  rmSync(opened.folder, { recursive: true, force: true, maxRetries: 5 });
}

function open() {
  const folder = mkdtempSync(join(tmpdir(), 'electron-double-'));
  return { context: launch(folder), folder };
}

async function launch(folder: string): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--remote-debugging-port=0'],
    viewport: null,
    // Signals are the app's own business: Playwright would close the browser and end the process.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  // A popup's first request is on its way before anything else of it can be reached.
  await context.route('**', (route) => (isOfWindow(route.request()) ? route.continue() : route.abort()));
  return context;

  function isOfWindow(request: Request): boolean {
    try {
      return windowPages.has(request.frame().page());
    } catch {
      return false; // Playwright has no page yet for the first request of a popup
    }
  }
}
