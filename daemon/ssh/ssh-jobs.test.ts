import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LoadedProject } from '../contract/projects.ts';
import type { Receipt, ReceiptPage } from '../contract/receipts.ts';
import type { ExitFrame, JobFrame, JobListing, RecentCommand } from '../contract/shell.ts';
import type { AcceptedHostKey, PulledFile, SshHost, SshTest } from '../contract/ssh.ts';
import { bootWithKey, type SecretDaemon } from '../secrets/testing/secret-daemon.ts';
import { collectFrames, firstFrame, readFrames } from '../testing/client.ts';
import { isRunning, until } from '../testing/processes.ts';
import { type Sshd, startSshd, whyNoSshd } from '../testing/sshd.ts';

const missing = whyNoSshd();
if (missing !== undefined) console.info(`skipped: ${missing}`);

let sshd: Sshd;
let at: SecretDaemon;
let runs = 0;

beforeAll(async () => {
  if (missing !== undefined) return;
  sshd = await startSshd();
  const sshConfig = join(sshd.folder, 'config');
  writeFileSync(sshConfig, `${sshd.configEntry('box')}\n${sshd.configEntry('-dash')}\n`);
  at = await bootWithKey({ sshConfig, overrides: { graceMs: 300 } });
});

afterAll(async () => {
  if (missing !== undefined) return;
  console.info(`ran ${runs} commands on a real sshd`);
  await at[Symbol.asyncDispose]();
  await sshd[Symbol.asyncDispose]();
});

const sshTest = test.skipIf(missing !== undefined);

async function start(cmd: string, more: object = {}): Promise<Response> {
  runs += 1;
  return at.admin.send('POST', '/api/shell/ssh-run', { host: 'box', cmd, ...more });
}

async function run(
  cmd: string,
  more?: object,
): Promise<{ frames: JobFrame[]; exit: ExitFrame; jobId: string }> {
  const response = await start(cmd, more);
  if (!response.ok) throw new Error(await response.text());
  const frames = await collectFrames(response);
  return { frames, exit: frames.at(-1) as ExitFrame, jobId: response.headers.get('x-job-id') ?? '' };
}

function lines(frames: readonly JobFrame[], type: 'stdout' | 'stderr' = 'stdout'): string[] {
  return frames.flatMap((frame) => (frame.type === type ? [frame.line] : []));
}

sshTest('lists the hosts of the configuration, and signs in to one', async () => {
  const hosts = await at.admin.json<SshHost[]>('GET', '/api/shell/ssh-hosts');
  expect(hosts.map(({ host, hostname, port, supported }) => [host, hostname, port, supported])).toEqual([
    ['box', '127.0.0.1', sshd.port, true],
    ['-dash', '127.0.0.1', sshd.port, true],
  ]);
  const tested = await at.admin.json<SshTest>('POST', '/api/shell/ssh-hosts/box/test');
  expect(tested).toMatchObject({
    server: expect.stringContaining('OpenSSH'),
    fingerprint: expect.stringMatching(/^SHA256:/),
  });
  expect(await at.admin.problem('POST', '/api/shell/ssh-hosts/nobody/test')).toMatchObject({
    code: 'unknown_ssh_host',
    httpStatus: 404,
  });
});

sshTest('streams both outputs of a command, and its exit code with a receipt of its own', async () => {
  const { frames, exit } = await run('echo out; echo err >&2; exit 42');
  expect(lines(frames)).toEqual(['out']);
  expect(lines(frames, 'stderr')).toEqual(['err']);
  expect(exit).toMatchObject({ code: 42, files_changed: 0, receipt_id: expect.any(String) });
  const receipt = await at.admin.json<Receipt>('GET', `/api/receipts/${exit.receipt_id}`);
  expect(receipt).toMatchObject({
    tool: 'ssh.run',
    action: 'apply',
    command: { cmd: 'echo out; echo err >&2; exit 42', host: 'box', exit_code: 42 },
    files: [],
    diffs: [],
  });
  expect(await at.admin.json('POST', `/api/receipts/${receipt.run_id}/verify`)).toMatchObject({
    valid: true,
  });
});

sshTest(
  'gives a command no input, an alias that begins with a dash no meaning, and $(…) none on this side',
  async () => {
    expect(lines((await run('cat; echo "ended: $?"')).frames)).toEqual(['ended: 0']);
    expect(lines((await run('echo hi', { host: '-dash' })).frames)).toEqual(['hi']);
    expect(lines((await run("echo '$(id -u)'")).frames)).toEqual(['$(id -u)']);
  },
);

