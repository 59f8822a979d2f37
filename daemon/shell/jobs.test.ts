import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { boot } from '../testing/boot.ts';
import { collectFrames, readFrames, withoutReceipt } from '../testing/client.ts';
import { isRunning, until } from '../testing/processes.ts';

/** Lines of one stream, partial frames joined. */
function lines(frames: readonly { type: string; line?: string }[], type = 'stdout'): string[] {
  return frames.flatMap((frame) => (frame.type === type && frame.line !== undefined ? [frame.line] : []));
}

/** Starts a command and hands over its id and its frames as they come. */
async function start(agent: { send: Awaited<ReturnType<typeof boot>>['panel']['send'] }, body: object) {
  const response = await agent.send('POST', '/api/shell/run', body);
  expect(response.status).toBe(200);
  return { jobId: response.headers.get('x-job-id') ?? '', response, frames: readFrames(response) };
}

async function nextLine(frames: AsyncGenerator<{ type: string; line?: string }>): Promise<string> {
  const { value } = await frames.next();
  if (value?.line === undefined) throw new Error(`no line but ${JSON.stringify(value)}`);
  return value.line;
}

async function rest<T>(frames: AsyncGenerator<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

describe('a command', () => {
  test('streams stdout and stderr as numbered frames and ends with its exit code', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const response = await agent.send('POST', '/api/shell/run', { cmd: 'echo out; echo err >&2; exit 3' });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('x-job-id')).toMatch(/^j_[0-9a-hjkmnp-tv-z]{16}$/);
    const frames = await rest(readFrames(response));
    expect(frames.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(frames.find((frame) => frame.type === 'stdout')).toMatchObject({ line: 'out' });
    expect(frames.find((frame) => frame.type === 'stderr')).toMatchObject({ line: 'err' });
    expect(withoutReceipt(frames.at(-1))).toEqual({ id: 3, type: 'exit', code: 3 });
  });

  test('runs in the workspace root or in a folder of it, and nowhere else', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    mkdirSync(join(booted.projectDir, 'a b/c'), { recursive: true });
    symlinkSync('a b', join(booted.projectDir, 'inner'));
    symlinkSync('/etc', join(booted.projectDir, 'outer'));
    writeFileSync(join(booted.projectDir, 'file'), '');
    const pwd = async (cwd?: string) =>
      lines((await agent.run({ cmd: 'pwd -P', ...(cwd === undefined ? {} : { cwd }) })).frames)[0];
    expect(await pwd()).toBe(booted.projectDir);
    expect(await pwd('.')).toBe(booted.projectDir);
    expect(await pwd('')).toBe(booted.projectDir);
    expect(await pwd('a b/c')).toBe(join(booted.projectDir, 'a b/c'));
    expect(await pwd('inner/c/..')).toBe(join(booted.projectDir, 'a b'));
    const code = async (cwd: string) =>
      (await agent.problem('POST', '/api/shell/run', { cmd: 'pwd', cwd })).code;
    for (const outside of ['..', '../', 'a b/../..', '/', '/etc', booted.projectDir, 'outer', 'outer/ssl'])
      expect(await code(outside), outside).toBe('path_outside_workspace');
    for (const missing of ['nope', 'file', 'x'.repeat(4096)])
      expect(await code(missing), missing.slice(0, 20)).toBe('folder_not_found');
    expect(await code('a\0b')).toBe('invalid_request');
    expect(await code('x'.repeat(4097))).toBe('invalid_request');
  });

  test('stays in the folder that was checked when its name is swapped for a link out of the workspace', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const rounds = 200;
    mkdirSync(join(booted.projectDir, 'real'));
    symlinkSync('/etc', join(booted.projectDir, 'evil'));
    symlinkSync('real', join(booted.projectDir, 'swap'));
    const swapper = await start(agent, {
      cmd: 'echo go; while :; do ln -sfn evil swap; ln -sfn real swap; done',
    });
    await nextLine(swapper.frames);
    const seen = new Map<string, number>();
    for (let round = 0; round < rounds; round += 1) {
      const response = await agent.send('POST', '/api/shell/run', { cmd: 'pwd -P', cwd: 'swap' });
      const outcome = response.ok
        ? (lines(await collectFrames(response))[0] ?? '')
        : (await response.json()).code;
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    }
    await agent.send('POST', `/api/shell/cancel/${swapper.jobId}`);
    await rest(swapper.frames);
    seen.delete('folder_not_found');
    console.log(`swapped folder: ${rounds} tries, ${JSON.stringify(Object.fromEntries(seen))}`);
    expect([...seen.keys()].toSorted()).toEqual(expect.not.arrayContaining(['/etc']));
    expect(seen.size).toBeGreaterThan(0);
  });

  test('gets an allowlist of the environment, no input, and no terminal', async () => {
    const environment = {
      PATH: `/work/node_modules/.bin:${process.env.PATH}`,
      HOME: '/home/someone',
      LC_ALL: 'C.UTF-8',
      SERVICE_SECRET_KEY: 'leak',
      AWS_SECRET_ACCESS_KEY: 'leak',
      TALLYSTICK_PORT: '1',
      NODE_OPTIONS: '--leak',
      LD_PRELOAD: '/leak.so',
      BASH_ENV: '/leak',
      ENV: '/leak',
      DBUS_SESSION_BUS_ADDRESS: 'unix:leak',
      SSH_AUTH_SOCK: '/leak',
      npm_config_leak: 'leak',
    };
    await using booted = await boot({ environment });
    const agent = await booted.agent();
    const { jobId, frames } = await agent.run({
      cmd: 'env; cat; test -t 0 || test -t 1 || echo no terminal',
    });
    const names = lines(frames).flatMap((line) => (line.includes('=') ? [line.split('=', 1)[0]] : []));
    expect(names.toSorted()).toEqual([
      'GIT_PAGER',
      'GIT_TERMINAL_PROMPT',
      'HOME',
      'LC_ALL',
      'PAGER',
      'PATH',
      'PWD',
      'TALLYSTICK_JOB_ID',
      'TERM',
    ]);
    expect(lines(frames).join('\n')).not.toContain('leak');
    expect(lines(frames).join('\n')).not.toContain('node_modules');
    expect(lines(frames)).toContain(`TALLYSTICK_JOB_ID=${jobId}`);
    expect(lines(frames)).toContain('no terminal');
  });

  test('takes a timeout from 1 to 300 seconds', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    for (const timeout of [1, 300])
      expect(withoutReceipt((await agent.run({ cmd: 'true', timeout })).frames)).toEqual([
        { type: 'exit', code: 0 },
      ]);
    for (const timeout of [0, 301, -1, 1e9])
      expect((await agent.problem('POST', '/api/shell/run', { cmd: 'true', timeout })).code).toBe(
        'timeout_out_of_range',
      );
    for (const timeout of [1.5, '5', null])
      expect((await agent.problem('POST', '/api/shell/run', { cmd: 'true', timeout })).code).toBe(
        'invalid_request',
      );
  });

  test('may be 64 KiB long, and not a byte longer', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const cmd = (bytes: number) => `: ${'é'.repeat((bytes - 2) / 2)}`;
    expect(withoutReceipt((await agent.run({ cmd: cmd(65_536) })).frames)).toEqual([
      { type: 'exit', code: 0 },
    ]);
    expect((await agent.problem('POST', '/api/shell/run', { cmd: `${cmd(65_536)}x` })).code).toBe(
      'invalid_request',
    );
  });

  test('is refused when 64 run in the workspace, and taken again when one has ended', async () => {
    await using booted = await boot({ overrides: { settleMs: 20_000 } });
    const agent = await booted.agent();
    const running = await Promise.all(
      Array.from({ length: 64 }, () => start(agent, { cmd: 'echo up; sleep 1000' })),
    );
    for (const { frames } of running) expect(await nextLine(frames)).toBe('up');
    expect((await agent.problem('POST', '/api/shell/run', { cmd: 'true' })).code).toBe('too_many_jobs');
    expect(await agent.json<unknown[]>('GET', '/api/shell/jobs')).toHaveLength(64);
    await agent.send('POST', `/api/shell/cancel/${running[0]?.jobId}`);
    expect((await agent.run({ cmd: 'true' })).frames).toEqual([
      {
        type: 'exit',
        code: 0,
        run_id: expect.stringMatching(/^run_[0-9a-z]{16}$/),
        receipt_id: null,
        files_changed: 0,
      },
    ]);
    await Promise.all(running.slice(1).map(({ jobId }) => agent.send('POST', `/api/shell/cancel/${jobId}`)));
    await Promise.all(running.map(({ frames }) => rest(frames)));
  });

  test('does not hold its exit frame up for a receipt that is late; the receipt comes all the same', async () => {
    await using booted = await boot({ overrides: { settleMs: 0 } });
    const agent = await booted.agent();
    const { frames } = await agent.run({ cmd: 'echo made > file.txt' });
    const [exit] = frames;
    expect(exit).toMatchObject({ type: 'exit', code: 0, run_id: expect.stringMatching(/^run_/) });
    const run = exit !== undefined && 'run_id' in exit ? exit.run_id : '';
    await until('the receipt is there', async () => {
      const page = await agent.json<{ receipts: unknown[] }>('GET', `/api/receipts?run_id=${run}`);
      return page.receipts.length === 1;
    });
  });

  test('leaves no descriptor and no file of its own behind (200 commands)', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const { readdirSync } = await import('node:fs');
    await agent.run({ cmd: 'true' });
    const before = readdirSync('/proc/self/fd').length;
    for (let round = 0; round < 200; round += 1) await agent.run({ cmd: 'echo x' });
    await until(
      'the jobs are swept',
      async () => (await agent.json<unknown[]>('GET', '/api/shell/jobs')).length === 0,
    );
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 3);
    expect(readdirSync(booted.dataDir).toSorted()).toEqual([
      'audit.jsonl',
      'checkpoint-key.pem',
      'daemon.lock',
      'jobs.jsonl',
      'state.json',
      'workspaces',
    ]);
  });
});

