import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KeyListing } from '../contract/api-keys.ts';
import { type BootedDaemon, boot } from '../testing/boot.ts';
import { rawRequest } from '../testing/client.ts';
import { memoryLog } from '../testing/memory-log.ts';
import { exchange, RawSocket, statusOf } from '../testing/raw-socket.ts';

const log = memoryLog();
let booted: BootedDaemon;
let url = '';
let port = 0;

beforeAll(async () => {
  booted = await boot({ overrides: { logger: log.logger } });
  ({ url, port } = booted.daemon);
});
afterAll(() => booted[Symbol.asyncDispose]());

/** A known route, an unknown path, a page, and paths that try to be something else. */
const paths = [
  '/healthz',
  '/openapi.json',
  '/api/status',
  '/api/events',
  '/api/nothing',
  '/',
  '/docs/',
  '/assets/app.js',
  '//evil.example/healthz',
  '/%zz',
];
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'];

describe('a request to another host', () => {
  const foreign = () => [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    'localhost',
    `127.0.0.1:${port + 1}`,
    `127.0.0.1:0${port}`,
    `localhost.evil.example:${port}`,
    `localhost.:${port}`,
    `127.0.0.2:${port}`,
    `2130706433:${port}`,
    `0.0.0.0:${port}`,
    `[::]:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `::1:${port}`,
    `user@127.0.0.1:${port}`,
    `127.0.0.1:${port}, evil.example`,
    '',
  ];

  test('is refused with 421 whatever its path and method', async () => {
    for (const path of paths)
      for (const method of methods) {
        const answer = await rawRequest(url, { method, path, headers: { host: 'evil.example' } });
        expect([method, path, answer.status]).toEqual([method, path, 421]);
        if (method !== 'HEAD') expect(JSON.parse(answer.body).code).toBe('host_not_allowed');
      }
  });

  test('is refused in every spelling that is not the daemon’s own', async () => {
    for (const host of foreign()) {
      const answer = await exchange(
        url,
        `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect([host, statusOf(answer)]).toEqual([host, 421]);
    }
  });

  test('is refused where the Host header is missing, in HTTP/1.1 and in HTTP/1.0', async () => {
    for (const version of ['1.1', '1.0']) {
      const answer = await exchange(url, `GET /healthz HTTP/${version}\r\nConnection: close\r\n\r\n`);
      expect(statusOf(answer)).toBe(421);
      expect(answer).toContain('"code":"host_not_allowed"');
    }
  });

  test('is refused where two Host headers are given, even two good ones', async () => {
    const own = `127.0.0.1:${port}`;
    for (const [first, second] of [
      [own, 'evil.example'],
      ['evil.example', own],
      [own, own],
    ]) {
      const answer = await exchange(
        url,
        `GET /healthz HTTP/1.1\r\nHost: ${first}\r\nHost: ${second}\r\nConnection: close\r\n\r\n`,
      );
      expect(statusOf(answer)).toBe(421);
    }
  });

  test('is refused where the request target names the other host', async () => {
    const send = (target: string) =>
      exchange(url, `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
    for (const target of ['http://evil.example/healthz', `http://evil.example:${port}/`, 'http:///healthz'])
      expect([400, 421]).toContain(statusOf(await send(target)));
    expect(statusOf(await send(`http://LOCALHOST:${port}/healthz`))).toBe(200);
  });

  test('is not refused in any of the daemon’s own spellings', async () => {
    for (const host of ['127.0.0.1', 'localhost', 'LocalHost', '[::1]']) {
      const answer = await rawRequest(url, { path: '/healthz', headers: { host: `${host}:${port}` } });
      expect([host, answer.status]).toEqual([host, 200]);
    }
  });

  test('is refused on the IPv6 address as well', async ({ skip }) => {
    const socket = await RawSocket.open(url, '::1').catch(() => undefined);
    if (socket === undefined) skip('this machine has no ::1');
    using open = socket;
    open?.write('GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
    expect(statusOf((await open?.toEnd()) ?? '')).toBe(421);
  });
});

