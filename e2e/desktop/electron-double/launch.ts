import { createRequire, registerHooks } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { answerDriver } from './answer-driver.ts';

// Runs a built main process against the double: node launch.ts <dist/main/index.js>.

const entry = resolve(process.argv[2] ?? '');
const doubleUrl = new URL('./electron.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' || specifier === 'electron/main'
      ? { url: doubleUrl, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context),
});

const electron = await import('./electron.ts');
const { prepareApp, startApp } = await import('./app.ts');
const { closeBrowser } = await import('./chromium.ts');

prepareApp({ root: join(dirname(entry), '..', '..'), beforeExit: closeBrowser });
const { installRecorder } = createRequire(import.meta.url)('../driver/recorder.cjs');
installRecorder(electron);
answerDriver(electron);
await import(pathToFileURL(entry).href);
// Like Electron: not ready before the entry has been evaluated, so awaiting that at its top level hangs.
startApp();