describe('the end of a command', () => {
  test('is told without waiting for what it left in the background, which is then ended', async () => {
    // The grace period is long: the exit frame can only come in time if it does not wait for it.
    await using booted = await boot({ overrides: { graceMs: 60_000 } });
    const agent = await booted.agent();
    const { frames } = await agent.run({
      cmd: 'sh -c "trap \\"\\" TERM; echo \\$\\$; while :; do sleep 1; done" & sleep 0.3; exit 5',
    });
    const pid = Number(lines(frames)[0]);
    expect(withoutReceipt(frames.at(-1))).toEqual({ type: 'exit', code: 5 });
    expect(isRunning(pid)).toBe(true);
    expect(await agent.json<{ state: string }[]>('GET', '/api/shell/jobs')).toMatchObject([
      { state: 'finishing' },
    ]);
  });

  test('keeps the last output of a process that wrote much and ended at once', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    for (let round = 0; round < 20; round += 1) {
      const { frames } = await agent.run({ cmd: 'seq 1 30000' });
      expect(lines(frames)).toHaveLength(30_000);
      expect(lines(frames).at(-1)).toBe('30000');
    }
  });

  test('is not delayed by a background process that floods the pipe', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const { frames } = await agent.run({ cmd: 'sh -c "trap \\"\\" TERM; yes" & sleep 0.2; exit 4' });
    expect(withoutReceipt(frames.at(-1))).toEqual({ type: 'exit', code: 4 });
  });

  test.each([
    ['in the background', 'sleep 1000 & echo $!'],
    ['with nohup', 'nohup sleep 1000 >/dev/null 2>&1 & echo $!'],
    ['in a session of its own', "setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' & sleep 0.2"],
    [
      'after a double fork into a session of its own',
      '(setsid sh -c \'(sh -c "echo \\$\\$; exec sleep 1000" </dev/null 2>/dev/null &) \' &) ; sleep 0.3',
    ],
    ['without environment, in the group', "env -i sh -c 'echo $$; exec /bin/sleep 1000' & sleep 0.2"],
    ['deaf to SIGTERM', 'sh -c \'trap "" TERM; echo $$; while :; do sleep 0.1; done\' & sleep 0.2'],
  ])('ends a process that was left %s', async (_how, cmd) => {
    await using booted = await boot({ overrides: { graceMs: 300 } });
    const agent = await booted.agent();
    const { frames } = await agent.run({ cmd });
    const pid = Number(lines(frames)[0]);
    expect(pid).toBeGreaterThan(1);
    await until('the process is gone', () => !isRunning(pid));
    await until(
      'the job is no longer listed',
      async () => (await agent.json<unknown[]>('GET', '/api/shell/jobs')).length === 0,
    );
  });

  test('has code 128 + n after a signal, and names it', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    expect(withoutReceipt((await agent.run({ cmd: 'kill -9 $$' })).frames)).toEqual([
      { type: 'exit', code: 137, signal: 'SIGKILL' },
    ]);
    expect(withoutReceipt((await agent.run({ cmd: 'kill -SEGV $$' })).frames)).toEqual([
      { type: 'exit', code: 139, signal: 'SIGSEGV' },
    ]);
  });

  test('by the timeout has code 124, whatever the command made of SIGTERM', async () => {
    await using booted = await boot({ overrides: { graceMs: 300 } });
    const agent = await booted.agent();
    // The shell may say a word of its own ("Killed") before it ends.
    const endOf = async (cmd: string) => (await agent.run({ cmd, timeout: 1 })).frames.at(-1);
    const timedOut = { type: 'exit', code: 124, reason: 'timeout' };
    expect(withoutReceipt(await endOf('exec sleep 1000'))).toEqual({ ...timedOut, signal: 'SIGTERM' });
    expect(withoutReceipt(await endOf('trap "exit 0" TERM; sleep 1000 & wait'))).toEqual(timedOut);
    expect(withoutReceipt(await endOf('trap "" TERM; while :; do sleep 0.1; done'))).toEqual({
      ...timedOut,
      signal: 'SIGKILL',
    });
  });
});

