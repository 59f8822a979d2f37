import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, stat } from 'node:fs/promises';
import { type ParsedFile, parseFile } from './parse-file.ts';

const maxConfigBytes = 16 * 1024 * 1024;
const settledMs = 100;

export type ReadConfig =
  | { readonly outcome: 'read'; readonly file: ParsedFile; readonly unsafe: boolean }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'unreadable'; readonly why: string };

interface Kept {
  readonly identity: string;
  readonly file: ParsedFile;
}

/** The one place that looks at the disk: configuration files, kept parsed until they change, and whether keys are there. */
export class ConfigStore {
  readonly #kept = new Map<string, Kept>();
  readonly #uid: number | undefined;

  constructor(uid: number | undefined) {
    this.#uid = uid;
  }

  async read(path: string): Promise<ReadConfig> {
    try {
      const unchanged = this.#unchanged(path, await stat(path, { bigint: true }));
      if (unchanged !== null) return unchanged;
      // A FIFO must not hold the caller until somebody writes to it.
      await using handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      return await this.#parsed(path, handle);
    } catch (error) {
      this.#kept.delete(path);
      const code = errorCode(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') return { outcome: 'missing' };
      return { outcome: 'unreadable', why: code ?? String(error) };
    }
  }

  /** Names in a folder, sorted; none where it can't be read. */
  async names(folder: string): Promise<string[]> {
    try {
      return (await readdir(folder)).sort();
    } catch {
      // As glob(3) does: what can't be listed matches nothing.
      return [];
    }
  }

  /** Also a link to nowhere, as for glob(3). */
  async isEntry(path: string): Promise<boolean> {
    return lstat(path).then(
      () => true,
      () => false,
    );
  }

  /** Whether there is something to open, be it a file or a socket. */
  async exists(path: string): Promise<boolean> {
    return stat(path).then(
      (entry) => !entry.isDirectory(),
      () => false,
    );
  }

  /** Whether the public half of a key file says that the key lives in a security key (FIDO). */
  async isSecurityKey(path: string): Promise<boolean> {
    try {
      await using handle = await open(`${path}.pub`, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
      return buffer.toString('latin1', 0, bytesRead).startsWith('sk-');
    } catch {
      // No public half to read: taken for an ordinary key, which signing in will tell.
      return false;
    }
  }

  async #parsed(path: string, handle: FileHandle): Promise<ReadConfig> {
    const entry = await handle.stat({ bigint: true });
    if (entry.isDirectory()) return { outcome: 'unreadable', why: 'it is a folder' };
    // /dev/null stands for an empty file; a FIFO or terminal has nothing that could be read twice.
    if (!entry.isFile()) return { outcome: 'read', file: parseFile(''), unsafe: false };
    if (entry.size > BigInt(maxConfigBytes))
      return { outcome: 'unreadable', why: `it is over ${maxConfigBytes} bytes` };
    const file = parseFile(await handle.readFile('utf8'));
    // A file system's clock is coarse: what has only just changed could change again and look the same.
    if (Date.now() - Number(entry.ctimeMs) > settledMs)
      this.#kept.set(path, { identity: identityOf(entry), file });
    else this.#kept.delete(path);
    return { outcome: 'read', file, unsafe: this.#isUnsafe(entry) };
  }

  #unchanged(path: string, entry: BigIntStats): ReadConfig | null {
    const kept = this.#kept.get(path);
    if (kept?.identity !== identityOf(entry)) return null;
    return { outcome: 'read', file: kept.file, unsafe: this.#isUnsafe(entry) };
  }

  #isUnsafe({ uid, mode }: BigIntStats): boolean {
    if (this.#uid === undefined) return false;
    return (uid !== 0n && uid !== BigInt(this.#uid)) || (mode & 0o022n) !== 0n;
  }
}

function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
