import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KeyListing } from '../../daemon/contract/api-keys.ts';
import { type BootedDaemon, boot } from '../../daemon/testing/boot.ts';
import { rawRequest } from '../../daemon/testing/client.ts';

let booted: BootedDaemon;

beforeAll(async () => {
  booted = await boot();
});
afterAll(() => booted[Symbol.asyncDispose]());

/** What a page of another site, a rebound name or another local page can make a browser send, and how it is refused. */
const attacks = [
  ['a foreign Host', { host: 'rebound.example' }, 421],
  ['a foreign Origin', { origin: 'https://evil.example' }, 403],
  ['the Origin null', { origin: 'null' }, 403],
  ['another local page', { origin: 'http://localhost:3000' }, 403],
  ['a cross-site navigation', { 'sec-fetch-site': 'cross-site' }, 403],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ['a simple text body', { 'content-type': 'text/plain;charset=UTF-8' }, 415],
] as const;

test.for(attacks)(
  '%s reaches no route, even with a good credential, and nothing is done',
  async ([, headers, status]) => {
    const admin = await booted.keyed('admin');
    for (const route of booted.daemon.routes) {
      // The one call that takes text is a PUT: no page can make it without the preflight that is refused below.
      if (
        route.request.rawBody !== undefined &&
        'content-type' in headers &&
        headers['content-type'].startsWith('text/')
      )
        continue;
      const body = JSON.stringify({
        name: 'attack',
        scopes: 'admin',
        expiry: 'never',
        path: booted.projectDir,
      });
      const method = route.method.toUpperCase();
      const answer = await rawRequest(booted.daemon.url, {
        method,
        path: route.path.replace(':key_id', admin.key.key_id).replace(/:\w+/, 'x'),
        headers: {
          'content-type': 'application/json',
          'content-length': String(body.length),
          authorization: `Bearer ${admin.key.key}`,
          ...headers,
        },
        body,
      });
      expect([route.path, method, answer.status]).toEqual([route.path, method, status]);
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(answer.headers['ratelimit-limit']).toBeUndefined();
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    const keys = await booted.panel.json<KeyListing[]>('GET', '/api/account/api-keys');
    const [mine] = keys.filter(({ key_id }) => key_id === admin.key.key_id);
    expect([mine?.status, mine?.last_used_at]).toEqual(['active', null]);
    expect(keys.some(({ name }) => name === 'attack')).toBe(false);
    expect(await booted.panel.json('GET', '/api/project/recent')).toEqual([]);
  },
);

test('a preflight of any route is refused without a CORS header, whoever asks', async () => {
  for (const route of booted.daemon.routes)
    for (const origin of ['https://evil.example', booted.daemon.url]) {
      const answer = await rawRequest(booted.daemon.url, {
        method: 'OPTIONS',
        path: route.path,
        headers: { origin, 'access-control-request-method': route.method.toUpperCase() },
      });
      expect([route.path, answer.status]).toEqual([route.path, origin === booted.daemon.url ? 405 : 403]);
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
});
