import type { Readable } from 'node:stream';
import type { Client, ClientChannel } from 'ssh2';
import { CodedError } from '../contract/errors.ts';
import type { JobProcess, ProcessExit } from '../shell/job-process.ts';
import type { SshLease } from './ssh-connection.ts';

export interface RemoteCommand {
  /** For the login shell of the host's user, as `ssh host cmd` hands it over. */
  readonly cmd: string;
  /** Environment variables of this command alone. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** After the exit was told and nothing more has come for so long, a child that was left behind holds the channel open. */
const quietMs = 200;
const lookEveryMs = 50;
/** After SIGKILL, the server needs a moment to say so; then the channel is closed without that. */
const killedMs = 1000;
const lostCode = 255;

/**
 * Runs a command on another host. Its standard input is empty. Secrets go over the channel, never into a command line: a
 * shell reads them, and replaces itself by the command.
 *
 * @throws CodedError ssh_failed where the server opens no session or refuses the command
 */
export async function startRemote(lease: SshLease, { cmd, secrets }: RemoteCommand): Promise<JobProcess> {
  const exports = Object.entries(secrets).map(([name, value]) => `export ${name}=${quote(value)}\n`);
  const channel = await execute(lease.client, exports.length === 0 ? cmd : 'exec /bin/sh -s');
  if (exports.length > 0)
    channel.write(`${exports.join('')}exec "\${SHELL:-/bin/sh}" -c ${quote(cmd)} </dev/null\n`);
  // Not `end`: that would make the channel refuse to pass signals on.
  channel.eof();
  const ended = endOf(channel, lease);
  return {
    stdout: channel,
    // The types don't say that it reads only; its `destroy` leaves the channel alone.
    stderr: channel.stderr as Readable,
    pid: 0,
    exit: ended,
    terminate: ({ graceMs, hurry }) => terminate(channel, ended, { graceMs, hurry }),
  };
}

function execute(client: Client, cmd: string): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) =>
      reject(new CodedError('ssh_failed', `The host did not start the command: ${cause.message}`, { cause }));
    try {
      client.exec(cmd, (error, channel) => (error === undefined ? resolve(channel) : fail(error)));
    } catch (error) {
      // The connection has just gone.
      fail(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** The end of the command as the server tells it, once all that it printed has come. */
function endOf(channel: ClientChannel, lease: SshLease): Promise<ProcessExit> {
  const { promise, resolve } = Promise.withResolvers<ProcessExit>();
  let told: ProcessExit | undefined;
  let heardAt = performance.now();
  const streams: readonly Readable[] = [channel, channel.stderr as Readable];
  const hear = () => {
    heardAt = performance.now();
  };
  const timer = setInterval(() => {
    if (told === undefined) return;
    // Not before somebody else reads: listening makes a stream flow, and what comes by then would be lost.
    for (const stream of streams)
      if (stream.listenerCount('data') > 0 && !stream.listeners('data').includes(hear))
        stream.on('data', hear);
    // Output that a slow client holds back is still to come.
    const isHeld = streams.some((stream) => stream.isPaused() || stream.readableLength > 0);
    if (!isHeld && performance.now() - heardAt > quietMs) resolve(told);
  }, lookEveryMs);
  timer.unref();
  channel.on('exit', (code: number | null, signal?: string) => {
    told = { code, signal: signal === undefined ? null : signalName(signal) };
    heardAt = performance.now();
  });
  const lost: ProcessExit = { code: lostCode, signal: null, reason: 'connection_lost' };
  channel.once('close', () => resolve(told ?? lost));
  void lease.lost.then(() => resolve(told ?? lost));
  void promise.then(() => clearInterval(timer));
  return promise;
}

/** SIGTERM, after the grace period SIGKILL, to the command's process group; what has left it is out of reach. */
async function terminate(
  channel: ClientChannel,
  ended: Promise<ProcessExit>,
  { graceMs, hurry }: { readonly graceMs: number; readonly hurry: AbortSignal | undefined },
): Promise<void> {
  const hurried = new Promise<void>((resolve) => {
    if (hurry?.aborted === true) resolve();
    else hurry?.addEventListener('abort', () => resolve(), { once: true });
  });
  if (!(await endsWithin(ended, 0))) {
    signal(channel, 'TERM');
    if (!(await endsWithin(ended, graceMs, hurried))) {
      signal(channel, 'KILL');
      await endsWithin(ended, killedMs);
    }
  }
  channel.close();
}

async function endsWithin(ended: Promise<unknown>, ms: number, cut?: Promise<void>): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), ms);
  const outcome = await Promise.race([
    ended.then(() => true),
    late.promise,
    ...(cut === undefined ? [] : [cut.then(() => false)]),
  ]);
  clearTimeout(timer);
  return outcome;
}

interface SignalSender {
  readonly outgoing: { readonly id: number; readonly state: string };
  readonly _client: { readonly _protocol: { signal(channel: number, name: string): void } };
}

/** As `channel.signal`, which does nothing once our side has said that it sends no more input. */
function signal(channel: ClientChannel, name: 'TERM' | 'KILL'): void {
  const { outgoing, _client } = channel as unknown as SignalSender;
  if (outgoing.state !== 'open' && outgoing.state !== 'eof') return;
  try {
    _client._protocol.signal(outgoing.id, name);
  } catch {
    // The connection is gone, and the command with it as far as we can tell.
  }
}

/** RFC 4254 names signals without SIG. */
function signalName(name: string): NodeJS.Signals {
  return `SIG${name.replace(/^SIG/, '')}` as NodeJS.Signals;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
