import type { MessageFromDaemon } from '../../daemon/contract/daemon.ts';

/** Reads one message of the daemon's process channel; `null` for anything the contract does not have. */
export function parseDaemonMessage(value: unknown): MessageFromDaemon | null {
  if (!isRecord(value)) return null;
  switch (value.type) {
    case 'ready': {
      const listening = parseListening(value.listening);
      return listening === null ? null : { type: 'ready', listening };
    }
    case 'login-token':
      return isText(value.token) ? { type: 'login-token', token: value.token } : null;
    case 'jobs':
      return isCount(value.running) ? { type: 'jobs', running: value.running } : null;
    case 'failed':
      return typeof value.message === 'string' ? { type: 'failed', message: value.message } : null;
    default:
      return null;
  }
}

type Listening = Extract<MessageFromDaemon, { type: 'ready' }>['listening'];

function parseListening(value: unknown): Listening | null {
  if (!isRecord(value) || value.event !== 'listening') return null;
  const { url, pid, data_dir, login_token, version } = value;
  if (!isText(url) || !isLoopbackUrl(url) || !isCount(pid)) return null;
  if (!isText(data_dir) || !isText(login_token) || !isText(version)) return null;
  return { event: 'listening', url, pid, data_dir, login_token, version };
}

/** `http` on this machine only: the panel is never loaded from anywhere else. */
export function isLoopbackUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'http:' || url.username !== '' || url.password !== '') return false;
  return url.hostname === '127.0.0.1' || url.hostname === 'localhost' || url.hostname === '[::1]';
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
