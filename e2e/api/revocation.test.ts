import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { JobFrame, RecentCommand } from '../../daemon/contract/shell.ts';
import { PortLeases } from '../../daemon/shell/free-port.ts';
import { type BootedDaemon, boot } from '../../daemon/testing/boot.ts';
import { collectFrames, firstFrame, readFrames } from '../../daemon/testing/client.ts';
import { isRunning, until } from '../../daemon/testing/processes.ts';
import { RawSocket } from '../../daemon/testing/raw-socket.ts';

const withinMs = 1000;

describe('revoking a key', () => {
  test('ends its event stream within a second, with a last frame that says why', async () => {
    await using booted = await boot();
    const [one, other] = [await booted.keyed('admin'), await booted.keyed('admin')];
    const stream = await one.send('GET', '/api/events');
    const untouched = await other.send('GET', '/api/events');
    const took = await revoke(
      booted,
      one.key.key_id,
      stream.text().then((text) => {
        expect(text).toContain('"code":"revoked_key"');
      }),
    );
    expect(took).toBeLessThan(withinMs);
    const event = firstFrame(untouched, (frame) => String(frame.type) === 'key.created');
    await booted.keyed('read');
    expect(await event).toMatchObject({ type: 'key.created' });
  });

  test('ends its commands with reason revoked, everything they started, and their streams, within a second', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const run = await agent.send('POST', '/api/shell/run', {
      cmd: 'setsid sleep 1000 & echo child $!; exec sleep 1000',
    });
    const first = await firstLine(run);
    const pid = Number(/child (\d+)/.exec(first.line)?.[1]);
    expect(isRunning(pid)).toBe(true);
    const took = await revoke(booted, agent.key.key_id, first.rest);
    expect(took).toBeLessThan(withinMs);
    expect((await first.rest).at(-1)).toMatchObject({
      type: 'exit',
      reason: 'revoked',
      signal: 'SIGTERM',
      code: 143,
    });
    await until('its child has ended too', () => !isRunning(pid));
    const recent = await booted.panel.json<RecentCommand[]>('GET', '/api/shell/recent', undefined, {
      headers: { 'x-workspace-id': agent.project.ws_id },
    });
    expect(recent[0]).toMatchObject({ reason: 'revoked', code: 143, key_id: agent.key.key_id });
  });

  test('ends a job stream that it took up again, and not the job, where the job is another key’s', async () => {
    await using booted = await boot();
    const owner = await booted.agent();
    const watcher = await booted.keyed('read');
    const headers = { 'x-workspace-id': owner.project.ws_id };
    const run = await owner.send('POST', '/api/shell/run', { cmd: 'echo hello; exec sleep 1000' });
    const jobId = run.headers.get('x-job-id');
    const watched = await watcher.send('GET', `/api/shell/jobs/${jobId}/stream`, undefined, { headers });
    const took = await revoke(
      booted,
      watcher.key.key_id,
      collectFrames(watched).then((frames) => {
        expect(frames.at(-1)).toMatchObject({ type: 'error', code: 'revoked_key' });
      }),
    );
    expect(took).toBeLessThan(withinMs);
    expect(await owner.json('GET', '/api/shell/jobs')).toHaveLength(1);
    await owner.json('POST', `/api/shell/cancel/${jobId}`);
    expect((await collectFrames(run)).at(-1)).toMatchObject({ type: 'exit', reason: 'cancelled' });
  });

  test('ends a flood within a second though its client does not read', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    using socket = await RawSocket.open(booted.daemon.url);
    const body = JSON.stringify({ cmd: 'yes 0123456789012345678901234567890123456789' });
    socket.write(
      `POST /api/shell/run HTTP/1.1\r\nHost: 127.0.0.1:${booted.daemon.port}\r\nContent-Type: application/json\r\n` +
        `Authorization: Bearer ${agent.key.key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await socket.receive('0123456789');
    socket.pause();
    const [job] = await agent.json<{ pid: number }[]>('GET', '/api/shell/jobs');
    const began = performance.now();
    await booted.panel.send('DELETE', `/api/account/api-keys/${agent.key.key_id}`);
    await until('no stream is open', async () => (await statusOf(booted)).open_streams === 0);
    expect(performance.now() - began).toBeLessThan(withinMs);
    await until('the command has ended', () => !isRunning(job?.pid ?? 0));
  });

  test('ends an event stream whose client does not read', async () => {
    await using booted = await boot();
    const admin = await booted.keyed('admin');
    using socket = await RawSocket.open(booted.daemon.url);
    socket.write(
      `GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${booted.daemon.port}\r\nAuthorization: Bearer ${admin.key.key}\r\n\r\n`,
    );
    await socket.receive('welcome');
    socket.pause();
    const began = performance.now();
    await booted.panel.send('DELETE', `/api/account/api-keys/${admin.key.key_id}`);
    await until('no stream is open', async () => (await statusOf(booted)).open_streams === 0);
    expect(performance.now() - began).toBeLessThan(withinMs);
  });

  test('holds for a request that began before it and whose body came after it', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    using socket = await RawSocket.open(booted.daemon.url);
    const body = JSON.stringify({ cmd: 'touch was-here' });
    socket.write(
      `POST /api/shell/run HTTP/1.1\r\nHost: 127.0.0.1:${booted.daemon.port}\r\nContent-Type: application/json\r\n` +
        `Authorization: Bearer ${agent.key.key}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    // The daemon asks for the body, so it has taken the key for good.
    await socket.receive('100 Continue');
    await booted.panel.send('DELETE', `/api/account/api-keys/${agent.key.key_id}`);
    socket.write(body);
    expect(await socket.receive('revoked_key')).toContain('HTTP/1.1 401');
    const recent = await booted.panel.json('GET', '/api/shell/recent', undefined, {
      headers: { 'x-workspace-id': agent.project.ws_id },
    });
    expect(recent).toEqual([]);
  });

  test('holds for a command that was being started at that moment', async () => {
    const ports = new HeldPorts();
    await using booted = await boot({ overrides: { ports } });
    const agent = await booted.agent();
    const sent = agent.send('POST', '/api/shell/run', { cmd: 'echo $FREE_PORT; exec sleep 1000' });
    await ports.asked;
    await booted.panel.send('DELETE', `/api/account/api-keys/${agent.key.key_id}`);
    ports.release();
    const answer = await sent;
    if (answer.ok)
      expect((await collectFrames(answer)).at(-1)).toMatchObject({ type: 'exit', reason: 'revoked' });
    else expect(answer.status).toBe(401);
    await until('no job is left', async () => (await statusOf(booted)).running_jobs === 0);
  });

  test('takes the key from the next request on, on a connection that is open', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    using socket = await RawSocket.open(booted.daemon.url);
    const request = `GET /api/shell/jobs HTTP/1.1\r\nHost: 127.0.0.1:${booted.daemon.port}\r\nAuthorization: Bearer ${agent.key.key}\r\n\r\n`;
    socket.write(request);
    await socket.receive('200 OK');
    await booted.panel.send('DELETE', `/api/account/api-keys/${agent.key.key_id}`);
    socket.write(request);
    expect(await socket.receive('revoked_key')).toContain('401 Unauthorized');
  });
});

