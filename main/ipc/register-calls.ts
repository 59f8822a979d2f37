import { type IpcMainInvokeEvent, ipcMain } from 'electron';
import { type DesktopCalls, type DesktopChannel, readArguments } from './desktop-calls.ts';

export type DesktopHandlers = {
  [Channel in DesktopChannel]: (
    ...given: DesktopCalls[Channel]['arguments']
  ) => Promise<DesktopCalls[Channel]['result']>;
};

/**
 * Answers the calls of the table, each only after its sender and then its arguments were checked. Both
 * checks are here and nowhere else, so that no handler can be without them.
 */
export function registerCalls(
  handlers: DesktopHandlers,
  isPanel: (event: IpcMainInvokeEvent) => boolean,
): void {
  for (const channel of Object.keys(readArguments) as DesktopChannel[]) register(channel, handlers, isPanel);
}

function register<Channel extends DesktopChannel>(
  channel: Channel,
  handlers: DesktopHandlers,
  isPanel: (event: IpcMainInvokeEvent) => boolean,
): void {
  ipcMain.handle(channel, async (event, ...sent: unknown[]) => {
    if (!isPanel(event)) throw new Error(`${channel} refused: the caller is not the panel`);
    return await handlers[channel](...readArguments[channel](sent));
  });
}
