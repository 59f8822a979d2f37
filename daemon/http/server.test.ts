import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../lib/logger.ts';
import { type BootedDaemon, boot } from '../testing/boot.ts';
import { exchange, RawSocket, statusOf } from '../testing/raw-socket.ts';
import { listenOnLoopback } from './server.ts';

let booted: BootedDaemon;
let url = '';
let host = '';

beforeAll(async () => {
  booted = await boot();
  ({ url } = booted.daemon);
  host = `Host: 127.0.0.1:${booted.daemon.port}\r\n`;
});
afterAll(() => booted[Symbol.asyncDispose]());

describe('what the HTTP parser gives up on', () => {
  const garbage = {
    'a TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'plain noise': 'hello daemon\r\n\r\n',
    'a bad version': 'GET / HTTP/9.9\r\n\r\n',
    'a bad method': 'FROB / HTTP/1.1\r\n\r\n',
    'a space in a header name': 'GET / HTTP/1.1\r\nBad Header: x\r\n\r\n',
    'NUL in a header': 'GET / HTTP/1.1\r\nX: a\0b\r\n\r\n',
    'both lengths': 'POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'two lengths': 'POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
    'a negative length': 'POST / HTTP/1.1\r\nContent-Length: -3\r\n\r\n',
    'a request smuggled by obs-fold':
      'GET / HTTP/1.1\r\nX: a\r\n b: c\r\nTransfer-Encoding : chunked\r\n\r\n',
  };

  test.for(Object.entries(garbage))(
    'is answered with 400 and the connection closed: %s',
    async ([, text]) => {
      const answer = await exchange(url, text);
      expect(statusOf(answer)).toBe(400);
      expect(answer).toContain('application/problem+json');
      expect(answer).toContain('"code":"bad_request"');
      expect(answer).toContain(`Tallystick-Version: ${booted.daemon.version}`);
      expect((await booted.stranger.send('GET', '/healthz')).status).toBe(200);
    },
  );

  test('headers over the limit are answered with 431, those under it are read', async () => {
    const withHeaders = (bytes: number) =>
      exchange(
        url,
        `GET /healthz HTTP/1.1\r\n${host}Connection: close\r\nX-Much: ${'a'.repeat(bytes)}\r\n\r\n`,
      );
    expect(statusOf(await withHeaders(15_000))).toBe(200);
    const over = await withHeaders(17_000);
    expect(statusOf(over)).toBe(431);
    expect(over).toContain('"code":"headers_too_large"');
    const manyHeaders = Array.from({ length: 3000 }, (_, index) => `X-${index}: y\r\n`).join('');
    expect(statusOf(await exchange(url, `GET / HTTP/1.1\r\n${host}${manyHeaders}\r\n`))).toBe(431);
    expect((await booted.stranger.send('GET', '/healthz')).status).toBe(200);
  });

  test('garbage in a chunked body is answered with 400, and nothing of the request is done', async () => {
    const answer = await exchange(
      url,
      `POST /api/account/api-keys HTTP/1.1\r\n${host}Authorization: Bearer ${booted.session.session_token}\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"nam\r\nnot a chunk size\r\n',
    );
    expect(statusOf(answer)).toBe(400);
    expect(await booted.panel.json('GET', '/api/account/api-keys')).toEqual([]);
  });

  test('garbage behind a stream that runs cuts it, and never puts a second answer into it', async () => {
    const agent = await booted.agent();
    using socket = await RawSocket.open(url);
    const body = JSON.stringify({ cmd: 'echo hello; exec sleep 60' });
    socket.write(
      `POST /api/shell/run HTTP/1.1\r\n${host}Authorization: Bearer ${agent.key.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await socket.receive('hello');
    socket.write('garbage\r\n\r\n');
    const all = await socket.toEnd();
    expect(all.match(/HTTP\/1\.1/g)).toHaveLength(1);
    const jobId = /X-Job-Id: (\S+)/.exec(all)?.[1];
    const cancelled = await agent.json('POST', `/api/shell/cancel/${jobId}`);
    expect(cancelled).toMatchObject({ job_id: jobId, signal: 'SIGTERM' });
  });

  test('a client that goes away in the middle of its body leaves the daemon unharmed', async () => {
    for (let count = 0; count < 20; count += 1) {
      using socket = await RawSocket.open(url);
      socket.write(
        `POST /api/session HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"tok`,
      );
    }
    expect((await booted.stranger.send('GET', '/healthz')).status).toBe(200);
  });
});

describe('listenOnLoopback', () => {
  const options = {
    version: '0.0.0',
    logger: createLogger('silent'),
    app: () => undefined,
  };

  test('answers on 127.0.0.1 and ::1 with one port, and refuses a port that is taken on 127.0.0.1', async () => {
    await expect(listenOnLoopback({ ...options, port: booted.daemon.port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    const answer = await exchange(url, `GET /healthz HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
    expect(statusOf(answer)).toBe(200);
  });

  test('refuses a port that another program has on ::1, where it would answer for localhost', async ({
    skip,
  }) => {
    const squatter = createServer();
    squatter.listen({ host: '::1', port: 0 });
    const [failed] = await Promise.race([once(squatter, 'listening'), once(squatter, 'error')]);
    if (failed !== undefined) skip('this machine has no ::1');
    const address = squatter.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    try {
      await expect(listenOnLoopback({ ...options, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    } finally {
      squatter.close();
    }
    // Nothing of the attempt is left on 127.0.0.1: the same port can be had once it is free on both.
    await once(squatter, 'close');
    await using server = await listenOnLoopback({ ...options, port });
    expect(server.port).toBe(port);
  });
});
