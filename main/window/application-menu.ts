import type { MenuItemConstructorOptions } from 'electron';

export type MenuActions = { openDocumentation: () => void; showLogs: () => void };

/** The application menu: the platform's usual roles and accelerators, and help. */
export function applicationMenu(
  platform: NodeJS.Platform,
  devTools: boolean,
  actions: MenuActions,
): MenuItemConstructorOptions[] {
  const isMac = platform === 'darwin';
  return [
    ...(isMac
      ? [{ role: 'appMenu' as const }]
      : [{ label: '&File', submenu: [{ role: 'close' as const }, { role: 'quit' as const }] }]),
    { role: 'editMenu' },
    { label: '&View', submenu: viewItems(devTools) },
    { role: 'windowMenu' },
    {
      role: 'help',
      submenu: [
        { label: 'API documentation', click: actions.openDocumentation },
        { label: 'Show logs', click: actions.showLogs },
        ...(isMac ? [] : [{ type: 'separator' as const }, { role: 'about' as const }]),
      ],
    },
  ];
}

function viewItems(devTools: boolean): MenuItemConstructorOptions[] {
  return [
    { role: 'reload' },
    ...(devTools ? [{ role: 'forceReload' as const }, { role: 'toggleDevTools' as const }] : []),
    { type: 'separator' },
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    { type: 'separator' },
    { role: 'togglefullscreen' },
  ];
}
