import { BrowserWindow, nativeTheme, type Session, screen, type WebContents } from 'electron';
import type { Preferences } from '../preferences.ts';
import { type FailureAction, failureAction } from './failure-page.ts';
import { placeWindow, smallestWindow } from './window-place.ts';

export type PanelWindowOptions = {
  preload: string;
  icon: string;
  session: Session;
  devTools: boolean;
  preferences: Preferences;
  /** The user closes the window: it is hidden when this answers true, else left for quitting to destroy. */
  onClose: () => boolean;
  onFailureAction: (action: FailureAction) => void;
  onSessionEnd: () => void;
};

/** The one window of the app: made when there is something to show, kept hidden when closed to the tray. */
export class PanelWindow {
  readonly #options: PanelWindowOptions;
  #window: BrowserWindow | null = null;
  #quitting = false;

  constructor(options: PanelWindowOptions) {
    this.#options = options;
  }

  get contents(): WebContents | null {
    return this.#window?.webContents ?? null;
  }

  get browserWindow(): BrowserWindow | null {
    return this.#window;
  }

  /**
   * Loads an address anew, also when only its fragment differs from the page shown. A load that fails or
   * is overtaken by another is not an error here: the daemon's state decides what is shown next.
   */
  async load(url: string): Promise<void> {
    this.#window ??= this.#create();
    const { webContents } = this.#window;
    try {
      // Else Chromium would only move to the fragment, and the page would go on with its dead connections.
      if (withoutFragment(webContents.getURL()) === withoutFragment(url))
        await webContents.loadURL('about:blank');
      await webContents.loadURL(url);
    } catch (error) {
      console.error('desktop: the page did not load:', error instanceof Error ? error.message : error);
    }
  }

  /** Brings the window to the front, if there is one yet. */
  show(): void {
    if (this.#window === null) return;
    if (this.#window.isMinimized()) this.#window.restore();
    this.#window.show();
    this.#window.focus();
  }

  destroy(): void {
    this.#quitting = true;
    this.#rememberPlace();
    this.#window?.destroy();
    this.#window = null;
  }

  #create(): BrowserWindow {
    const { preload, icon, session, devTools, preferences } = this.#options;
    const place = preferences.remembered.window;
    const window = new BrowserWindow({
      ...placeWindow(place, workAreas()),
      minWidth: smallestWindow.width,
      minHeight: smallestWindow.height,
      title: 'Tallystick',
      icon,
      show: false,
      backgroundColor: nativeTheme.shouldUseDarkColors ? '#0f1115' : '#ffffff',
      webPreferences: {
        preload,
        session,
        devTools,
        sandbox: true,
        contextIsolation: true,
        nodeIntegration: false,
        nodeIntegrationInSubFrames: false,
        nodeIntegrationInWorker: false,
        webSecurity: true,
        webviewTag: false,
        navigateOnDragDrop: false,
        spellcheck: false,
      },
    });
    if (place?.maximized === true) window.maximize();
    window.once('ready-to-show', () => this.show());
    window.on('close', (event) => this.#closing(event));
    window.on('closed', () => {
      this.#window = null;
    });
    window.on('session-end', () => this.#options.onSessionEnd());
    window.webContents.on('will-navigate', ({ url }) => this.#followFailureLink(url));
    window.webContents.on('render-process-gone', (_event, { reason }) => {
      if (reason !== 'clean-exit' && !this.#quitting) window.webContents.reload();
    });
    return window;
  }

  #closing(event: { preventDefault: () => void }): void {
    this.#rememberPlace();
    if (this.#quitting) return;
    event.preventDefault();
    if (this.#options.onClose()) this.#window?.hide();
  }

  #rememberPlace(): void {
    if (this.#window === null || this.#window.isDestroyed()) return;
    const { x, y, width, height } = this.#window.getNormalBounds();
    this.#options.preferences.remember({
      window: { x, y, width, height, maximized: this.#window.isMaximized() },
    });
  }

  /** The lockdown has refused the navigation already; here only what was asked for is read. */
  #followFailureLink(url: string): void {
    if (!this.#window?.webContents.getURL().startsWith('data:')) return;
    const action = failureAction(url);
    if (action !== null) this.#options.onFailureAction(action);
  }
}

/** The primary display first: a window whose own display is gone goes there. */
function workAreas() {
  const primary = screen.getPrimaryDisplay();
  const others = screen.getAllDisplays().filter(({ id }) => id !== primary.id);
  return [primary, ...others].map(({ workArea }) => workArea);
}

function withoutFragment(url: string): string {
  return url.split('#', 1)[0] ?? '';
}
