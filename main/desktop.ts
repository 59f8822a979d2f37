import { join } from 'node:path';
import { app, clipboard, Menu, Notification, powerMonitor, session, shell } from 'electron';
import { ClipboardLease } from './clipboard-lease.ts';
import { DaemonLog } from './daemon/daemon-log.ts';
import { daemonLauncher } from './daemon/daemon-process.ts';
import { type DaemonState, panelOrigin } from './daemon/daemon-state.ts';
import { DaemonSupervisor } from './daemon/daemon-supervisor.ts';
import { dataFolder } from './daemon/data-folder.ts';
import { findRunningDaemon, isStillRunning } from './daemon/find-running-daemon.ts';
import { chooseFolder, confirmQuit, tellOtherVersion } from './dialogs.ts';
import { isPanel } from './ipc/is-panel.ts';
import { registerCalls } from './ipc/register-calls.ts';
import { Preferences } from './preferences.ts';
import { QuitSequence } from './quit-sequence.ts';
import { DesktopTray } from './tray/desktop-tray.ts';
import { traySupported } from './tray/tray-supported.ts';
import { applicationMenu } from './window/application-menu.ts';
import { type FailureAction, failurePage } from './window/failure-page.ts';
import { PanelWindow } from './window/panel-window.ts';

/** The daemon promises to end within 5 s, its jobs first. */
const daemonEndMs = 6_000;

export type DesktopOptions = {
  daemonEntry: string;
  preload: string;
  failureTemplate: string;
  assets: string;
  environment: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  devTools: boolean;
};

/** The app once Electron is ready: wires the daemon, the window, the tray and quitting to one another. */
export class Desktop {
  readonly #options: DesktopOptions;
  readonly #dataDir: string;
  readonly #preferences = new Preferences(join(app.getPath('userData'), 'desktop.json'));
  readonly #log = new DaemonLog(join(app.getPath('logs'), 'daemon.log'));
  readonly #lease = new ClipboardLease(clipboard);
  readonly #supervisor: DaemonSupervisor;
  readonly #window: PanelWindow;
  readonly #quit: QuitSequence;
  #tray: DesktopTray | null = null;
  #shown: DaemonState['kind'] = 'stopped';

  constructor(options: DesktopOptions) {
    this.#options = options;
    this.#dataDir = dataFolder(options.environment);
    this.#supervisor = this.#createSupervisor();
    this.#window = this.#createWindow();
    this.#quit = this.#createQuit();
  }

  get panelOrigin(): string | null {
    return panelOrigin(this.#supervisor.state);
  }

  async start(): Promise<void> {
    const { platform, assets, devTools } = this.#options;
    this.#listen();
    this.#answerCalls();
    Menu.setApplicationMenu(
      Menu.buildFromTemplate(
        applicationMenu(platform, devTools, {
          openDocumentation: () => this.#openDocumentation(),
          showLogs: () => shell.showItemInFolder(this.#log.path),
        }),
      ),
    );
    if (await traySupported(platform)) {
      this.#tray = new DesktopTray(join(assets, 'tray'), platform, {
        open: () => this.open(),
        openInBrowser: () => void this.#openInBrowser(),
        quit: () => app.quit(),
      });
    }
    this.#supervisor.start();
  }

  /** Brings the window to the front: a second start, the tray, the dock. */
  open(): void {
    this.#window.show();
  }

