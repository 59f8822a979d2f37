import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const tailCharacters = 16_384;
const maxFileBytes = 5 * 1024 * 1024;

/**
 * What the daemon prints: the newest 16 Ki characters in memory for the failure view, and all of it in
 * a file that starts anew at 5 MiB, with one older file kept beside it.
 */
export class DaemonLog {
  readonly path: string;
  #tail = '';
  #fileBytes = 0;
  #fileUsable = true;

  constructor(path: string) {
    this.path = path;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      this.#fileBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    } catch {
      // A logs folder that can't be made must not keep the app from starting; the tail still works.
      this.#fileUsable = false;
    }
  }

  get tail(): string {
    return this.#tail;
  }

  write(text: string): void {
    this.#tail = (this.#tail + text).slice(-tailCharacters);
    if (!this.#fileUsable) return;
    try {
      if (this.#fileBytes > maxFileBytes) this.#startAnew();
      appendFileSync(this.path, text, { mode: 0o600 });
      this.#fileBytes += Buffer.byteLength(text);
    } catch {
      // A full disk: the daemon's own errors say so, and its log must not take the app down.
      this.#fileUsable = false;
    }
  }

  #startAnew(): void {
    renameSync(this.path, `${this.path}.old`);
    this.#fileBytes = 0;
  }
}
