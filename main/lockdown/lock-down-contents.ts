import { shell, type WebContents } from 'electron';
import { mayNavigate, mayOpenOutside, type UrlPolicy } from './allowed-url.ts';

/** A click opens its window at once; what comes later was not asked for by the user. */
const clickMs = 1_000;

/** Keeps a page where it is: no other origin, no window of its own, no webview. */
export function lockDownContents(contents: WebContents, policy: UrlPolicy): void {
  const refuseForeign = (event: NavigationEvent) => {
    if (!event.isSameDocument && !mayNavigate(event.url, policy)) event.preventDefault();
  };
  contents.on('will-navigate', refuseForeign);
  contents.on('will-frame-navigate', refuseForeign);
  contents.on('will-redirect', refuseForeign);
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.on('select-bluetooth-device', (event, _devices, answer) => {
    event.preventDefault();
    answer('');
  });
  const lastInput = inputClock(contents);
  contents.setWindowOpenHandler(({ url }) => {
    if (mayOpenOutside(url) && lastInput() < clickMs) void shell.openExternal(url);
    return { action: 'deny' };
  });
}

type NavigationEvent = { url: string; isSameDocument: boolean; preventDefault: () => void };

/** Milliseconds since the user last pressed a key or a mouse button in this page. */
function inputClock(contents: WebContents): () => number {
  let lastAt = Number.NEGATIVE_INFINITY;
  contents.on('input-event', (_event, input) => {
    if (isPress(input.type)) lastAt = performance.now();
  });
  return () => performance.now() - lastAt;
}

function isPress(type: string): boolean {
  const presses = [
    'mouseDown',
    'mouseUp',
    'keyDown',
    'rawKeyDown',
    'keyUp',
    'char',
    'gestureTap',
    'touchEnd',
  ];
  return presses.includes(type);
}
