import { desktopBridge } from '../desktop-bridge.ts';

export const clearAfterMs = 30_000;

/** What becomes of a copy: only the desktop can take it off the clipboard again. */
export function clipboardWords(): string {
  return desktopBridge() === undefined
    ? 'A browser can’t clear the clipboard. Copy something else afterwards.'
    : 'The clipboard is cleared 30 seconds after you copy.';
}
