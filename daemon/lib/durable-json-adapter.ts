import { access } from 'node:fs/promises';
import type { Adapter } from 'lowdb';
import { systemErrorCode } from './durable-errors.ts';
import { syncFolderOf, writeDurably } from './durable-file.ts';
import type { DurableFs } from './durable-fs.ts';
import { systemFs } from './durable-fs.ts';

/** A file that could not be understood was kept under another name. */
export interface SetAside {
  path: string;
  movedTo: string;
  /** A sentence for the log and the developer; holds nothing of the file's content. */
  reason: string;
}

export interface DurableJsonAdapterOptions<T> {
  path: string;
  parse: (raw: unknown) => T;
  onSetAside?: (info: SetAside) => void;
  fs?: DurableFs;
}

/**
 * lowdb's own adapters write without fsync and answer defaults for a broken file. This one writes durably;
 * `read` answers null for a missing file, and for one that does not parse after it was set aside.
 */
export class DurableJsonAdapter<T> implements Adapter<T> {
  readonly #options: DurableJsonAdapterOptions<T>;
  readonly #fs: DurableFs;

  constructor(options: DurableJsonAdapterOptions<T>) {
    this.#options = options;
    this.#fs = options.fs ?? systemFs;
  }

  async read(): Promise<T | null> {
    const { path, parse } = this.#options;
    const bytes = await this.#readIfThere(path);
    if (!bytes) return null;
    const outcome = understand(bytes, parse);
    if ('value' in outcome) return outcome.value;
    await this.#setAside(outcome.reason);
    return null;
  }

  async write(value: T): Promise<void> {
    await writeDurably(this.#options.path, `${JSON.stringify(value, null, 2)}\n`, { fs: this.#fs });
  }

  async #readIfThere(path: string): Promise<Uint8Array | undefined> {
    try {
      return await this.#fs.readFile(path);
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async #setAside(reason: string): Promise<void> {
    const { path, onSetAside } = this.#options;
    const movedTo = await freeName(`${path}.broken-${new Date().toISOString().replaceAll(':', '-')}`);
    await this.#fs.rename(path, movedTo);
    await syncFolderOf(path, this.#fs);
    onSetAside?.({ path, movedTo, reason });
  }
}

function understand<T>(bytes: Uint8Array, parse: (raw: unknown) => T): { value: T } | { reason: string } {
  if (bytes.length === 0) return { reason: 'it is empty' };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { reason: 'it is not UTF-8 text' };
  }
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    // The parser's own message quotes the content, which has no place in a log.
    return { reason: `it is not whole, valid JSON (${bytes.length} bytes)` };
  }
  try {
    return { value: parse(raw) };
  } catch (error) {
    return {
      reason: `its content is not as expected: ${error instanceof Error ? error.message : 'refused'}`,
    };
  }
}

/** A rename replaces its target, so a file set aside before must not have the same name. */
async function freeName(wanted: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    try {
      await access(name);
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return name;
      throw error;
    }
  }
}
