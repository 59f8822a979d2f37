// The module that `import … from 'electron'` finds in the main process under test.
export { app } from './app.ts';
export { BrowserWindow } from './browser-window.ts';
export { ipcMain } from './ipc-main.ts';
export { Menu, Tray } from './menu-and-tray.ts';
export { session } from './session.ts';
export {
  clipboard,
  dialog,
  Notification,
  nativeImage,
  nativeTheme,
  powerMonitor,
  screen,
  shell,
} from './system.ts';
export { utilityProcess } from './utility-process.ts';
export { webContents } from './web-contents.ts';
