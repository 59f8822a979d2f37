import { open, readFile, rename, unlink } from 'node:fs/promises';

/** An open file or folder, as far as a durable write needs it. `FileHandle` of node:fs/promises is one. */
export interface DurableHandle {
  write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesWritten: number }>;
  stat(): Promise<{ size: number }>;
  chmod(mode: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The file calls behind durable state; tests hand in one that fails at a chosen step. */
export interface DurableFs {
  open(path: string, flags: 'wx' | 'r', mode?: number): Promise<DurableHandle>;
  readFile(path: string): Promise<Uint8Array>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
}

/** The machine's own file system; every call runs off the event loop. */
export const systemFs: DurableFs = { open, readFile: (path) => readFile(path), rename, unlink };
