import { join } from 'node:path';
import { Menu, type NativeImage, nativeImage, Tray } from 'electron';
import type { DaemonState } from '../daemon/daemon-state.ts';
import { type TrayView, trayView } from './tray-view.ts';

export type TrayActions = { open: () => void; openInBrowser: () => void; quit: () => void };

/** The tray icon: shows the daemon's state, and is the way back to a closed window. */
export class DesktopTray {
  readonly #images: Record<TrayView['image'], NativeImage>;
  readonly #actions: TrayActions;
  readonly #tray: Tray;
  #shown = '';

  /** `folder` has `idle`, `running` and `failed` as PNG, in colour and as macOS templates, each also `@2x`. */
  constructor(folder: string, platform: NodeJS.Platform, actions: TrayActions) {
    const suffix = platform === 'darwin' ? 'Template' : '';
    const load = (name: string) => nativeImage.createFromPath(join(folder, `${name}${suffix}.png`));
    this.#images = { idle: load('idle'), running: load('running'), failed: load('failed') };
    this.#actions = actions;
    this.#tray = new Tray(this.#images.idle);
    // On macOS a click opens the menu; elsewhere it is expected to open the window.
    if (platform !== 'darwin') this.#tray.on('click', actions.open);
  }

  update(state: DaemonState): void {
    const { image, toolTip } = trayView(state);
    const canOpen = state.kind === 'running' || state.kind === 'attached';
    const shown = `${toolTip} ${canOpen}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#tray.setImage(this.#images[image]);
    this.#tray.setToolTip(toolTip);
    this.#tray.setContextMenu(
      Menu.buildFromTemplate([
        { label: toolTip.replace('Tallystick: ', ''), enabled: false },
        { type: 'separator' },
        { label: 'Open Tallystick', click: this.#actions.open },
        { label: 'Open in browser', enabled: canOpen, click: this.#actions.openInBrowser },
        { type: 'separator' },
        { label: 'Quit Tallystick', click: this.#actions.quit },
      ]),
    );
  }

  destroy(): void {
    this.#tray.destroy();
  }
}
