import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

export const sshdPath = '/usr/sbin/sshd';
/** Of util-linux, which is on every Debian. */
const setpriv = '/usr/bin/setpriv';

/** Runs sshd with these lines of sshd_config and a port; it listens once this resolves. */
export async function spawnSshd(folder: string, lines: readonly string[], fixedPort: number | undefined) {
  const attempts = fixedPort === undefined ? 5 : 1;
  for (let attempt = 1; ; attempt++) {
    const port = fixedPort ?? (await freePort());
    writeFileSync(join(folder, 'sshd_config'), [...lines, `Port ${port}`, ''].join('\n'));
    const command = [sshdPath, '-D', '-e', '-f', join(folder, 'sshd_config')];
    // It ends with us, also when we are killed.
    const [program = sshdPath, ...args] = existsSync(setpriv)
      ? [setpriv, '--pdeathsig', 'KILL', ...command]
      : command;
    const daemon = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const end = () => daemon.kill('SIGKILL');
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

/** Ends it with every connection and command, at once. */
export async function endSshd(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exited = once(daemon, 'exit');
  // Connections and their commands lead sessions of their own: found while their parent is still there.
  const below = daemon.pid === undefined ? [] : descendants(daemon.pid);
  daemon.kill('SIGKILL');
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
