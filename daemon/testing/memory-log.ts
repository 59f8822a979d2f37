import { Writable } from 'node:stream';
import pino from 'pino';
import type { Logger } from '../lib/logger.ts';

export interface MemoryLog {
  readonly logger: Logger;
  /** All that was logged, every level, as lines of JSON. */
  text(): string;
}

/** A real logger at its most talkative level, that writes to memory. */
export function memoryLog(): MemoryLog {
  const parts: string[] = [];
  const sink = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      parts.push(String(chunk));
      done();
    },
  });
  return { logger: pino({ level: 'trace', base: null }, sink), text: () => parts.join('') };
}
