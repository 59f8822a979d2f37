import { app, type BrowserWindow, dialog } from 'electron';
import { countCommands } from './tray/tray-view.ts';

/** The folder that the user chose; `null` when the dialog was cancelled. */
export async function chooseFolder(parent: BrowserWindow | null): Promise<string | null> {
  const options = {
    title: 'Open project',
    properties: ['openDirectory' as const, 'createDirectory' as const],
  };
  const { canceled, filePaths } = await (parent === null
    ? dialog.showOpenDialog(options)
    : dialog.showOpenDialog(parent, options));
  return canceled ? null : (filePaths[0] ?? null);
}

/** Whether the user agrees to end the commands that are running. */
export async function confirmQuit(jobs: number): Promise<boolean> {
  const one = jobs === 1;
  const { response } = await dialog.showMessageBox({
    type: 'question',
    message: `${countCommands(jobs)} ${one ? 'is' : 'are'} running; quitting ends ${one ? 'it' : 'them'}.`,
    buttons: ['Quit', 'Cancel'],
    defaultId: 1,
    cancelId: 1,
  });
  return response === 0;
}

/** Says that the daemon attached to is of another version than this app; nothing when it is not. */
export async function tellOtherVersion(version: string): Promise<void> {
  if (version === app.getVersion()) return;
  await dialog.showMessageBox({
    type: 'warning',
    message: `The running daemon is Tallystick ${version}, this app is ${app.getVersion()}.`,
    detail:
      'The panel is the one of the running daemon. End that daemon in its terminal to use this version.',
    buttons: ['OK'],
  });
}
