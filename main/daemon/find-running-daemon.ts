import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isLoopbackUrl, isRecord } from './daemon-message.ts';
import type { RunningDaemon } from './daemon-state.ts';
import { isSameProcess, listensOn } from './process-identity.ts';

const healthMs = 3_000;

/**
 * The daemon that holds `dataDir`, once it has shown to be the one its lock file names: that process is
 * alive, it is the one that listens on the address, and it answers as a Tallystick of that version.
 * `null` when nothing holds the folder; text when something does that is not to be trusted.
 *
 * The sign-in page of whatever is found here will be given a login token, so a foreign process that sits
 * on the port of a daemon that died must not pass.
 */
export async function findRunningDaemon(dataDir: string): Promise<RunningDaemon | string | null> {
  const holder = await readHolder(join(dataDir, 'daemon.lock'));
  if (holder === null) return null;
  const { pid, startedAt, url, version } = holder;
  if (!(await isSameProcess(pid, startedAt))) return null;
  if (url === null || version === null) return `Process ${pid} holds the data folder and is not ready yet.`;
  if (!isLoopbackUrl(url)) return `The data folder's lock names an address that is not this machine: ${url}`;
  if (!(await listensOn(pid, Number(new URL(url).port)))) {
    return `Process ${pid} holds the data folder, but ${url} belongs to another process.`;
  }
  const problem = await checkHealth(url, version);
  return problem ?? { url, version, pid };
}

/** Whether a daemon found earlier is still that daemon. */
export async function isStillRunning(dataDir: string, daemon: RunningDaemon): Promise<boolean> {
  const holder = await readHolder(join(dataDir, 'daemon.lock'));
  if (holder === null || holder.pid !== daemon.pid || holder.url !== daemon.url) return false;
  return await isSameProcess(holder.pid, holder.startedAt);
}

type Holder = { pid: number; startedAt: string; url: string | null; version: string | null };

async function readHolder(path: string): Promise<Holder | null> {
  let raw: unknown;
  try {
    raw = JSON.parse(await readFile(path, 'utf8'));
  } catch {
    // Absent, unreadable or damaged: it names nobody to attach to. The daemon itself reports a broken lock.
    return null;
  }
  if (!isRecord(raw)) return null;
  const { pid, process_started_at: startedAt, url, version } = raw;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return null;
  if (typeof startedAt !== 'string') return null;
  return { pid, startedAt, url: textOrNull(url), version: textOrNull(version) };
}

async function checkHealth(url: string, version: string): Promise<string | null> {
  try {
    const answer = await fetch(new URL('/healthz', url), {
      redirect: 'error',
      signal: AbortSignal.timeout(healthMs),
    });
    const body: unknown = await answer.json();
    const isOurs =
      answer.status === 200 &&
      answer.headers.get('Tallystick-Version') === version &&
      isRecord(body) &&
      body.status === 'ok' &&
      body.version === version;
    return isOurs ? null : `What answers on ${url} is not the Tallystick ${version} that its lock names.`;
  } catch (error) {
    return `The daemon on ${url} does not answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
