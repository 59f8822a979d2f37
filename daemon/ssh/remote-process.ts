import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Client, ClientChannel } from 'ssh2';
import { CodedError } from '../contract/errors.ts';
import type { JobProcess, ProcessExit } from '../shell/job-process.ts';
import { withoutMark } from './mark-filter.ts';
import { RemoteGroup } from './remote-group.ts';
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
const lostCode = 255;

/**
 * Runs a command on another host. A shell there reads what to do from its standard input (so that no secret is in an
 * argument, and nothing depends on how the login shell quotes), tells its process id, and replaces itself by the user's
 * shell with the command, whose own standard input is empty.
 *
 * @throws CodedError ssh_failed where the server opens no session or refuses the command
 */
export async function startRemote(lease: SshLease, { cmd, secrets }: RemoteCommand): Promise<JobProcess> {
  const mark = `tallystick-${randomBytes(12).toString('hex')}:`;
  const exports = Object.entries(secrets).map(([name, value]) => `export ${name}=${quote(value)}\n`);
  const channel = await execute(lease.client, 'exec /bin/sh -s');
  channel.write(`echo "${mark}$$" >&2
${exports.join('')}exec "\${SHELL:-/bin/sh}" -c ${quote(cmd)} </dev/null
`);
  // Not `end`: that would make the channel refuse to pass signals on.
  channel.eof();
  const group = new RemoteGroup(lease.client, channel);
  const stderr = withoutMark(channel.stderr as Readable, mark, (pid) => group.identify(Number(pid)));
  const exit = exitOf(channel, stderr, lease);
  return {
    stdout: channel,
    stderr,
    pid: 0,
    exit,
    terminate: (options) => group.end(options),
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
function exitOf(channel: ClientChannel, stderr: Readable, lease: SshLease): Promise<ProcessExit> {
  const { promise, resolve } = Promise.withResolvers<ProcessExit>();
  let told: ProcessExit | undefined;
  let heardAt = performance.now();
  const streams: readonly Readable[] = [channel, stderr];
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

/** RFC 4254 names signals without SIG. */
function signalName(name: string): NodeJS.Signals {
  return `SIG${name.replace(/^SIG/, '')}` as NodeJS.Signals;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
