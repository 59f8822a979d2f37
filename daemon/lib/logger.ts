import pino, { type Logger } from 'pino';
import { systemClock } from './clock.ts';
import { openLogFolder } from './log-folder.ts';

export type { Logger };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/**
 * JSON lines on standard error, and in a file a day in `folder` where one is given. Never on standard output. Each line
 * goes through `mask` first.
 */
export function createLogger(level: LogLevel, folder?: string, mask?: (line: string) => string): Logger {
  const streams: pino.StreamEntry[] = [{ level: 'debug', stream: pino.destination({ dest: 2, sync: true }) }];
  if (folder !== undefined) streams.push({ level: 'debug', stream: openLogFolder(folder, systemClock) });
  const hooks = mask === undefined ? {} : { hooks: { streamWrite: mask } };
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, ...hooks },
    pino.multistream(streams),
  );
}
