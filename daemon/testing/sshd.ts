import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

export type SshKeyType = 'ed25519' | 'ecdsa' | 'rsa';

export interface SshdOptions {
  /** Host keys to make and to offer; default ed25519 alone. */
  readonly hostKeyTypes?: readonly SshKeyType[];
  /** Public keys (lines) that may sign in, beside the user key made here. */
  readonly authorizedKeys?: readonly string[];
  /** Lines of sshd_config that come first, so that they win; a function where they need the host keys made before. */
  readonly config?: readonly string[] | ((made: SshdFiles) => readonly string[]);
  /** A port to take in place of a free one. */
  readonly port?: number;
}

export interface SshdFiles {
  /** All of it is below this temporary folder, removed on dispose. */
  readonly folder: string;
  /** Path of a private host key; `.pub` beside it. */
  hostKey(type: SshKeyType): string;
}

/** Debian's sshd on a loopback port. Dispose ends it, its connections and its folder. */
export interface Sshd extends AsyncDisposable, SshdFiles {
  readonly host: '127.0.0.1';
  readonly port: number;
  readonly user: string;
  /** Start folder of SFTP and $HOME of commands; their working folder is the account's own home. */
  readonly home: string;
  /** Path of an ed25519 key without passphrase that may sign in; `.pub` beside it. */
  readonly userKey: string;
  /** Path; a line written to it counts from the next sign-in on. */
  readonly authorizedKeys: string;
  readonly pid: number;
  /** Lines for a known_hosts file, one a host key; default name `[127.0.0.1]:port`. */
  knownHosts(name?: string): string;
  /** An entry of an ssh_config for `alias`, that knows the host's keys; `lines` come first and so win. */
  configEntry(alias: string, lines?: readonly string[]): string;
  /** What it logged, at level VERBOSE. */
  log(): string;
  /** TCP connections it has taken. */
  connections(): number;
  /** Ends the daemon and every connection at once, as a machine that crashes; the folder stays until dispose. */
  kill(): Promise<void>;
}

const sshdPath = '/usr/sbin/sshd';
const privilegeSeparationDir = '/run/sshd';

/** Why this machine can't be the ssh peer, or undefined when it can: a test that skips prints it. */
export function whyNoSshd(): string | undefined {
  const missing = [sshdPath, '/usr/bin/ssh-keygen', '/usr/bin/ssh-agent'].filter((path) => !existsSync(path));
  if (missing.length > 0)
    return `${missing.join(', ')} is not installed (Debian: openssh-server, openssh-client)`;
  try {
    accessSync(sshdPath, constants.X_OK);
    if (userInfo().uid === 0) mkdirSync(privilegeSeparationDir, { recursive: true, mode: 0o755 });
    return undefined;
  } catch (error) {
    return `sshd can't be started: ${error}`;
  }
}