sshTest('lists a running command with its host, and takes its stream up again', async () => {
  const response = await start('echo first; until [ -e go ]; do sleep 0.05; done; echo last', {});
  const jobId = response.headers.get('x-job-id');
  await firstFrame(response, (frame) => frame.type === 'stdout');
  const jobs = await at.admin.json<JobListing[]>('GET', '/api/shell/jobs');
  expect(jobs.find(({ job_id }) => job_id === jobId)).toMatchObject({
    host: 'box',
    pid: 0,
    state: 'running',
  });
  await run(`touch go`);
  const again = await collectFrames(await at.admin.send('GET', `/api/shell/jobs/${jobId}/stream`));
  expect(lines(again)).toEqual(['first', 'last']);
  await run('rm -f go');
  const [recent] = (await at.admin.json<RecentCommand[]>('GET', '/api/shell/recent')).filter(
    ({ job_id }) => job_id === jobId,
  );
  expect(recent).toMatchObject({ host: 'box', code: 0 });
});

sshTest(
  'a cancelled command that takes no notice of SIGTERM is gone within the grace period and two seconds',
  async () => {
    const response = await start(`trap '' TERM; echo $$; sleep 1000 & echo $!; wait; sleep 1000`);
    const jobId = response.headers.get('x-job-id');
    const pids: number[] = [];
    for await (const frame of readFrames(response)) {
      if (frame.type === 'stdout') pids.push(Number(frame.line));
      if (pids.length === 2) break;
    }
    expect(pids.every((pid) => isRunning(pid))).toBe(true);
    const cancelled = await at.admin.json('POST', `/api/shell/cancel/${jobId}`);
    expect(cancelled).toMatchObject({ signal: 'SIGKILL', code: 137 });
    await until('the remote group is gone', () => pids.every((pid) => !isRunning(pid)), 2000);
  },
);

sshTest(
  'a command over its time is ended with 124, one that dies of a signal with 128 and its number',
  async () => {
    const late = await run('sleep 100', { timeout: 1 });
    expect(late.exit).toMatchObject({ code: 124, reason: 'timeout' });
    expect((await run('kill -SEGV $$')).exit).toMatchObject({ code: 139, signal: 'SIGSEGV' });
    for (const timeout of [0, 301])
      expect(await (await start('true', { timeout })).json()).toMatchObject({ code: 'timeout_out_of_range' });
  },
);

sshTest('what the command leaves in the background does not hold its end up, and is ended', async () => {
  const { frames, exit } = await run('sleep 30 & echo $!');
  expect(exit.code).toBe(0);
  const [pid = 0] = lines(frames).map(Number);
  expect(pid).toBeGreaterThan(1);
  await until('it is ended', () => !isRunning(pid), 3000);
});

sshTest(
  'four commands of a workspace run at once, the fifth is refused, and a place is free when one ends',
  async () => {
    const running = await Promise.all(Array.from({ length: 4 }, () => start('echo up; sleep 60')));
    await Promise.all(running.map((response) => firstFrame(response, (frame) => frame.type === 'stdout')));
    const fifth = await start('true');
    expect([fifth.status, await fifth.json()]).toEqual([
      429,
      expect.objectContaining({ code: 'too_many_ssh_jobs' }),
    ]);
    const other = await at.keyed('agent');
    await other.json<LoadedProject>('POST', '/api/project/load', { path: sshd.home });
    const elsewhere = await other.send('POST', '/api/shell/ssh-run', { host: 'box', cmd: 'true' });
    expect(elsewhere.status).toBe(200);
    await elsewhere.text();
    await at.admin.json('POST', `/api/shell/cancel/${running[0]?.headers.get('x-job-id')}`);
    await until('a place is free', async () => {
      const response = await start('true');
      await response.text();
      return response.status === 200;
    });
    for (const response of running.slice(1))
      await at.admin.json('POST', `/api/shell/cancel/${response.headers.get('x-job-id')}`);
  },
  30_000,
);

sshTest('five sign-ins at once share a connection', async () => {
  const before = sshd.connections();
  await Promise.all(Array.from({ length: 4 }, () => run('echo hi')));
  expect(sshd.connections() - before).toBeLessThanOrEqual(1);
});

sshTest(
  'secrets reach a command only where they are named, in its environment and no argument; they are masked',
  async () => {
    await at.admin.json('POST', '/api/secrets/REMOTE_TOKEN', { value: "it's-a-remote-secret" });
    await at.admin.json('POST', '/api/secrets/OTHER_TOKEN', { value: 'another-secret' });
    expect(lines((await run('echo "[$REMOTE_TOKEN]"')).frames)).toEqual(['[]']);
    const named = await run(
      `echo "[$REMOTE_TOKEN][$OTHER_TOKEN]" it\\'s-a-remote-secret; cat /proc/$$/cmdline /proc/$PPID/cmdline | tr '\\0' ' ' | grep -c remote-secret.*remote-secret`,
      { secrets: ['REMOTE_TOKEN'] },
    );
    expect(lines(named.frames)[0]).toBe('[***][] ***');
    expect(named.exit.masked).toBe(2);
    const { receipts } = await at.admin.json<ReceiptPage>('GET', '/api/receipts?tool=ssh.run&limit=1');
    expect(JSON.stringify(receipts)).not.toContain('a-remote-secret');
    expect(await (await start('true', { secrets: ['NOPE'] })).json()).toMatchObject({
      code: 'unknown_secret',
    });
  },
);

