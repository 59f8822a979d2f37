import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRecord } from './daemon/daemon-message.ts';
import type { WindowPlace } from './window/window-place.ts';

type Remembered = { window: WindowPlace | null; trayNoticeShown: boolean };

/** What the desktop remembers between starts; nothing here is worth more than a window's place. */
export class Preferences {
  readonly #path: string;
  #remembered: Remembered;

  constructor(path: string) {
    this.#path = path;
    this.#remembered = read(path);
  }

  get remembered(): Readonly<Remembered> {
    return this.#remembered;
  }

  /** Written whole under another name first. A write that fails is given up: the next one may do better. */
  remember(changed: Partial<Remembered>): void {
    this.#remembered = { ...this.#remembered, ...changed };
    try {
      mkdirSync(dirname(this.#path), { recursive: true });
      writeFileSync(`${this.#path}.tmp`, JSON.stringify(this.#remembered));
      renameSync(`${this.#path}.tmp`, this.#path);
    } catch (error) {
      console.error('desktop: preferences were not saved:', error instanceof Error ? error.message : error);
    }
  }
}

function read(path: string): Remembered {
  try {
    const raw: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isRecord(raw)) return { window: null, trayNoticeShown: false };
    return { window: readPlace(raw.window), trayNoticeShown: raw.trayNoticeShown === true };
  } catch {
    // The first start, or a damaged file: defaults serve.
    return { window: null, trayNoticeShown: false };
  }
}

function readPlace(value: unknown): WindowPlace | null {
  if (!isRecord(value)) return null;
  const { x, y, width, height, maximized } = value;
  if (![x, y, width, height].every(Number.isSafeInteger)) return null;
  return {
    x: Number(x),
    y: Number(y),
    width: Number(width),
    height: Number(height),
    maximized: maximized === true,
  };
}
