import { join } from 'node:path';
import { app } from 'electron';
import { Desktop } from './desktop.ts';
import { lockDownApp } from './lockdown/lock-down-app.ts';

const dist = join(import.meta.dirname, '..');
let desktop: Desktop | null = null;

const policy = { panelOrigin: () => desktop?.panelOrigin ?? null, devTools: !app.isPackaged };
lockDownApp(policy);

if (app.requestSingleInstanceLock()) {
  app.on('second-instance', () => desktop?.open());
  // Not awaited at the top level: Electron is not ready before this module has been evaluated.
  void app.whenReady().then(async () => {
    desktop = new Desktop({
      daemonEntry: join(dist, 'daemon', 'index.js'),
      preload: join(dist, 'main', 'preload.cjs'),
      failureTemplate: join(dist, 'main', 'failure', 'index.html'),
      assets: join(dist, 'assets'),
      environment: process.env,
      platform: process.platform,
      devTools: policy.devTools,
    });
    await desktop.start();
  });
} else {
  app.quit();
}
