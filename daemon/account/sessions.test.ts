import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CreatedSession } from '../contract/session.ts';
import { boot } from '../testing/boot.ts';
import { client } from '../testing/client.ts';
import { testClock } from '../testing/test-clock.ts';

const minuteMs = 60_000;
const dayMs = 24 * 3600 * 1000;

describe('a login token', () => {
  test('is exchanged for a session once', async () => {
    const { clock } = testClock('2026-03-10T12:00:00.000Z');
    await using booted = await boot({ overrides: { clock } });
    const token = booted.daemon.mintLoginToken();
    const answer = await booted.stranger.send('POST', '/api/session', { token });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(await answer.json()).toEqual({
      session_id: expect.stringMatching(/^ses_[0-9a-hjkmnp-tv-z]{16}$/),
      session_token: expect.stringMatching(/^tls_[A-Za-z0-9_-]{43}$/),
      user_id: booted.session.user_id,
      expires_at: '2026-03-17T12:00:00.000Z',
    });
    const again = await booted.stranger.problem('POST', '/api/session', { token });
    expect([again.httpStatus, again.code]).toEqual([401, 'invalid_login_token']);
  });

  test('is good until five minutes have passed', async () => {
    const { clock, advance } = testClock();
    await using booted = await boot({ overrides: { clock } });
    const [inTime, late] = [booted.daemon.mintLoginToken(), booted.daemon.mintLoginToken()];
    advance(5 * minuteMs - 1);
    expect((await booted.stranger.send('POST', '/api/session', { token: inTime })).status).toBe(201);
    advance(1);
    expect((await booted.stranger.problem('POST', '/api/session', { token: late })).code).toBe(
      'invalid_login_token',
    );
  });

  test('is used up by one of many who use it at the same time', async () => {
    await using booted = await boot();
    const token = booted.daemon.mintLoginToken();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => booted.stranger.send('POST', '/api/session', { token })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(401)]);
  });

  test('that was never minted is refused', async () => {
    await using booted = await boot();
    for (const token of ['x', 'A'.repeat(43), booted.session.session_token, 'a'.repeat(200)])
      expect((await booted.stranger.problem('POST', '/api/session', { token })).httpStatus).toBe(401);
    for (const token of ['', 'a'.repeat(201), 5, null, {}, [], undefined])
      expect((await booted.stranger.problem('POST', '/api/session', { token })).httpStatus).toBe(422);
  });
});

describe('a session', () => {
  test('tells who is signed in, and has every scope', async () => {
    await using booted = await boot();
    expect(await booted.panel.json('GET', '/api/session')).toEqual({
      session_id: booted.session.session_id,
      user_id: booted.session.user_id,
      created_at: expect.stringMatching(/Z$/),
      expires_at: booted.session.expires_at,
      active_ws_id: null,
    });
    expect((await booted.panel.send('GET', '/api/status')).status).toBe(200);
  });

  test('is not for API keys, an admin’s neither', async () => {
    await using booted = await boot();
    const admin = await booted.keyed('admin');
    for (const method of ['GET', 'DELETE'])
      expect(await admin.problem(method, '/api/session')).toMatchObject({
        httpStatus: 403,
        code: 'insufficient_scope',
        required: 'session',
        granted: 'admin',
      });
    expect((await booted.panel.send('GET', '/api/session')).status).toBe(200);
  });

  test('expires after seven days', async () => {
    const { clock, advance } = testClock();
    await using booted = await boot({ overrides: { clock } });
    advance(7 * dayMs - 1);
    expect((await booted.panel.send('GET', '/api/session')).status).toBe(200);
    advance(1);
    const refused = await booted.panel.problem('GET', '/api/session');
    expect([refused.httpStatus, refused.code]).toEqual([401, 'session_expired']);
  });

  test('ends when it signs out; another one of the same person goes on', async () => {
    await using booted = await boot();
    const other = await booted.stranger.json<CreatedSession>('POST', '/api/session', {
      token: booted.daemon.mintLoginToken(),
    });
    const answer = await booted.panel.send('DELETE', '/api/session');
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect((await booted.panel.problem('GET', '/api/session')).code).toBe('session_expired');
    expect((await booted.panel.problem('DELETE', '/api/session')).code).toBe('session_expired');
    expect((await client(booted.daemon.url, other.session_token).send('GET', '/api/session')).status).toBe(
      200,
    );
  });

  test('ends its streams within a second when it signs out, and leaves those of others', async () => {
    await using booted = await boot();
    const other = await booted.stranger.json<CreatedSession>('POST', '/api/session', {
      token: booted.daemon.mintLoginToken(),
    });
    const otherPanel = client(booted.daemon.url, other.session_token);
    const mine = await booted.panel.send('GET', '/api/events');
    const theirs = await otherPanel.send('GET', '/api/events');
    const reader = theirs.body?.getReader();
    await reader?.read();
    const began = performance.now();
    await booted.panel.send('DELETE', '/api/session');
    const text = await mine.text();
    expect(performance.now() - began).toBeLessThan(1000);
    expect(text).toContain('"code":"session_expired"');
    await otherPanel.send('POST', '/api/account/api-keys', { name: 'x', scopes: 'read', expiry: '1d' });
    const next = await reader?.read();
    expect(new TextDecoder().decode(next?.value)).toContain('key.created');
    await reader?.cancel();
  });

  test('is kept as a hash alone, and gives way when a hundred others have come', async () => {
    await using booted = await boot();
    const create = () =>
      booted.stranger.json<CreatedSession>('POST', '/api/session', { token: booted.daemon.mintLoginToken() });
    const tokens = [booted.session.session_token];
    for (let count = 0; count < 100; count += 1) tokens.push((await create()).session_token);
    const text = await readFile(join(booted.dataDir, 'state.json'), 'utf8');
    for (const token of tokens) expect(text).not.toContain(token);
    expect(JSON.parse(text).sessions).toHaveLength(100);
    expect((await booted.panel.problem('GET', '/api/session')).code).toBe('session_expired');
    expect((await client(booted.daemon.url, tokens[1]).send('GET', '/api/session')).status).toBe(200);
  });
});
