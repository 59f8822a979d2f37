import { readFileSync } from 'node:fs';

/** Names of the isolated world that a preload runs in, and of the bindings that only that world has. */
export const preloadWorld = 'electron-preload';
export const toMainBinding = '__electronDoubleToMain';
export const fromMainFunction = '__electronDoubleFromMain';

/** What the isolated world sends out: a call to `ipcMain`, input that the page saw, a window it wants. */
export type FromPreload =
  | { kind: 'invoke'; id: number; channel: string; sent: unknown[] }
  | { kind: 'open'; url: string; frameName: string }
  | { kind: 'input'; type: string };

/**
 * Two scripts for each new document. The page's world gets a listener that builds what is exposed to it;
 * then the preload runs in a world of its own, as with context isolation, and the two exchange JSON in DOM
 * events. `channel` is a name that the page can't guess.
 */
export function preloadScripts(
  preload: string | undefined,
  channel: string,
): { page: string; isolated: string } {
  const source = preload === undefined ? '' : readFileSync(preload, 'utf8');
  return {
    page: `(${pageSide.toString()})(${JSON.stringify(channel)})`,
    isolated: `(${isolatedSide.toString()})(${[channel, toMainBinding, fromMainFunction, process.platform]
      .map((text) => JSON.stringify(text))
      .join(', ')}, (require, module, exports, process) => {${source}\n})`,
  };
}

// The two functions below run in the page: they can use nothing from this module.

function pageSide(channel: string): void {
  if (window.top !== window) return;
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let calls = 0;
  const callable =
    (path: string[]) =>
    (...given: unknown[]) =>
      new Promise((resolve, reject) => {
        calls += 1;
        waiting.set(calls, { resolve, reject });
        const detail = JSON.stringify({ id: calls, path, given });
        window.dispatchEvent(new CustomEvent(`${channel}-call`, { detail }));
      });
  const listen = (name: string, listener: (message: Record<string, unknown>) => void) =>
    window.addEventListener(`${channel}-${name}`, (event) =>
      listener(JSON.parse((event as CustomEvent).detail)),
    );
  listen('expose', ({ name, entries }) => {
    const api: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(
      entries as Record<string, { callable: boolean; value?: unknown }>,
    )) {
      api[key] = value.callable ? callable([String(name), key]) : value.value;
    }
    Object.defineProperty(window, String(name), { value: Object.freeze(api), enumerable: true });
  });
  listen('answer', ({ id, error, value }) => {
    const call = waiting.get(Number(id));
    waiting.delete(Number(id));
    if (error === undefined) call?.resolve(value);
    else call?.reject(new Error(String(error)));
  });
  // Electron asks before a window exists. DevTools tell of one that is already loading, and closing that
  // lets its first request go: so what would open a window is caught in the page.
  const askToOpen = (url: string, frameName: string) =>
    window.dispatchEvent(new CustomEvent(`${channel}-open`, { detail: JSON.stringify({ url, frameName }) }));
  window.open = (url = 'about:blank', frameName = '') => {
    askToOpen(new URL(url, document.baseURI).href, frameName);
    return null;
  };
  window.addEventListener('click', (event) => {
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
    if (
      link === undefined ||
      event.defaultPrevented ||
      ['', '_self', '_top', '_parent'].includes(link.target)
    )
      return;
    event.preventDefault();
    askToOpen(link.href, link.target === '_blank' ? '' : link.target);
  });
}

function isolatedSide(
  channel: string,
  toMain: string,
  fromMain: string,
  platform: string,
  preload: (
    require: (name: string) => object,
    module: { exports: object },
    exports: object,
    process: { platform: string },
  ) => void,
): void {
  if (window.top !== window) return;
  const world = globalThis as unknown as Record<string, (message: string) => void>;
  const send = (message: FromPreload) => world[toMain]?.(JSON.stringify(message));
  const exposed = new Map<string, Record<string, unknown>>();
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let calls = 0;
  const dispatch = (name: string, message: object) =>
    window.dispatchEvent(new CustomEvent(`${channel}-${name}`, { detail: JSON.stringify(message) }));

  world[fromMain] = (text) => {
    const { id, error, value } = JSON.parse(text);
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new Error(error));
  };
  window.addEventListener(`${channel}-call`, async (event) => {
    const { id, path, given } = JSON.parse((event as CustomEvent).detail);
    try {
      const called = exposed.get(path[0])?.[path[1]] as (...given: unknown[]) => unknown;
      dispatch('answer', { id, value: await called(...given) });
    } catch (error) {
      dispatch('answer', { id, error: error instanceof Error ? error.message : String(error) });
    }
  });
  window.addEventListener(`${channel}-open`, (event) =>
    send({ kind: 'open', ...JSON.parse((event as CustomEvent).detail) }),
  );
  for (const [dom, type] of [
    ['mousedown', 'mouseDown'],
    ['mouseup', 'mouseUp'],
    ['keydown', 'keyDown'],
  ] as const) {
    window.addEventListener(dom, (event) => event.isTrusted && send({ kind: 'input', type }), true);
  }

  const electron = {
    contextBridge: {
      exposeInMainWorld: (name: string, api: Record<string, unknown>) => {
        exposed.set(name, api);
        const entries: Record<string, { callable: boolean; value?: unknown }> = {};
        for (const [key, value] of Object.entries(api)) {
          entries[key] = typeof value === 'function' ? { callable: true } : { callable: false, value };
        }
        dispatch('expose', { name, entries });
      },
    },
    ipcRenderer: {
      invoke: (ipcChannel: string, ...sent: unknown[]) =>
        new Promise((resolve, reject) => {
          calls += 1;
          waiting.set(calls, { resolve, reject });
          send({ kind: 'invoke', id: calls, channel: ipcChannel, sent });
        }),
    },
  };
  const module = { exports: {} };
  const requireSandboxed = (name: string) => {
    // A sandboxed preload can require nothing of the app and little of Node.
    if (name !== 'electron') throw new Error(`module not found: ${name}`);
    return electron;
  };
  preload(requireSandboxed, module, module.exports, { platform });
}
