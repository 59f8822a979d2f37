import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../testing/processes.ts';

/** A real ssh-agent without keys. Dispose ends it. */
export interface SshAgent extends AsyncDisposable {
  readonly socket: string;
  add(keyFile: string, passphrase?: string): void;
}

export async function startSshAgent(): Promise<SshAgent> {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-agent-'));
  const socket = join(folder, 'agent');
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  const end = () => agent.kill('SIGKILL');
  process.once('exit', end);
  await until('the agent listens', () => existsSync(socket));
  return {
    socket,
    add(keyFile, passphrase = '') {
      const askpass = join(folder, 'askpass');
      writeFileSync(askpass, `#!/bin/sh\necho '${passphrase}'\n`, { mode: 0o700 });
      const env = {
        ...process.env,
        SSH_AUTH_SOCK: socket,
        SSH_ASKPASS: askpass,
        SSH_ASKPASS_REQUIRE: 'force',
      };
      execFileSync('ssh-add', ['-q', keyFile], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', end);
      const exited = once(agent, 'exit');
      end();
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