/** Listens once it resolves. A free port that another process takes first is tried again. */
export async function startSshd(options: SshdOptions = {}): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-sshd-'));
  const { hostKeyTypes = ['ed25519'], authorizedKeys = [] } = options;
  const files: SshdFiles = { folder, hostKey: (type) => join(folder, `host_${type}`) };
  for (const type of hostKeyTypes) makeSshKey(files.hostKey(type), { type });
  const userKey = makeSshKey(join(folder, 'user_key'));
  mkdirSync(join(folder, 'home'));
  const allowed = [readFileSync(`${userKey}.pub`, 'utf8').trim(), ...authorizedKeys];
  writeFileSync(join(folder, 'authorized_keys'), `${allowed.join('\n')}\n`);
  const first = typeof options.config === 'function' ? options.config(files) : (options.config ?? []);
  const lines = [
    ...first,
    ...hostKeyTypes.map((type) => `HostKey ${files.hostKey(type)}`),
    ...settings(folder),
  ];
  const { daemon, port, log } = await listen(folder, lines, options.port);
  const kill = () => endOf(daemon);
  const knownHosts = (name = `[127.0.0.1]:${port}`) =>
    hostKeyTypes.map((type) => `${name} ${readFileSync(`${files.hostKey(type)}.pub`, 'utf8')}`).join('');
  writeFileSync(join(folder, 'known_hosts'), knownHosts());
  return {
    ...files,
    host: '127.0.0.1',
    port,
    user: userInfo().username,
    home: join(folder, 'home'),
    userKey,
    authorizedKeys: join(folder, 'authorized_keys'),
    pid: daemon.pid ?? 0,
    knownHosts,
    configEntry: (alias, extra = []) => configEntry({ alias, port, folder, userKey }, extra),
    log,
    connections: () => log().match(/^Connection from /gm)?.length ?? 0,
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface SshKeyOptions {
  readonly type?: SshKeyType;
  readonly bits?: number;
  readonly passphrase?: string;
  /** Default: OpenSSH's own. */
  readonly format?: 'PEM' | 'PKCS8';
}

/** A key pair by ssh-keygen: `path` and `path.pub`. @returns path */
export function makeSshKey(path: string, options: SshKeyOptions = {}): string {
  const { type = 'ed25519', bits = type === 'rsa' ? 2048 : undefined, passphrase = '', format } = options;
  const size = bits === undefined ? [] : ['-b', String(bits)];
  const shape = format === undefined ? [] : ['-m', format];
  execFileSync('ssh-keygen', [
    '-q',
    '-t',
    type,
    ...size,
    ...shape,
    '-N',
    passphrase,
    '-C',
    'test',
    '-f',
    path,
  ]);
  return path;
}

function settings(folder: string): string[] {
  return [
    'ListenAddress 127.0.0.1',
    `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin yes',
    'StrictModes no',
    'UsePAM no',
    'UseDNS no',
    'PidFile none',
    'PrintMotd no',
    'PrintLastLog no',
    'LogLevel VERBOSE',
    'MaxStartups 100',
    `Subsystem sftp internal-sftp -d ${join(folder, 'home')}`,
    `SetEnv HOME=${join(folder, 'home')}`,
    '',
  ];
}

function configEntry(
  sshd: { alias: string; port: number; folder: string; userKey: string },
  extra: readonly string[],
): string {
  const lines = [
    ...extra,
    'HostName 127.0.0.1',
    `Port ${sshd.port}`,
    `User ${userInfo().username}`,
    `IdentityFile ${sshd.userKey}`,
    'IdentitiesOnly yes',
    `UserKnownHostsFile ${join(sshd.folder, 'known_hosts')}`,
    'GlobalKnownHostsFile none',
  ];
  return `Host ${sshd.alias}\n${lines.map((line) => `  ${line}\n`).join('')}\n`;
}

async function listen(folder: string, lines: readonly string[], fixedPort: number | undefined) {
  const attempts = fixedPort === undefined ? 5 : 1;
  for (let attempt = 1; ; attempt++) {
    const port = fixedPort ?? (await freePort());
    writeFileSync(join(folder, 'sshd_config'), [...lines, `Port ${port}`, ''].join('\n'));
    // Its own session: ending the group then ends the connections' processes too.
    const daemon = spawn(sshdPath, ['-D', '-e', '-f', join(folder, 'sshd_config')], {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    const end = () => killGroup(daemon);
    process.once('exit', end);
    daemon.once('exit', () => process.off('exit', end));
    let text = '';
    daemon.stderr?.setEncoding('utf8').on('data', (part: string) => {
      text += part.replaceAll('\r', '');
    });
    const log = () => text;
    try {
      await listening(daemon, log);
      return { daemon, port, log };
    } catch (error) {
      if (attempt === attempts || !text.includes('Address already in use')) throw error;
    }
  }
}

async function listening(daemon: ChildProcess, log: () => string): Promise<void> {
  const waiting = new AbortController();
  const exited = once(daemon, 'exit', { signal: waiting.signal }).then(([code]) => {
    throw new Error(`sshd ended with ${code}: ${log()}`);
  });
  const said = new Promise<void>((resolve) => {
    daemon.stderr?.on('data', () => log().includes('Server listening') && resolve());
  });
  try {
    await Promise.race([said, exited]);
  } finally {
    exited.catch(() => {}); // its later exit is the one we cause
    waiting.abort();
  }
}

async function endOf(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exited = once(daemon, 'exit');
  // Connections and their commands lead sessions of their own: found while their parent is still there.
  const below = daemon.pid === undefined ? [] : descendants(daemon.pid);
  killGroup(daemon);
  for (const pid of below) killQuietly(pid);
  await exited;
}

function descendants(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
      .trim()
      .split(' ')
      .filter(Boolean);
    return children.flatMap((child) => [Number(child), ...descendants(Number(child))]);
  } catch {
    return []; // It ended meanwhile.
  }
}

function killGroup(daemon: ChildProcess): void {
  if (daemon.pid !== undefined) killQuietly(-daemon.pid);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Already gone, which is what was wanted.
  }
}

/** sshd takes no port 0. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port');
  return address.port;
}