/** Milliseconds from the request to revoke until `ended` is settled. */
async function revoke({ panel }: BootedDaemon, keyId: string, ended: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await panel.send('DELETE', `/api/account/api-keys/${keyId}`);
  await ended;
  return performance.now() - began;
}

function statusOf({ panel }: BootedDaemon) {
  return panel.json<{ open_streams: number; running_jobs: number }>('GET', '/api/status');
}

/** The first line of a stream, and a promise of the frames after it. */
async function firstLine(response: Response): Promise<{ line: string; rest: Promise<JobFrame[]> }> {
  const frames = readFrames(response);
  const { value } = await frames.next();
  const rest = (async () => {
    const after: JobFrame[] = [];
    for await (const frame of frames) after.push(frame);
    return after;
  })();
  return { line: value !== undefined && 'line' in value ? value.line : '', rest };
}

/** Finds a port only when the test lets it. */
class HeldPorts extends PortLeases {
  readonly #gate = new EventTarget();
  readonly asked = once(this.#gate, 'asked');
  readonly #released = once(this.#gate, 'released');

  release(): void {
    this.#gate.dispatchEvent(new Event('released'));
  }

  override async lease(...args: Parameters<PortLeases['lease']>): ReturnType<PortLeases['lease']> {
    this.#gate.dispatchEvent(new Event('asked'));
    await this.#released;
    return super.lease(...args);
  }
}
