import { randomBytes } from 'node:crypto';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Problem } from '../../daemon/contract/errors.ts';
import { type BootedDaemon, boot } from '../../daemon/testing/boot.ts';
import { type Client, client } from '../../daemon/testing/client.ts';
import { memoryLog } from '../../daemon/testing/memory-log.ts';
import { RawSocket } from '../../daemon/testing/raw-socket.ts';
import { type FuzzedRequest, fuzzedRequest } from './fuzz/request-arbitraries.ts';

const deep = process.env.TALLYSTICK_DEEP === '1';
const secondsForRoutes = deep ? 300 : 14;
const secondsForBytes = deep ? 60 : 4;

const log = memoryLog();
let booted: BootedDaemon;
let callers: Record<FuzzedRequest['credential'], Client>;
let requests = 0;

beforeAll(async () => {
  // With a master key: without one, 503 is the right answer to some.
  const SERVICE_SECRET_KEY = randomBytes(32).toString('base64url');
  booted = await boot({
    overrides: { logger: log.logger },
    environment: { ...process.env, SERVICE_SECRET_KEY },
  });
  callers = {
    none: booted.stranger,
    bad: client(booted.daemon.url, 'tly_live_nothing'),
    read: await booted.keyed('read'),
    admin: await booted.keyed('admin'),
    session: booted.panel,
  };
});
afterAll(async () => {
  console.info(`fuzzed: ${requests} requests`);
  await booted[Symbol.asyncDispose]();
});

test('no request to any route is answered with a 5xx, or told more than a problem document', async () => {
  const arbitrary = fuzzedRequest(booted.daemon.routes, await prepare());
  const batch = fc.array(arbitrary, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(batch, async (fuzzed) => {
      await Promise.all(fuzzed.map(sendAndCheck));
    }),
    limits(secondsForRoutes),
  );
  expect(requests).toBeGreaterThan(500);
  await expectUnharmed();
});

test('no bytes at all make the daemon answer with a 5xx or go away', async () => {
  const before = requests;
  await fc.assert(
    fc.asyncProperty(rawBytes(), async (bytes) => {
      requests += 1;
      const statuses = await statusesOf(bytes);
      expect(statuses.filter((status) => status >= 500)).toEqual([]);
    }),
    limits(secondsForBytes),
  );
  expect(requests - before).toBeGreaterThan(100);
  await expectUnharmed();
});

/** Things for the ids and paths to be of: a workspace, a job that ended, a key, and folders that are no good. */
async function prepare() {
  const agent = await booted.agent();
  const { jobId } = await agent.run({ cmd: 'echo hello' });
  for (const caller of [callers.admin, callers.session, callers.read]) {
    if (caller !== callers.read) await caller.json('POST', '/api/project/load', { path: booted.projectDir });
  }
  await writeFile(join(booted.projectDir, 'file'), 'x');
  await symlink('/etc', join(booted.projectDir, 'link'));
  await symlink('loop', join(booted.projectDir, 'loop'));
  const { ws_id, slug } = agent.project;
  const spare = await booted.keyed('read');
  return {
    ids: [jobId, ws_id, slug, spare.key.key_id, '0', '1', '999999999999999', 'j_0123456789abcdef'],
    paths: ['', '/link', '/file', '/loop', '/missing', '/..', '/../data', '/./', '/\0'].map(
      (suffix) => booted.projectDir + suffix,
    ),
  };
}

async function sendAndCheck({ method, path, headers, body, credential }: FuzzedRequest): Promise<void> {
  requests += 1;
  const sent = body === undefined ? { headers } : { headers, rawBody: body };
  const mayHaveBody = method !== 'GET' && method !== 'HEAD';
  const answer = await callers[credential].send(method, path, undefined, mayHaveBody ? sent : { headers });
  expect(answer.status, `${method} ${path}`).toBeLessThan(500);
  expect(answer.headers.get('tallystick-version')).toBe(booted.daemon.version);
  // At / is the panel, which is a page and says in words where it was not built.
  const isPage = /^\/+$/.test(new URL(booted.daemon.url + path).pathname);
  if (answer.status < 400 || method === 'HEAD' || isPage) return await answer.body?.cancel();
  expect(answer.headers.get('content-type'), `${method} ${path}`).toBe('application/problem+json');
  const text = await answer.text();
  const problem = Problem.parse(JSON.parse(text));
  expect(problem.status).toBe(answer.status);
  expect(text).not.toMatch(/\n\s+at |node_modules|file:\/\/|\.ts:\d/);
}

/** The statuses of all that comes back. */
async function statusesOf(bytes: string): Promise<number[]> {
  using socket = await RawSocket.open(booted.daemon.url);
  socket.write(bytes);
  // Most are answered and closed at once; what makes the daemon wait for more is not waited out.
  await Promise.race([socket.toEnd(), delay(100, undefined, { ref: false })]);
  socket.end();
  const answers = await socket.toEnd();
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}

async function expectUnharmed(): Promise<void> {
  expect((await booted.stranger.send('GET', '/healthz')).status).toBe(200);
  const { frames } = await callers.session.run(
    { cmd: 'echo still here' },
    { headers: { 'x-workspace-id': await anyWorkspace() } },
  );
  expect(frames).toContainEqual({ type: 'stdout', line: 'still here' });
  const errors = log
    .text()
    .split('\n')
    .filter((line) => line.includes('"level":50'));
  expect(errors).toEqual([]);
}

async function anyWorkspace(): Promise<string> {
  const { ws_id } = await callers.session.json<{ ws_id: string }>('POST', '/api/project/load', {
    path: booted.projectDir,
  });
  return ws_id;
}

function limits(seconds: number) {
  return {
    numRuns: 1_000_000,
    interruptAfterTimeLimit: seconds * 1000,
    // To be out of time is how every good run ends.
    markInterruptAsFailure: false,
    endOnFailure: true,
  };
}

/** Requests put together from parts of real ones, in any order. */
function rawBytes(): fc.Arbitrary<string> {
  const own = `127.0.0.1:${booted.daemon.port}`;
  const piece = fc.oneof(
    fc.constantFrom(
      'GET ',
      'POST ',
      'CONNECT ',
      '/api/session ',
      '/healthz ',
      '* ',
      `http://${own}/healthz `,
      'HTTP/1.1\r\n',
      'HTTP/1.0\r\n',
      'HTTP/2.0\r\n',
      `Host: ${own}\r\n`,
      'Content-Type: application/json\r\n',
      'Content-Length: 5\r\n',
      'Content-Length: 99999999999999999999\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Transfer-Encoding: gzip, chunked\r\n',
      'Connection: upgrade\r\n',
      'Upgrade: websocket\r\n',
      'Expect: 100-continue\r\n',
      'Authorization: Bearer x\r\n',
      '\r\n',
      '{"token":"x"}',
      '5\r\nhello\r\n',
      'ffffffffffffffff\r\n',
      '0\r\n\r\n',
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  const start = fc.constantFrom(
    '',
    `GET /healthz HTTP/1.1\r\nHost: ${own}\r\n`,
    `POST /api/session HTTP/1.1\r\nHost: ${own}\r\nContent-Type: application/json\r\n`,
  );
  // NUL is no part of any request line, header or chunk size: unless a body is due, the parser gives up here.
  return fc
    .tuple(start, fc.array(piece, { maxLength: 12 }))
    .map(([head, pieces]) => `${head}${pieces.join('')}\r\n\r\n\0\0\r\n\r\n`);
}
