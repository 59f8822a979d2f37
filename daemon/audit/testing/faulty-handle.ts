import { open } from 'node:fs/promises';
import type { AuditHandle, OpenAuditHandle } from '../store.ts';

export type HandleCall = 'write' | 'truncate' | 'datasync';

/** Asked before each call; what it answers is the code that the call fails with. */
export type Failing = (call: HandleCall) => string | undefined;

export interface FaultyHandle {
  readonly openHandle: OpenAuditHandle;
  /** The calls that change the file, in order. */
  readonly calls: HandleCall[];
  /** How many bytes were read. */
  readonly bytesRead: () => number;
}

/** The real file, with calls that fail. A write that fails has put half of its bytes into the file. */
export function faultyHandle(failing: Failing = () => undefined): FaultyHandle {
  const calls: HandleCall[] = [];
  let bytesRead = 0;
  const faultAt = (call: HandleCall) => {
    calls.push(call);
    const code = failing(call);
    return code === undefined ? undefined : Object.assign(new Error(`${code}: injected`), { code });
  };
  const openHandle: OpenAuditHandle = async (path, flags, mode) => {
    const handle = await open(path, flags, mode);
    const wrapped: AuditHandle = {
      read: async (bytes, offset, length, position) => {
        const answer = await handle.read(bytes, offset, length, position);
        bytesRead += answer.bytesRead;
        return answer;
      },
      stat: () => handle.stat(),
      chmod: (bits) => handle.chmod(bits),
      close: () => handle.close(),
      write: async (bytes, offset, length, position) => {
        const fault = faultAt('write');
        if (fault === undefined) return handle.write(bytes, offset, length, position);
        await handle.write(bytes, offset, Math.floor(length / 2), position);
        throw fault;
      },
      truncate: async (size) => {
        const fault = faultAt('truncate');
        if (fault !== undefined) throw fault;
        await handle.truncate(size);
      },
      datasync: async () => {
        const fault = faultAt('datasync');
        if (fault !== undefined) throw fault;
        await handle.datasync();
      },
    };
    return wrapped;
  };
  return { openHandle, calls, bytesRead: () => bytesRead };
}
