import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { endWithUs } from './end-with-us.ts';

const sshdPath = '/usr/sbin/sshd';
const sftpServerPath = '/usr/lib/openssh/sftp-server';

export interface Sshd extends AsyncDisposable {
  /** An ssh_config that knows this host, with its key, as `sshAlias`. */
  configFile: string;
  /** Arguments of `ssh` that run `command` there, on a connection of its own. */
  sshArgs(command: string): string[];
}

export const sshAlias = 'bench';

/** An sshd on a loopback port with keys of its own and an empty home, so that no start-up file is timed. */
export async function startSshd(tempDir: string): Promise<Sshd> {
  const dir = mkdtempSync(join(tempDir, 'sshd-'));
  const key = (name: string) => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, name)]);
    return join(dir, name);
  };
  const hostKey = key('host_key');
  const userKey = key('user_key');
  copyFileSync(`${userKey}.pub`, join(dir, 'authorized_keys'));
  mkdirSync(join(dir, 'home'));
  const port = await freePort();
  writeFileSync(join(dir, 'sshd_config'), configLines(dir, hostKey, port).join('\n'));
  const configFile = writeClientConfig(dir, hostKey, port);
  const sshd = spawn(sshdPath, ['-D', '-e', '-f', join(dir, 'sshd_config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  endWithUs(sshd);
  await listening(sshd);
  return {
    configFile,
    sshArgs: (command) => [...clientOptions(dir, userKey, port), '127.0.0.1', command],
    async [Symbol.asyncDispose]() {
      const exited = once(sshd, 'exit');
      if (sshd.exitCode !== null || !sshd.kill('SIGTERM')) return;
      await exited;
    },
  };
}

function configLines(dir: string, hostKey: string, port: number): string[] {
  return [
    'ListenAddress 127.0.0.1',
    `Port ${port}`,
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${join(dir, 'authorized_keys')}`,
    'AuthenticationMethods publickey',
    'PermitRootLogin prohibit-password',
    'StrictModes no',
    'UsePAM no',
    'PidFile none',
    'PrintMotd no',
    'PrintLastLog no',
    `Subsystem sftp ${sftpServerPath}`,
    `SetEnv HOME=${join(dir, 'home')}`,
    '',
  ];
}

function writeClientConfig(dir: string, hostKey: string, port: number): string {
  const knownHosts = join(dir, 'alias_known_hosts');
  writeFileSync(knownHosts, `[127.0.0.1]:${port} ${readFileSync(`${hostKey}.pub`, 'utf8')}`);
  const lines = [
    `Host ${sshAlias}`,
    'HostName 127.0.0.1',
    `Port ${port}`,
    `User ${userInfo().username}`,
    `IdentityFile ${join(dir, 'user_key')}`,
    'IdentitiesOnly yes',
    `UserKnownHostsFile ${knownHosts}`,
    'GlobalKnownHostsFile none',
    'BatchMode yes',
    'LogLevel ERROR',
    '',
  ];
  writeFileSync(join(dir, 'ssh_config'), lines.join('\n'));
  return join(dir, 'ssh_config');
}

function clientOptions(dir: string, userKey: string, port: number): string[] {
  const options = ['StrictHostKeyChecking=accept-new', `UserKnownHostsFile=${join(dir, 'known_hosts')}`];
  options.push('IdentitiesOnly=yes', 'BatchMode=yes', 'LogLevel=ERROR', 'ControlPath=none');
  return ['-F', 'none', '-p', String(port), '-i', userKey, ...options.flatMap((option) => ['-o', option])];
}

async function listening(sshd: ChildProcess): Promise<void> {
  let log = '';
  const exited = once(sshd, 'exit').then(([code]) => {
    throw new Error(`sshd ended with ${code}: ${log}`);
  });
  const said = new Promise<void>((resolve) => {
    sshd.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-2000);
      if (log.includes('Server listening')) resolve();
    });
  });
  await Promise.race([said, exited]);
  exited.catch(() => {}); // its later exit is the one we cause
}

/** sshd takes no port 0. Another process may take the port before sshd does: then starting it fails and says so. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port');
  return address.port;
}
