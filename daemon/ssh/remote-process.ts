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

/** Login shells that take what a POSIX shell does. */
const posixShells = new Set(['sh', 'bash', 'dash', 'ash', 'ksh', 'mksh', 'zsh']);

/** Runs commands on other hosts. */
export class RemoteCommands {
  /** What is known of the login shell of a connection, once a command has told it. */
  readonly #isPosix = new WeakMap<Client, boolean>();

  /**
   * Starts a command; its standard input is empty. It tells its process id first, in a line that nobody else sees.
   *
   * @throws CodedError ssh_failed where the server opens no session or refuses the command
   */
  async start(
    lease: SshLease,
    command: RemoteCommand,
    freshLease: () => Promise<SshLease>,
  ): Promise<JobProcess> {
    const { client } = lease;
    const mark = `tallystick-${randomBytes(12).toString('hex')}:`;
    const { line, input } = planOf(command, mark, this.#isPosix.get(client) === true);
    const channel = await execute(client, line);
    if (input !== '') channel.write(input);
    // Not `end`: that would make the channel refuse to pass signals on.
    channel.eof();
    const group = new RemoteGroup(client, channel, freshLease);
    const stderr = withoutMark(channel.stderr as Readable, mark, (told) => {
      const [pid = '', shell = ''] = told.split(' ');
      group.identify(Number(pid));
      if (shell !== '') this.#isPosix.set(client, posixShells.has(shell.slice(shell.lastIndexOf('/') + 1)));
    });
    const exit = exitOf(channel, stderr, { lost: lease.lost, abandoned: group.abandoned });
    return { stdout: channel, stderr, pid: 0, exit, terminate: (options) => group.end(options) };
  }
}

/**
 * What the login shell is given, and what comes on the standard input. Where it is a POSIX shell, it runs the command
 * itself. Where that is not known yet, or there are secrets, which must be no argument, a plain shell reads what to do,
 * and replaces itself by the login shell: that depends on nobody's quoting.
 */
function planOf(
  { cmd, secrets }: RemoteCommand,
  mark: string,
  isPosix: boolean,
): { line: string; input: string } {
  const exports = Object.entries(secrets).map(([name, value]) => `export ${name}=${quote(value)}\n`);
  if (isPosix && exports.length === 0)
    return { line: `echo "${mark}$$" >&2; exec </dev/null\n${cmd}`, input: '' };
  const run = `exec "\${SHELL:-/bin/sh}" -c ${quote(cmd)} </dev/null`;
  return { line: 'exec /bin/sh -s', input: `echo "${mark}$$ $SHELL" >&2\n${exports.join('')}${run}\n` };
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
function exitOf(
  channel: ClientChannel,
  stderr: Readable,
  { lost, abandoned }: { readonly lost: Promise<void>; readonly abandoned: Promise<void> },
): Promise<ProcessExit> {
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
  const onLost: ProcessExit = { code: lostCode, signal: null, reason: 'connection_lost' };
  channel.once('close', () => resolve(told ?? onLost));
  void lost.then(() => resolve(told ?? onLost));
  void abandoned.then(() => resolve(told ?? { code: null, signal: 'SIGKILL' }));
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
