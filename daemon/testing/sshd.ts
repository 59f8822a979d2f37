import { execFileSync } from 'node:child_process';
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
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { until } from './processes.ts';
import { endSshd, spawnSshd, sshdPath } from './sshd-process.ts';

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
  /** What it logged, at level VERBOSE; it arrives a moment after what it is about. */
  log(): string;
  /** Resolves once it has logged `text`, behind the first `after` characters. */
  logged(text: string, after?: number): Promise<void>;
  /** TCP connections it has taken, by its log. */
  connections(): number;
  /** Ends the daemon and every connection at once, as a machine that crashes; the folder stays until dispose. */
  kill(): Promise<void>;
}

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
  const { daemon, port, log } = await spawnSshd(folder, lines, options.port);
  const kill = () => endSshd(daemon);
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
    logged: (text, after = 0) => until(`sshd logs “${text}”`, () => log().slice(after).includes(text)),
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