describe('cancelling', () => {
  test('asks with SIGTERM, lets the command clean up, and answers when nothing of it is left', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const job = await start(agent, {
      cmd: 'trap "echo cleaned; exit 7" TERM; (setsid sh -c "(echo \\$\\$; sleep 1000) &" &); sleep 0.3; echo ready; while :; do sleep 0.1; done',
    });
    const pids: number[] = [];
    for (let line = await nextLine(job.frames); line !== 'ready'; line = await nextLine(job.frames))
      pids.push(Number(line));
    const cancelled = await agent.json('POST', `/api/shell/cancel/${job.jobId}`);
    expect(cancelled).toEqual({ job_id: job.jobId, code: 7, signal: null });
    for (const pid of pids) expect(isRunning(pid)).toBe(false);
    const frames = await rest(job.frames);
    expect(lines(frames)).toEqual(['cleaned']);
    expect(frames.at(-1)).toMatchObject({ type: 'exit', code: 7, reason: 'cancelled' });
    expect(await agent.json('GET', '/api/shell/jobs')).toEqual([]);
  });

  test('kills what does not listen, grandchildren that left the group included', async () => {
    await using booted = await boot({ overrides: { graceMs: 400 } });
    const agent = await booted.agent();
    const job = await start(agent, {
      cmd: 'trap "" TERM; setsid sh -c "trap \\"\\" TERM; echo \\$\\$; while :; do sleep 0.1; done" & sleep 0.2; echo ready; while :; do sleep 0.1; done',
    });
    const pid = Number(await nextLine(job.frames));
    expect(await nextLine(job.frames)).toBe('ready');
    const [first, second] = await Promise.all([
      agent.json('POST', `/api/shell/cancel/${job.jobId}`),
      agent.json('POST', `/api/shell/cancel/${job.jobId}`),
    ]);
    expect(first).toEqual({ job_id: job.jobId, code: 137, signal: 'SIGKILL' });
    expect(second).toEqual(first);
    expect(isRunning(pid)).toBe(false);
    expect((await rest(job.frames)).at(-1)).toMatchObject({ code: 137, reason: 'cancelled' });
  });

  test('of a command that has ended tells how it ended, and of one that never was, that it is unknown', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const { jobId } = await agent.run({ cmd: 'exit 9' });
    expect(await agent.json('POST', `/api/shell/cancel/${jobId}`)).toEqual({
      job_id: jobId,
      code: 9,
      signal: null,
    });
    expect((await agent.problem('POST', '/api/shell/cancel/j_0000000000000000')).code).toBe('unknown_job');
    expect((await agent.problem('POST', '/api/shell/cancel/nonsense')).code).toBe('invalid_request');
  });

  test("can't reach a job of another workspace", async () => {
    await using booted = await boot();
    const [mine, other] = [await booted.agent(), await booted.keyed('agent')];
    const elsewhere = join(booted.projectDir, 'elsewhere');
    mkdirSync(elsewhere);
    await other.json('POST', '/api/project/load', { path: elsewhere });
    const job = await start(mine, { cmd: 'echo up; sleep 1000' });
    await nextLine(job.frames);
    expect((await other.problem('POST', `/api/shell/cancel/${job.jobId}`)).code).toBe('unknown_job');
    expect((await other.problem('GET', `/api/shell/jobs/${job.jobId}/stream`)).code).toBe('unknown_job');
    await mine.json('POST', `/api/shell/cancel/${job.jobId}`);
    expect((await rest(job.frames)).at(-1)).toMatchObject({ reason: 'cancelled' });
  });
});

