import { EventEmitter } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';

let clipboardText = '';

export const clipboard = {
  readText: async () => clipboardText,
  writeText: async (text: string) => {
    clipboardText = text;
  },
};

/** Where nobody has put an answer in their place, dialogs stay open, as they would with nobody at the screen. */
const open = () => new Promise<never>(() => undefined);
export const dialog = { showMessageBox: open, showOpenDialog: open };

export const shell = {
  openExternal: async (_url: string) => undefined,
  showItemInFolder: (_path: string) => undefined,
};

export class Notification extends EventEmitter {
  readonly title: string;
  readonly body: string;

  constructor({ title = '', body = '' }: { title?: string; body?: string } = {}) {
    super();
    this.title = title;
    this.body = body;
  }

  static isSupported(): boolean {
    return true;
  }

  show(): void {
    this.emit('show');
  }
}

class NativeImageDouble {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  /** Width and height as the PNG header has them. */
  getSize(): { width: number; height: number } {
    if (this.isEmpty()) return { width: 0, height: 0 };
    return { width: this.#bytes.readUInt32BE(16), height: this.#bytes.readUInt32BE(20) };
  }
}

export const nativeImage = {
  /** Like Electron: an image that is not there is empty, not an error. */
  createFromPath: (path: string) =>
    new NativeImageDouble(existsSync(path) ? readFileSync(path) : Buffer.alloc(0)),
};

export const nativeTheme = Object.assign(new EventEmitter(), { shouldUseDarkColors: false });

export const powerMonitor = new EventEmitter();

const display = {
  id: 1,
  bounds: { x: 0, y: 0, width: 1920, height: 1080 },
  workArea: { x: 0, y: 0, width: 1920, height: 1040 },
};

export const screen = { getPrimaryDisplay: () => display, getAllDisplays: () => [display] };
