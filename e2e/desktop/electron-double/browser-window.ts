import { EventEmitter } from 'node:events';
import { app } from './app.ts';
import { cancelableEvent } from './cancelable-event.ts';
import { type Preferences, WebContentsDouble } from './web-contents.ts';

type Bounds = { x: number; y: number; width: number; height: number };
type Options = Partial<Bounds> & { show?: boolean; webPreferences?: Preferences } & Record<string, unknown>;

/** A window: the state a window manager would keep, around a Chromium page. */
export class BrowserWindow extends EventEmitter {
  readonly webContents: WebContentsDouble;
  readonly options: Options;
  #bounds: Bounds;
  #visible: boolean;
  #focused = false;
  #minimized = false;
  #maximized = false;
  #destroyed = false;

  constructor(options: Options = {}) {
    super();
    this.options = options;
    const { x = 100, y = 100, width = 800, height = 600 } = options;
    this.#bounds = { x, y, width, height };
    this.#visible = options.show !== false;
    // `app.enableSandbox()` holds for every window, whatever its own preferences say.
    this.webContents = new WebContentsDouble({
      ...options.webPreferences,
      sandbox: app.sandboxEnabled || options.webPreferences?.sandbox !== false,
    });
    this.webContents.once('did-finish-load', () => this.emit('ready-to-show'));
    app.openWindows.add(this);
  }

  static getAllWindows(): BrowserWindow[] {
    return [...app.openWindows].filter((window) => window instanceof BrowserWindow);
  }

  loadURL(url: string): Promise<void> {
    return this.webContents.loadURL(url);
  }

  show(): void {
    this.#visible = true;
    this.#minimized = false;
  }

  hide(): void {
    this.#visible = false;
    this.#focused = false;
  }

  focus(): void {
    this.#focused = true;
    this.emit('focus');
  }

  blur(): void {
    this.#focused = false;
    this.emit('blur');
  }

  minimize(): void {
    this.#minimized = true;
    this.#focused = false;
  }

  restore(): void {
    this.#minimized = false;
  }

  maximize(): void {
    this.#maximized = true;
  }

  isVisible = () => this.#visible && !this.#minimized;
  isFocused = () => this.#focused;
  isMinimized = () => this.#minimized;
  isMaximized = () => this.#maximized;
  isDestroyed = () => this.#destroyed;
  getBounds = () => this.#bounds;
  getNormalBounds = () => this.#bounds;
  getMinimumSize = () => [this.options.minWidth ?? 0, this.options.minHeight ?? 0];

  setBounds(bounds: Partial<Bounds>): void {
    this.#bounds = { ...this.#bounds, ...bounds };
  }

  close(): void {
    const event = cancelableEvent({});
    this.emit('close', event);
    if (!event.defaultPrevented) this.destroy();
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    app.openWindows.delete(this);
    void this.webContents.destroy();
    this.emit('closed');
    if (app.openWindows.size === 0) app.emit('window-all-closed');
  }
}