describe('a job and its clients', () => {
  test('goes on when its client leaves, and can be taken up again where the client was', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const controller = new AbortController();
    const response = await agent.send(
      'POST',
      '/api/shell/run',
      { cmd: 'echo one; echo two; while [ ! -e go ]; do sleep 0.05; done; echo three; exit 2' },
      { signal: controller.signal },
    );
    const jobId = response.headers.get('x-job-id') ?? '';
    const frames = readFrames(response);
    expect((await frames.next()).value).toMatchObject({ id: 1, line: 'one' });
    controller.abort();
    const again = await agent.send('GET', `/api/shell/jobs/${jobId}/stream`, undefined, {
      headers: { 'last-event-id': '1' },
    });
    const live = readFrames(again);
    expect((await live.next()).value).toMatchObject({ id: 2, line: 'two' });
    writeFileSync(join(booted.projectDir, 'go'), '');
    expect(withoutReceipt(await rest(live))).toEqual([
      { id: 3, type: 'stdout', line: 'three' },
      { id: 4, type: 'exit', code: 2 },
    ]);
    const late = await agent.send('GET', `/api/shell/jobs/${jobId}/stream?last_event_id=3`);
    expect(withoutReceipt(await rest(readFrames(late)))).toEqual([{ id: 4, type: 'exit', code: 2 }]);
    const whole = await agent.send('GET', `/api/shell/jobs/${jobId}/stream`);
    expect((await rest(readFrames(whole))).map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  });

  test('tells a late reader which frames are no longer kept', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const { jobId, frames } = await agent.run({ cmd: 'seq 1 400000' });
    expect(lines(frames)).toHaveLength(400_000);
    const late = await rest(
      readFrames(
        await agent.send('GET', `/api/shell/jobs/${jobId}/stream`, undefined, {
          headers: { 'last-event-id': '10' },
        }),
      ),
    );
    const [gap, first] = late;
    expect(gap).toMatchObject({ type: 'gap', from: 11 });
    if (gap?.type !== 'gap' || first?.type !== 'stdout') throw new Error('no gap, or nothing behind it');
    expect(first.id).toBe(gap.to + 1);
    expect(first.line).toBe(String(first.id));
    expect(late.at(-1)).toMatchObject({ type: 'exit', id: 400_001 });
    expect(late).toHaveLength(400_001 - gap.to + 1);
  });

  test('is slowed by a client that does not read, and loses nothing once it does', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const lineCount = 600_000;
    const job = await start(agent, { cmd: `seq 1 ${lineCount}; touch done` });
    expect(await nextLine(job.frames)).toBe('1');
    const other = await agent.run({ cmd: 'sleep 1; ls' });
    expect(lines(other.frames)).not.toContain('done');
    let expected = 2;
    for await (const frame of job.frames) {
      if (frame.type !== 'stdout') expect(frame).toMatchObject({ type: 'exit', code: 0 });
      else if (frame.line !== String(expected++)) throw new Error(`line ${expected - 1} is ${frame.line}`);
    }
    expect(expected).toBe(lineCount + 1);
    expect(existsSync(join(booted.projectDir, 'done'))).toBe(true);
  });

  test('is not slowed by a lossy viewer that does not read, which is told what it missed', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const job = await start(agent, {
      cmd: 'echo first; while [ ! -e go ]; do sleep 0.05; done; seq 1 3000000',
    });
    expect(await nextLine(job.frames)).toBe('first');
    const viewer = await agent.send('GET', `/api/shell/jobs/${job.jobId}/stream?lossy=true`);
    const view = readFrames(viewer);
    expect((await view.next()).value).toMatchObject({ line: 'first' });
    writeFileSync(join(booted.projectDir, 'go'), '');
    let count = 0;
    for await (const frame of job.frames) if (frame.type === 'stdout') count += 1;
    expect(count).toBe(3_000_000);
    let next = 2;
    let gaps = 0;
    for await (const frame of view) {
      if (frame.type === 'gap') {
        gaps += 1;
        expect(frame.from).toBe(next);
        next = frame.to + 1;
      } else expect(frame.id).toBe(next++);
    }
    expect(next).toBe(3_000_003);
    expect(gaps).toBeGreaterThan(0);
  }, 120_000);
});

