import { describe, expect, test } from 'vitest';
import { boot } from '../testing/boot.ts';
import { client } from '../testing/client.ts';
import { testClock } from '../testing/test-clock.ts';

const target = '/api/project/recent';

describe('the rate limit', () => {
  test('lets the 600th request of a minute pass, and answers the 601st with 429', async () => {
    const { clock } = testClock('2026-03-10T12:00:15.500Z');
    await using booted = await boot({ overrides: { clock }, requestsPerMinute: 600 });
    const reader = await booted.keyed('read');
    for (let count = 1; count <= 600; count += 1) {
      const answer = await reader.send('GET', target);
      await answer.arrayBuffer();
      expect([count, answer.status, rateHeaders(answer)]).toEqual([
        count,
        200,
        ['600', String(600 - count), '45'],
      ]);
    }
    const refused = await reader.send('GET', target);
    expect(refused.status).toBe(429);
    expect(rateHeaders(refused)).toEqual(['600', '0', '45']);
    expect(refused.headers.get('retry-after')).toBe('45');
    expect(await refused.json()).toMatchObject({ code: 'rate_limited', retry_after: 45 });
  });

  test('begins anew on the boundary of the minute, not a minute after the first request', async () => {
    const time = testClock('2026-03-10T12:00:59.000Z');
    await using booted = await boot({ overrides: { clock: time.clock }, requestsPerMinute: 2 });
    const reader = await booted.keyed('read');
    const use = async () => (await reader.send('GET', target)).status;
    expect([await use(), await use(), await use()]).toEqual([200, 200, 429]);
    time.set('2026-03-10T12:00:59.999Z');
    const last = await reader.send('GET', target);
    expect([last.status, last.headers.get('retry-after')]).toEqual([429, '1']);
    time.set('2026-03-10T12:01:00.000Z');
    const first = await reader.send('GET', target);
    expect([first.status, rateHeaders(first)]).toEqual([200, ['2', '1', '60']]);
  });

  test('counts each key by itself, and what is refused does not count further', async () => {
    const { clock } = testClock();
    await using booted = await boot({ overrides: { clock }, requestsPerMinute: 3 });
    const [one, other] = [await booted.keyed('read'), await booted.keyed('read')];
    for (let count = 0; count < 10; count += 1) await one.send('GET', target);
    expect((await one.send('GET', target)).status).toBe(429);
    const answer = await other.send('GET', target);
    expect([answer.status, answer.headers.get('ratelimit-remaining')]).toEqual([200, '2']);
  });

  test('does not hold for a panel session, which gets no such headers', async () => {
    const { clock } = testClock();
    await using booted = await boot({ overrides: { clock }, requestsPerMinute: 2 });
    for (let count = 0; count < 20; count += 1) {
      const answer = await booted.panel.send('GET', target);
      expect([answer.status, rateHeaders(answer)]).toEqual([200, [null, null, null]]);
    }
  });

  test('counts a request before its scope, its body and its workspace are looked at', async () => {
    const { clock } = testClock();
    await using booted = await boot({ overrides: { clock }, requestsPerMinute: 6 });
    const reader = await booted.keyed('read');
    const writer = await booted.keyed('agent');
    const refusals = [
      [await reader.send('GET', '/api/status'), 403],
      [await reader.send('GET', '/api/shell/jobs'), 409],
      [await reader.send('GET', `${target}?unknown=1`), 422],
      [await reader.send('POST', '/api/shell/run', undefined, { rawBody: '{' }), 403],
      [await reader.send('GET', '/api/shell/jobs/garbage/stream'), 422],
      [await reader.send('DELETE', '/api/session'), 403],
    ] as const;
    // The last is for sessions alone and not paid for by a key.
    expect(refusals.map(([answer, status]) => [answer.status === status, remaining(answer)])).toEqual([
      [true, '5'],
      [true, '4'],
      [true, '3'],
      [true, '2'],
      [true, '1'],
      [true, null],
    ]);
    expect(remaining(await writer.send('POST', '/api/shell/run', undefined, { rawBody: '{' }))).toBe('5');
    expect(remaining(await writer.send('POST', '/api/project/load', { path: '/etc' }))).toBe('4');
    expect(remaining(await reader.send('GET', target))).toBe('0');
    expect((await reader.send('GET', '/api/status')).status).toBe(429);
  });

  test('does not count requests of keys that are refused', async () => {
    const { clock } = testClock();
    await using booted = await boot({ overrides: { clock }, requestsPerMinute: 5 });
    const reader = await booted.keyed('read');
    await booted.panel.send('DELETE', `/api/account/api-keys/${reader.key.key_id}`);
    for (let count = 0; count < 10; count += 1) {
      const refused = await reader.send('GET', target);
      expect([refused.status, rateHeaders(refused)]).toEqual([401, [null, null, null]]);
    }
  });

  test('is on streams and on answers by api_key too', async () => {
    await using booted = await boot({ requestsPerMinute: 100 });
    const agent = await booted.agent();
    const stream = await agent.send('POST', '/api/shell/run', { cmd: 'true' });
    await stream.text();
    expect(rateHeaders(stream).slice(0, 2)).toEqual(['100', '98']);
    const byQuery = await client(booted.daemon.url).send('GET', `${target}?api_key=${agent.key.key}`);
    expect(rateHeaders(byQuery).slice(0, 2)).toEqual(['100', '97']);
  });
});

function rateHeaders({ headers }: Response): (string | null)[] {
  return ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) => headers.get(name));
}

function remaining({ headers }: Response): string | null {
  return headers.get('ratelimit-remaining');
}
