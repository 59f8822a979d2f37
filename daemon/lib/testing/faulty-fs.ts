import { basename } from 'node:path';
import type { DurableFs, DurableHandle } from '../durable-fs.ts';
import { systemFs } from '../durable-fs.ts';

/** Which call fails, counted from 1 over all calls, and whether it does its work before it reports failure. */
export interface Fault {
  call: number;
  code: string;
  persisted: boolean;
}

export interface FaultyFs extends DurableFs {
  /** The calls so far, in words: `open temp`, `write temp`, `sync folder` … */
  readonly calls: readonly string[];
}

export interface FaultyFsOptions {
  /** Makes every write take no more than so many bytes. */
  maxWriteBytes?: number;
  /** Runs at the start of each call. */
  onCall?: (name: string) => void;
}

/** The real file system, with faults at chosen calls. */
export function faultyFs(faults: readonly Fault[] = [], options: FaultyFsOptions = {}): FaultyFs {
  const calls: string[] = [];
  async function call<R>(name: string, work: () => Promise<R>): Promise<R> {
    calls.push(name);
    options.onCall?.(name);
    const fault = faults.find((candidate) => candidate.call === calls.length);
    if (!fault) return work();
    // A close that fails has given the handle up all the same; a handle nobody is told of has to be.
    if (fault.persisted || name.startsWith('close ')) {
      const done = await work();
      if (isHandle(done)) await done.close();
    }
    throw Object.assign(new Error(`${fault.code}: injected at ${name}`), { code: fault.code });
  }
  const wrap = (handle: DurableHandle, what: string): DurableHandle => ({
    write: (buffer, offset, length, position) =>
      call(`write ${what}`, () =>
        handle.write(buffer, offset, Math.min(length, options.maxWriteBytes ?? length), position),
      ),
    stat: () => call(`stat ${what}`, () => handle.stat()),
    chmod: (mode) => call(`chmod ${what}`, () => handle.chmod(mode)),
    sync: () => call(`sync ${what}`, () => handle.sync()),
    close: () => call(`close ${what}`, () => handle.close()),
  });
  return {
    calls,
    open: async (path, flags, mode) => {
      const what = basename(path).startsWith('.durable-') ? 'temp' : 'folder';
      return call(`open ${what}`, async () => wrap(await systemFs.open(path, flags, mode), what));
    },
    readFile: (path) => call('read', () => systemFs.readFile(path)),
    rename: (from, to) => call('rename', () => systemFs.rename(from, to)),
    unlink: (path) => call('unlink', () => systemFs.unlink(path)),
  };
}

const isHandle = (value: unknown): value is DurableHandle =>
  typeof value === 'object' && value !== null && 'close' in value;