describe('$FREE_PORT', () => {
  test('stands for an open port, the same in all places, another for each job, and is listed', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const [a, b] = await Promise.all([
      start(agent, { cmd: 'echo $FREE_PORT ${FREE_PORT} $FREE_PORTS; sleep 1000' }),
      start(agent, { cmd: 'echo $FREE_PORT; sleep 1000' }),
    ]);
    const [port, same, ...others] = (await nextLine(a.frames)).split(' ');
    expect(Number(port)).toBeGreaterThan(1023);
    expect(same).toBe(port);
    expect(others).toEqual([]);
    expect(a.response.headers.get('x-free-port')).toBe(port);
    expect(await nextLine(b.frames)).not.toBe(port);
    const listed = await agent.json<{ job_id: string; cmd: string; free_ports: number[] }[]>(
      'GET',
      '/api/shell/jobs',
    );
    expect(listed.find(({ job_id }) => job_id === a.jobId)).toMatchObject({
      cmd: 'echo $FREE_PORT ${FREE_PORT} $FREE_PORTS; sleep 1000',
      free_ports: [Number(port)],
    });
    for (const { jobId } of [a, b]) await agent.send('POST', `/api/shell/cancel/${jobId}`);
    await Promise.all([rest(a.frames), rest(b.frames)]);
  });

  test('is looked for again, and the command run again, when another program took the port in between', async () => {
    const { createServer } = await import('node:net');
    const { PortLeases } = await import('./free-port.ts');
    const squatter = createServer().listen(0);
    await new Promise((resolve) => squatter.once('listening', resolve));
    const address = squatter.address();
    const taken = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const free = createServer().listen(0);
    await new Promise((resolve) => free.once('listening', resolve));
    const other = free.address();
    const open = typeof other === 'object' ? (other?.port ?? 0) : 0;
    await new Promise((resolve) => free.close(resolve));
    const offered = [taken, open];
    await using booted = await boot({
      overrides: { ports: new PortLeases(async () => offered.shift() ?? 0) },
    });
    const agent = await booted.agent();
    const listen = `require('net').createServer().listen($FREE_PORT, () => { console.log('on $FREE_PORT'); process.exit(0) })`;
    const { frames } = await agent.run({ cmd: `node -e "${listen}"` });
    squatter.close();
    expect(lines(frames)).toEqual([`on ${open}`]);
    expect(lines(frames, 'stderr').join('\n')).toContain(
      `port ${taken} was taken by another program; running again with port ${open}`,
    );
    expect(withoutReceipt(frames.at(-1))).toEqual({ type: 'exit', code: 0 });
  });

  test('is not tried again when a command only says that some address is in use', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const { frames } = await agent.run({ cmd: 'echo run $FREE_PORT; echo EADDRINUSE >&2; exit 1' });
    expect(lines(frames)).toHaveLength(1);
    expect(withoutReceipt(frames.at(-1))).toEqual({ type: 'exit', code: 1 });
  });
});

