import { contextBridge, ipcRenderer } from 'electron';
import type { DesktopCalls, DesktopChannel } from './ipc/desktop-calls.ts';

/** What the panel finds as `window.tallystick` in the desktop; in a browser it is not there. */
export type DesktopApi = {
  /** The system's folder dialog; `null` when the user cancels. */
  chooseFolder(): Promise<string | null>;
  notify(title: string, body: string): Promise<void>;
  /** Copies text; with `clearAfterMs`, clears it then, unless something else was copied meanwhile. */
  copy(text: string, clearAfterMs?: number): Promise<void>;
  /** A one-time token to sign in with; `null` when the daemon is not the desktop's own. */
  requestLoginToken(): Promise<string | null>;
  readonly platform: string;
};

const api: DesktopApi = {
  chooseFolder: () => call('desktop:choose-folder'),
  notify: (title, body) => call('desktop:notify', title, body),
  copy: (text, clearAfterMs) => call('desktop:copy', text, clearAfterMs ?? null),
  requestLoginToken: () => call('desktop:request-login-token'),
  platform: process.platform,
};

contextBridge.exposeInMainWorld('tallystick', api);

function call<Channel extends DesktopChannel>(
  channel: Channel,
  ...given: DesktopCalls[Channel]['arguments']
): Promise<DesktopCalls[Channel]['result']> {
  return ipcRenderer.invoke(channel, ...given);
}
