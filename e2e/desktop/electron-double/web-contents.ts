import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Page } from 'playwright';
import { app } from './app.ts';
import { browserContext, browserEndpoint, newWindowPage } from './chromium.ts';
import { invokeHandler } from './ipc-main.ts';
import { applyPermissions } from './permissions.ts';
import {
  type FromPreload,
  fromMainFunction,
  preloadScripts,
  preloadWorld,
  toMainBinding,
} from './preload-world.ts';
import type { CDPSession } from './protocol.ts';
import { guardRequests } from './request-gate.ts';
import { type SessionDouble, session } from './session.ts';

export type Preferences = { preload?: string; session?: SessionDouble } & Record<string, unknown>;
type OpenHandler = (details: { url: string; frameName: string; disposition: string }) => {
  action: 'allow' | 'deny';
};

const all = new Set<WebContentsDouble>();
const firstLoad = Promise.withResolvers<void>();
let lastId = 0;

/** A page of a window: a Chromium page, with the app's preload and the app's rules. */
export class WebContentsDouble extends EventEmitter {
  readonly id = ++lastId;
  readonly session: SessionDouble;
  readonly #preferences: Preferences;
  readonly #ready: Promise<{ page: Page; cdp: CDPSession }>;
  #page: Page | null = null;
  #expected: string | null = null;
  #openHandler: OpenHandler = () => ({ action: 'allow' });
  #destroyed = false;

  constructor(preferences: Preferences) {
    super();
    this.#preferences = preferences;
    this.session = preferences.session ?? session.defaultSession;
    all.add(this);
    this.#ready = this.#open();
    app.emit('web-contents-created', {}, this);
  }

  getLastWebPreferences(): Preferences {
    return this.#preferences;
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.#openHandler = handler;
  }

  getURL(): string {
    const url = this.#page?.url() ?? '';
    return url === 'about:blank' && this.#expected === null ? '' : url;
  }

  isDestroyed(): boolean {
    return this.#destroyed;
  }

  async loadURL(url: string): Promise<void> {
    const { page, cdp } = await this.#ready;
    this.#expected = url;
    await applyPermissions(cdp, this, url);
    try {
      await page.goto(url);
    } catch (error) {
      this.emit('did-fail-load', {}, -2, String(error), url, true);
      throw error;
    }
  }

  reload(): void {
    this.#expected = this.getURL();
    void this.#ready.then(({ page }) => page.reload());
  }

  async executeJavaScript(code: string): Promise<unknown> {
    const { page } = await this.#ready;
    return await page.evaluate(code);
  }

  async destroy(): Promise<void> {
    if (this.#destroyed) return;
    this.#destroyed = true;
    all.delete(this);
    this.emit('destroyed');
    const { page } = await this.#ready;
    await page.close();
  }

  async #open() {
    const page = await newWindowPage();
    const cdp = await (await browserContext()).newCDPSession(page);
    this.#page = page;
    page.on('load', () => {
      this.emit('did-finish-load');
      firstLoad.resolve();
    });
    cdp.on('Page.navigatedWithinDocument', ({ url }) =>
      this.emit('did-navigate-in-page', {}, url, true, 0, 0),
    );
    const { frameTree } = await cdp.send('Page.getFrameTree');
    await cdp.send('Page.enable');
    await this.#installPreload(cdp, frameTree.frame.id);
    await guardRequests(cdp, {
      session: this.session,
      mainFrameId: frameTree.frame.id,
      isExpected: (url) => withoutFragment(url) === withoutFragment(this.#expected ?? ''),
      emit: (event, details) => void this.emit(event, details),
    });
    await this.#refuseSockets(page);
    return { page, cdp };
  }

  async #installPreload(cdp: CDPSession, mainFrameId: string): Promise<void> {
    const contexts = new Map<number, string>();
    cdp.on('Runtime.executionContextCreated', ({ context }) => {
      const frame: unknown = context.auxData?.frameId;
      if (context.name === preloadWorld && typeof frame === 'string') contexts.set(context.id, frame);
    });
    cdp.on('Runtime.bindingCalled', ({ name, payload, executionContextId }) => {
      if (name !== toMainBinding || contexts.get(executionContextId) !== mainFrameId) return;
      void this.#receive(cdp, executionContextId, JSON.parse(payload));
    });
    const scripts = preloadScripts(this.#preferences.preload, randomUUID());
    await cdp.send('Runtime.enable');
    await cdp.send('Runtime.addBinding', { name: toMainBinding, executionContextName: preloadWorld });
    await cdp.send('Page.addScriptToEvaluateOnNewDocument', { source: scripts.page });
    await cdp.send('Page.addScriptToEvaluateOnNewDocument', {
      source: scripts.isolated,
      worldName: preloadWorld,
    });
  }

  async #receive(cdp: CDPSession, contextId: number, message: FromPreload): Promise<void> {
    if (message.kind === 'input') {
      this.emit('input-event', {}, { type: message.type });
      return;
    }
    if (message.kind === 'open') {
      const { url, frameName } = message;
      const { action } = this.#openHandler({ url, frameName, disposition: 'foreground-tab' });
      if (action === 'allow') throw new Error(`the double can't open the allowed window ${url}`);
      return;
    }
    const url = this.getURL();
    const senderFrame = { url, origin: URL.parse(url)?.origin ?? 'null', parent: null };
    const answer = await invokeHandler(message.channel, { sender: this, senderFrame }, message.sent).then(
      (value) => ({ id: message.id, value }),
      (error: Error) => ({ id: message.id, error: error.message }),
    );
    await cdp
      .send('Runtime.evaluate', {
        contextId,
        expression: `${fromMainFunction}(${JSON.stringify(JSON.stringify(answer))})`,
      })
      .catch(() => undefined); // the document that asked is gone
  }

  /** DevTools can't stop a WebSocket, so Playwright answers those that `webRequest` would cancel. */
  async #refuseSockets(page: Page): Promise<void> {
    await page.routeWebSocket(
      (url) => {
        let cancelled = false;
        this.session.requestListener?.(
          { url: url.href, method: 'GET', resourceType: 'webSocket' },
          ({ cancel }) => {
            cancelled = cancel === true;
          },
        );
        return cancelled;
      },
      (socket) => void socket.close({ code: 1006 }).catch(() => socket.close()),
    );
  }
}

/** Where another Playwright client finds the first window, once that has loaded something. */
export async function whereWindowIs(): Promise<string> {
  await firstLoad.promise;
  return await browserEndpoint();
}

export const webContents = { getAllWebContents: () => [...all] };

function withoutFragment(url: string): string {
  return url.split('#', 1)[0] ?? '';
}
