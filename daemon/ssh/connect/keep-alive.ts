import type { ConnectConfig } from 'ssh2';
import type { ResolvedHost } from '../resolved-host.ts';

/**
 * ssh2's settings with which a connection that has gone silent is given up when `interval × count` is over. ssh2 itself
 * gives up an interval after the last of `count` messages; so its intervals are that much shorter.
 */
export function keepAliveOf(
  host: Pick<ResolvedHost, 'serverAliveIntervalMs' | 'serverAliveCountMax'>,
): Pick<ConnectConfig, 'keepaliveInterval' | 'keepaliveCountMax'> {
  const { serverAliveIntervalMs: interval, serverAliveCountMax: count } = host;
  if (interval <= 0) return {};
  // For OpenSSH a count of 0 means messages without consequences.
  if (count === 0) return { keepaliveInterval: interval, keepaliveCountMax: Number.MAX_SAFE_INTEGER };
  const shorter = Math.floor((interval * count) / (count + 1));
  return { keepaliveInterval: Math.max(1, shorter), keepaliveCountMax: count };
}