describe('recent commands', () => {
  test('are the last 50, newest first, and survive a restart', async () => {
    await using first = await boot();
    const dataDir = join(first.projectDir, '..', 'kept');
    await using booted = await boot({ dataDir });
    const agent = await booted.agent();
    for (let number = 1; number <= 51; number += 1) await agent.run({ cmd: `exit ${number}` });
    await until(
      'the last is noted',
      async () => (await agent.json<{ code: number }[]>('GET', '/api/shell/recent'))[0]?.code === 51,
    );
    const recent = await agent.json<{ cmd: string; code: number }[]>('GET', '/api/shell/recent');
    expect(recent.map(({ code }) => code)).toEqual(Array.from({ length: 50 }, (_, index) => 51 - index));
    expect(recent[0]).toMatchObject({
      cmd: 'exit 51',
      cwd: '.',
      origin: 'api',
      key_id: agent.key.key_id,
      reason: null,
    });
    await booted.daemon[Symbol.asyncDispose]();
    await using again = await boot({ dataDir });
    expect(
      await again.panel.json('GET', '/api/shell/recent', undefined, {
        headers: { 'x-workspace-id': agent.project.ws_id },
      }),
    ).toEqual(recent);
  });

  test('say who ran them and why they ended', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const headers = { 'x-workspace-id': agent.project.slug };
    await booted.panel.run({ cmd: 'exec sleep 1000', timeout: 1 }, { headers });
    await until(
      'it is noted',
      async () => (await agent.json<{ code: number | null }[]>('GET', '/api/shell/recent'))[0]?.code === 124,
    );
    expect((await agent.json<object[]>('GET', '/api/shell/recent'))[0]).toMatchObject({
      origin: 'panel',
      key_id: null,
      reason: 'timeout',
      code: 124,
    });
  });
});

