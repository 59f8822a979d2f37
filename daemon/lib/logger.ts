import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pino, { type Logger } from 'pino';

export type { Logger };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** JSON lines on standard error, and in `<folder>/<date>.log` where a folder is given. Never on standard output. */
export function createLogger(level: LogLevel, folder?: string): Logger {
  const streams: pino.StreamEntry[] = [{ level: 'debug', stream: pino.destination({ dest: 2, sync: true }) }];
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const dest = join(folder, `${new Date().toISOString().slice(0, 10)}.log`);
    const file = pino.destination({ dest, sync: false, mode: 0o600 });
    // A full disk must not end the daemon for its log's sake; the lines are on standard error, too.
    file.on('error', () => undefined);
    streams.push({ level: 'debug', stream: file });
  }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.multistream(streams));
}
