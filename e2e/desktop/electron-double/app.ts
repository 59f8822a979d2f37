import { EventEmitter } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { cancelableEvent } from './cancelable-event.ts';
import { takeInstanceLock } from './instance-lock.ts';

type Window = { close(): void; destroy(): void; isDestroyed(): boolean };

class AppDouble extends EventEmitter {
  readonly isPackaged = false;
  /** Windows that are open; `BrowserWindow` keeps it. */
  readonly openWindows = new Set<Window>();
  sandboxEnabled = false;
  #root = '';
  #beforeExit: () => Promise<void> = async () => undefined;
  #ready = Promise.withResolvers<void>();
  #exiting = false;

  prepare(root: string, beforeExit: () => Promise<void>): void {
    this.#root = root;
    this.#beforeExit = beforeExit;
  }

  start(): void {
    if (this.#exiting) return;
    // Electron quits on these unless the app has put its own handlers in place.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (process.listenerCount(signal) === 1) this.quit();
      });
    }
    this.emit('ready');
    this.#ready.resolve();
  }

  whenReady(): Promise<void> {
    return this.#ready.promise;
  }

  enableSandbox(): void {
    this.sandboxEnabled = true;
  }

  getAppPath(): string {
    return this.#root;
  }

  getName(): string {
    return this.#manifest().productName;
  }

  getVersion(): string {
    return this.#manifest().version;
  }

  getPath(name: string): string {
    const config = process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config');
    const userData = join(config, this.getName());
    switch (name) {
      case 'home':
        return homedir();
      case 'userData':
        return userData;
      case 'logs':
        return join(userData, 'logs');
      default:
        throw new Error(`the double has no path ${name}`);
    }
  }

  requestSingleInstanceLock(): boolean {
    const folder = this.getPath('userData');
    mkdirSync(folder, { recursive: true });
    return takeInstanceLock(folder, () => this.emit('second-instance', {}, process.argv, process.cwd()));
  }

  quit(): void {
    const event = cancelableEvent({});
    this.emit('before-quit', event);
    if (event.defaultPrevented) return;
    for (const window of [...this.openWindows]) window.close();
    if (this.openWindows.size > 0) return;
    this.exit(0);
  }

  exit(code = 0): void {
    if (this.#exiting) return;
    this.#exiting = true;
    for (const window of [...this.openWindows]) window.destroy();
    this.emit('quit', {}, code);
    void this.#beforeExit().finally(() => process.exit(code));
  }

  #manifest(): { productName: string; version: string } {
    return JSON.parse(readFileSync(join(this.#root, 'package.json'), 'utf8'));
  }
}

export const app = new AppDouble();

export function prepareApp({ root, beforeExit }: { root: string; beforeExit: () => Promise<void> }): void {
  app.prepare(root, beforeExit);
}

export function startApp(): void {
  app.start();
}
