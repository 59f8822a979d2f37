/** What the desktop's preload offers the panel; in a browser there is none. */
export type DesktopBridge = {
  /** The folder that the user chose, or null. */
  chooseFolder(): Promise<string | null>;
  notify(title: string, body: string): Promise<void>;
  /** Puts text on the clipboard, and takes it off again after `clearAfterMs` where it is still there. */
  copy(text: string, clearAfterMs?: number): Promise<void>;
  /** A new one-time login token, or null where the daemon is not the desktop's own. */
  requestLoginToken(): Promise<string | null>;
  platform: string;
};

declare global {
  interface Window {
    tallystick?: DesktopBridge;
  }
}

export function desktopBridge(): DesktopBridge | undefined {
  return window.tallystick;
}

/** Puts text on the clipboard; with `clearAfterMs` it is taken off again, where the desktop can do that. */
export async function copyText(text: string, clearAfterMs?: number): Promise<void> {
  const bridge = desktopBridge();
  if (bridge !== undefined) return bridge.copy(text, clearAfterMs);
  await navigator.clipboard.writeText(text);
}