sshTest(
  'output that is no UTF-8 becomes U+FFFD, and a million lines come whole and in order',
  async () => {
    expect(lines((await run(`printf 'a\\377b\\n'`)).frames)).toEqual(['a\ufffdb']);
    let count = 0;
    let inOrder = true;
    const response = await start('seq 1000000');
    for await (const frame of readFrames(response))
      if (frame.type === 'stdout') {
        count += 1;
        inOrder &&= frame.line === String(count);
      }
    expect([count, inOrder]).toEqual([1_000_000, true]);
  },
  60_000,
);

sshTest(
  'a host key that is not known is refused with its fingerprint, and taken once a person accepted it',
  async () => {
    await using stranger = await startSshd();
    const config = join(sshd.folder, 'config');
    const entry = stranger.configEntry('stranger', [`UserKnownHostsFile ${join(stranger.folder, 'none')}`]);
    writeFileSync(config, `${sshd.configEntry('box')}\n${sshd.configEntry('-dash')}\n${entry}\n`);
    const response = await start('echo hi', { host: 'stranger' });
    const problem = await response.json();
    expect([response.status, problem]).toEqual([
      409,
      expect.objectContaining({
        code: 'ssh_host_key_unknown',
        host: 'stranger',
        hop: 'stranger',
        port: stranger.port,
      }),
    ]);
    const { fingerprint } = problem;
    const wrong = `SHA256:${'A'.repeat(43)}`;
    const path = '/api/shell/ssh-hosts/stranger/accept-key';
    expect(await at.admin.problem('POST', path, { fingerprint })).toMatchObject({
      code: 'insufficient_scope',
    });
    expect(await at.panel.problem('POST', path, { fingerprint: wrong })).toMatchObject({ code: 'conflict' });
    expect(await at.panel.json<AcceptedHostKey>('POST', path, { fingerprint })).toMatchObject({
      fingerprint,
    });
    expect(lines((await run('echo hi', { host: 'stranger' })).frames)).toEqual(['hi']);
  },
);

sshTest(
  'the loss of the connection ends the command and says so, and the next command connects anew',
  async () => {
    const second = await startSshd();
    const config = join(sshd.folder, 'config');
    writeFileSync(config, `${sshd.configEntry('box')}\n${second.configEntry('frail')}\n`);
    const response = await start('echo up; sleep 60', { host: 'frail' });
    const frames = collectFrames(response);
    await until('it runs', async () =>
      (await at.admin.json<JobListing[]>('GET', '/api/shell/jobs')).some(({ host }) => host === 'frail'),
    );
    await second.kill();
    expect((await frames).at(-1)).toMatchObject({ code: 255, reason: 'connection_lost' });
    const refused = await start('true', { host: 'frail' });
    expect(await refused.json()).toMatchObject({ code: 'ssh_connect_failed' });
    await second[Symbol.asyncDispose]();
    expect(lines((await run('echo again')).frames)).toEqual(['again']);
  },
);

sshTest('a server that lets one session through a connection is given a connection for each', async () => {
  await using narrow = await startSshd({ config: ['MaxSessions 1'] });
  writeFileSync(join(sshd.folder, 'config'), `${sshd.configEntry('box')}\n${narrow.configEntry('narrow')}\n`);
  writeFileSync(join(narrow.home, 'log.txt'), 'a line\n');
  const held = await start('echo up; sleep 60', { host: 'narrow' });
  await firstFrame(held, (frame) => frame.type === 'stdout');
  expect(lines((await run('echo second', { host: 'narrow' })).frames)).toEqual(['second']);
  const pulled = await at.admin.json<PulledFile>('POST', '/api/shell/ssh-pull', {
    host: 'narrow',
    remote_path: 'log.txt',
  });
  expect(pulled).toMatchObject({ path: 'pulled/narrow/log.txt', size: 7 });
  const again = await at.admin.json<PulledFile>('POST', '/api/shell/ssh-pull', {
    host: 'narrow',
    remote_path: `${narrow.home}/log.txt`,
  });
  expect(again).toEqual({ ...pulled, receipt_id: null });
  await at.admin.json('POST', `/api/shell/cancel/${held.headers.get('x-job-id')}`);
});