describe('the daemon', () => {
  test('ends its jobs when it ends, deaf ones too, and tells their clients why', async () => {
    await using booted = await boot({ overrides: { graceMs: 500 } });
    const agent = await booted.agent();
    const job = await start(agent, {
      cmd: 'trap "" TERM; setsid sleep 1000 & echo $!; while :; do sleep 0.1; done',
    });
    const pid = Number(await nextLine(job.frames));
    const ended = booted.daemon[Symbol.asyncDispose]();
    expect((await rest(job.frames)).at(-1)).toMatchObject({ type: 'exit', code: 137, reason: 'shutdown' });
    await ended;
    expect(isRunning(pid)).toBe(false);
    expect(readFileSync(join(booted.dataDir, 'state.json'), 'utf8')).toContain('"version": 1');
  });

  test('ends the jobs of a key that is revoked', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const job = await start(agent, { cmd: 'echo up; sleep 1000' });
    await nextLine(job.frames);
    await booted.panel.send('DELETE', `/api/account/api-keys/${agent.key.key_id}`);
    expect((await rest(job.frames)).at(-1)).toMatchObject({ type: 'exit', code: 143, reason: 'revoked' });
  });
});

describe('the first reason wins', () => {
  test('a cancel that comes when the command has ended by itself changes nothing', async () => {
    await using booted = await boot({ overrides: { graceMs: 500 } });
    const agent = await booted.agent();
    // What is left in the background holds the pipe: the end is drained for a moment, and the cancel comes in it.
    const job = await start(agent, { cmd: 'sh -c "trap \\"\\" TERM; sleep 5" & echo bye; exit 6' });
    expect(await nextLine(job.frames)).toBe('bye');
    const main = (await agent.json<{ pid: number }[]>('GET', '/api/shell/jobs'))[0]?.pid ?? 0;
    await until('the main process has ended', () => !isRunning(main));
    expect(await agent.json('POST', `/api/shell/cancel/${job.jobId}`)).toEqual({
      job_id: job.jobId,
      code: 6,
      signal: null,
    });
    expect(withoutReceipt((await rest(job.frames)).at(-1))).toEqual({ id: 2, type: 'exit', code: 6 });
  });

  test('a cancel during the timeout’s grace period does not make it a cancelled one', async () => {
    await using booted = await boot({ overrides: { graceMs: 600 } });
    const agent = await booted.agent();
    const job = await start(agent, {
      cmd: 'trap "echo asked" TERM; echo up; while :; do sleep 0.1; done',
      timeout: 1,
    });
    expect(await nextLine(job.frames)).toBe('up');
    // The shell may say that it ended the sleep before it says that it was asked.
    while ((await nextLine(job.frames)) !== 'asked');
    await agent.json('POST', `/api/shell/cancel/${job.jobId}`);
    expect((await rest(job.frames)).at(-1)).toMatchObject({ type: 'exit', code: 124, reason: 'timeout' });
  });
});