describe('a request from another web page', () => {
  const foreign = () => [
    'http://evil.example',
    'null',
    '',
    `http://127.0.0.1:${port + 1}`,
    'http://127.0.0.1',
    'http://localhost:3000',
    `https://127.0.0.1:${port}`,
    `http://127.0.0.1:${port}.evil.example`,
    `http://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port} http://evil.example`,
    'file://',
    'vscode-webview://x',
    'chrome-extension://abcdefghijklmnop',
  ];

  test('is refused with 403 whatever its path and method, preflights included, without a CORS header', async () => {
    for (const path of paths)
      for (const method of methods) {
        const answer = await rawRequest(url, {
          method,
          path,
          headers: {
            host: `127.0.0.1:${port}`,
            origin: 'http://evil.example',
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'authorization,content-type',
          },
        });
        expect([method, path, answer.status]).toEqual([method, path, 403]);
        expect(corsHeaders(answer.headers)).toEqual([]);
        if (method !== 'HEAD') expect(JSON.parse(answer.body).code).toBe('origin_not_allowed');
      }
  });

  test('is refused in every spelling that is not the panel’s own', async () => {
    for (const origin of foreign()) {
      const answer = await exchange(
        url,
        `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: ${origin}\r\nConnection: close\r\n\r\n`,
      );
      expect([origin, statusOf(answer)]).toEqual([origin, 403]);
    }
  });

  test('is refused where a good Origin is followed by another', async () => {
    const answer = await exchange(
      url,
      `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: http://127.0.0.1:${port}\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n`,
    );
    expect(statusOf(answer)).toBe(403);
  });

  test('is refused by its Sec-Fetch-Site where it has no Origin, as a navigation or an image has none', async () => {
    for (const path of paths) {
      const answer = await rawRequest(url, { path, headers: { 'sec-fetch-site': 'cross-site' } });
      expect([path, answer.status]).toEqual([path, 403]);
    }
  });

  test('is not refused where it is the panel’s own, in each of its spellings', async () => {
    for (const name of ['127.0.0.1', 'localhost', '[::1]'])
      for (const site of ['same-origin', 'none', 'same-site']) {
        const headers = { host: `${name}:${port}`, origin: `http://${name}:${port}`, 'sec-fetch-site': site };
        expect((await rawRequest(url, { path: '/healthz', headers })).status).toBe(200);
      }
  });

  test('gets no CORS header even from the panel’s own origin', async () => {
    for (const method of methods)
      for (const path of paths) {
        const headers = { origin: url, 'access-control-request-method': 'POST' };
        const answer = await rawRequest(url, { method, path, headers });
        expect(corsHeaders(answer.headers)).toEqual([]);
      }
  });
});

describe('a WebSocket upgrade', () => {
  const upgrade = (headers: string, path = '/api/events') =>
    exchange(
      url,
      `GET ${path} HTTP/1.1\r\n${headers}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: secret-token\r\n\r\n',
    );

  test('is refused with a status and the connection closed: by host, by origin, else as not there', async () => {
    for (const path of paths.filter((candidate) => candidate !== '/%zz')) {
      expect(statusOf(await upgrade('Host: evil.example\r\n', path))).toBe(421);
      expect(statusOf(await upgrade(`Host: 127.0.0.1:${port}\r\nOrigin: null\r\n`, path))).toBe(403);
      expect(statusOf(await upgrade('', path))).toBe(421);
      const refused = await upgrade(`Host: 127.0.0.1:${port}\r\nOrigin: ${url}\r\n`, path);
      expect(statusOf(refused)).toBe(404);
      expect(refused).toContain('Tallystick-Version: ');
      expect(refused).toContain('"code":"not_found"');
    }
    expect(log.text()).not.toContain('secret-token');
  });

  test('to another protocol is taken as an ordinary request', async () => {
    const answer = await exchange(
      url,
      `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
    );
    expect(statusOf(answer)).toBe(200);
  });
});

describe('the guard', () => {
  test('comes before any credential: a foreign request with a bad key learns nothing of the key', async () => {
    const good = await booted.keyed('admin');
    for (const authorization of ['Bearer nonsense', `Bearer ${good.key.key}`]) {
      const headers = { host: 'evil.example', authorization };
      const answer = await rawRequest(url, { path: '/api/status', headers });
      expect(answer.status).toBe(421);
      expect(answer.headers['ratelimit-limit']).toBeUndefined();
      expect(answer.headers['www-authenticate']).toBeUndefined();
    }
    const listed = await booted.panel.json<KeyListing[]>('GET', '/api/account/api-keys');
    expect(listed.find(({ key_id }) => key_id === good.key.key_id)?.last_used_at).toBeNull();
  });

  test('comes before an expectation: one that is unknown is taken no notice of', async () => {
    const send = (host: string) =>
      exchange(url, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nExpect: wonders\r\nConnection: close\r\n\r\n`);
    expect(statusOf(await send('evil.example'))).toBe(421);
    expect(statusOf(await send(`127.0.0.1:${port}`))).toBe(200);
  });

  test('bears the version on every answer, refusals included', async () => {
    const { version } = booted.daemon;
    for (const headers of [{}, { host: 'evil.example' }, { origin: 'null' }])
      for (const path of paths) {
        const answer = await rawRequest(url, { path, headers });
        expect(answer.headers['tallystick-version']).toBe(version);
      }
  });
});

function corsHeaders(headers: object): string[] {
  return Object.keys(headers).filter((name) => name.toLowerCase().startsWith('access-control-'));
}