  #createSupervisor(): DaemonSupervisor {
    const { daemonEntry } = this.#options;
    const args = ['--data-dir', this.#dataDir];
    return new DaemonSupervisor({
      launch: daemonLauncher(daemonEntry, args, (text) => this.#log.write(text)),
      findRunning: () => findRunningDaemon(this.#dataDir),
      isRunning: (daemon) => isStillRunning(this.#dataDir, daemon),
      onChange: (state) => this.#show(state),
    });
  }

  #createWindow(): PanelWindow {
    const { preload, assets, devTools } = this.#options;
    return new PanelWindow({
      preload,
      devTools,
      icon: join(assets, 'icons', '512x512.png'),
      session: session.fromPartition('persist:panel'),
      preferences: this.#preferences,
      onClose: () => this.#closed(),
      onFailureAction: (action) => this.#followFailureAction(action),
      onSessionEnd: () => void this.#quit.begin({ ask: false }),
    });
  }

  #createQuit(): QuitSequence {
    return new QuitSequence({
      runningJobs: () => (this.#supervisor.state.kind === 'running' ? this.#supervisor.state.jobs : 0),
      confirm: (jobs) => {
        this.open();
        return confirmQuit(jobs);
      },
      stopDaemon: () => this.#supervisor.stop(daemonEndMs),
      cleanUp: async () => {
        await this.#lease.clear();
        this.#window.destroy();
        this.#tray?.destroy();
      },
      exit: () => app.exit(0),
    });
  }

  #listen(): void {
    app.on('before-quit', (event) => {
      event.preventDefault();
      void this.#quit.begin({ ask: true });
    });
    app.on('window-all-closed', () => {
      // Without a listener Electron would quit; the tray keeps the app, and quitting has its own order.
    });
    app.on('activate', () => this.open());
    powerMonitor.on('shutdown', () => void this.#quit.begin({ ask: false }));
    // Set once Electron is ready, as it sets its own handlers before, and those would ask.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => void this.#quit.begin({ ask: false }));
    }
  }

  #answerCalls(): void {
    registerCalls(
      {
        'desktop:choose-folder': () => chooseFolder(this.#window.browserWindow),
        'desktop:notify': async (title, body) => {
          if (Notification.isSupported()) new Notification({ title, body }).show();
          return undefined;
        },
        'desktop:copy': async (text, clearAfterMs) => {
          await this.#lease.copy(text, clearAfterMs);
          return undefined;
        },
        'desktop:request-login-token': () => this.#supervisor.mintLoginToken(),
      },
      (event) => isPanel(event, this.#window.contents, this.panelOrigin),
    );
  }

  #show(state: DaemonState): void {
    this.#tray?.update(state);
    const before = this.#shown;
    this.#shown = state.kind;
    if (state.kind === before) return;
    switch (state.kind) {
      case 'running':
        void this.#window.load(signInUrl(state.listening.url, state.listening.login_token));
        return;
      case 'attached':
        void this.#window.load(`${state.daemon.url}/`);
        void tellOtherVersion(state.daemon.version);
        return;
      case 'failed':
        void this.#window.load(this.#failurePage(state.reason));
        this.open();
        return;
      case 'starting':
      case 'stopped':
        return; // a page that is shown stays, and says itself that it lost the daemon
      default:
        state satisfies never;
    }
  }

  #failurePage(reason: string): string {
    const { tail: output, path: logPath } = this.#log;
    return failurePage(this.#options.failureTemplate, { reason, output, logPath });
  }

  #followFailureAction(action: FailureAction): void {
    switch (action) {
      case 'retry':
        this.#supervisor.start();
        return;
      case 'logs':
        shell.showItemInFolder(this.#log.path);
        return;
      case 'quit':
        app.quit();
        return;
      default:
        action satisfies never;
    }
  }

  /** Whether the window is to be hidden: the app goes on in the tray. Without a tray, closing quits. */
  #closed(): boolean {
    if (this.#tray === null) {
      void this.#quit.begin({ ask: true });
      return false;
    }
    if (!this.#preferences.remembered.trayNoticeShown && Notification.isSupported()) {
      this.#preferences.remember({ trayNoticeShown: true });
      new Notification({
        title: 'Tallystick keeps running',
        body: 'Commands go on. Open or quit it from its icon in the tray.',
      }).show();
    }
    return true;
  }

  async #openInBrowser(): Promise<void> {
    const { state } = this.#supervisor;
    if (state.kind === 'attached') await shell.openExternal(`${state.daemon.url}/`);
    if (state.kind !== 'running') return;
    const token = await this.#supervisor.mintLoginToken();
    if (token !== null) await shell.openExternal(signInUrl(state.listening.url, token));
  }

  #openDocumentation(): void {
    const origin = this.panelOrigin;
    if (origin !== null) void shell.openExternal(`${origin}/docs`);
  }
}

function signInUrl(url: string, token: string): string {
  return `${new URL('/', url).href}#token=${encodeURIComponent(token)}`;
}
