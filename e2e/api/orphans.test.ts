import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ListeningEvent } from '../../daemon/contract/daemon.ts';
import type { LoadedProject } from '../../daemon/contract/projects.ts';
import type { RecentCommand } from '../../daemon/contract/shell.ts';
import { type Client, client, readFrames } from '../../daemon/testing/client.ts';
import { isRunning, until } from '../../daemon/testing/processes.ts';

const daemonPath = join(import.meta.dirname, '../../dist/daemon/tallystick.js');
let base = '';

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'tallystick-orphans-'));
});

afterAll(() => rm(base, { recursive: true, force: true }));

async function startDaemon(): Promise<{
  readonly listening: ListeningEvent;
  readonly panel: Client;
  kill(signal: NodeJS.Signals): Promise<void>;
}> {
  const child = spawn(
    process.execPath,
    [daemonPath, 'serve', '--json', '--port', '0', '--data-dir', join(base, 'data')],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const [line] = await once(child.stdout, 'data');
  const listening: ListeningEvent = JSON.parse(String(line));
  const session = await client(listening.url).json<{ session_token: string }>('POST', '/api/session', {
    token: listening.login_token,
  });
  const kill = async (signal: NodeJS.Signals) => {
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return { listening, panel: client(listening.url, session.session_token), kill };
}

test('what a daemon that was killed left running is ended by the next one, wherever it has strayed', async () => {
  const first = await startDaemon();
  const projectDir = await mkdtemp(join(base, 'project-'));
  await writeFile(
    join(projectDir, 'stray.sh'),
    `echo $$
     sleep 1000 & echo $!
     setsid sh -c 'echo $$; trap "" TERM HUP PIPE; while :; do sleep 0.2; done' &
     (setsid sh -c '(sh -c "echo \\$\\$; exec sleep 1000" &) ' &)
     sleep 0.4
     echo all
     sleep 1000`,
  );
  const project = await first.panel.json<LoadedProject>('POST', '/api/project/load', { path: projectDir });
  const response = await first.panel.send('POST', '/api/shell/run', { cmd: 'sh stray.sh' });
  const pids: number[] = [];
  for await (const frame of readFrames(response)) {
    if (frame.type !== 'stdout') throw new Error(`unexpected ${JSON.stringify(frame)}`);
    if (frame.line === 'all') break;
    pids.push(Number(frame.line));
  }
  expect(pids).toHaveLength(4);
  await first.kill('SIGKILL');
  expect(pids.filter(isRunning).length).toBeGreaterThan(0);

  const second = await startDaemon();
  expect(pids.filter(isRunning)).toEqual([]);
  const headers = { 'x-workspace-id': project.ws_id };
  const status = await second.panel.json<{ notices: string[] }>('GET', '/api/status');
  expect(status.notices.join('\n')).toContain('what it left running was ended: 1 command');
  await until('the command is closed in the recent list', async () => {
    const [command] = await second.panel.json<RecentCommand[]>('GET', '/api/shell/recent', undefined, {
      headers,
    });
    return command === undefined || command.finished_at !== null;
  });
  await second.kill('SIGTERM');

  const third = await startDaemon();
  expect((await third.panel.json<{ notices: string[] }>('GET', '/api/status')).notices).toEqual([]);
  await third.kill('SIGTERM');
});
