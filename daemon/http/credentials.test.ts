import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newKey } from '../api-keys/key-format.ts';
import { boot } from '../testing/boot.ts';
import { client, rawRequest } from '../testing/client.ts';
import { memoryLog } from '../testing/memory-log.ts';
import { testClock } from '../testing/test-clock.ts';

const target = '/api/project/recent';

describe('a request without a usable credential', () => {
  test('is 401 missing_credentials with a WWW-Authenticate where there is none, or one of another kind', async () => {
    await using booted = await boot();
    const key = (await booted.keyed('read')).key.key;
    const headers: Record<string, string>[] = [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer ' },
      { authorization: key },
      { authorization: `Basic ${Buffer.from(`user:${key}`).toString('base64')}` },
      { authorization: `Token ${key}` },
      { authorization: `Bearer:${key}` },
      { cookie: `session=${booted.session.session_token}; api_key=${key}` },
      { 'x-api-key': key },
    ];
    for (const given of headers) {
      const answer = await rawRequest(booted.daemon.url, { path: target, headers: given });
      expect([given, answer.status]).toEqual([given, 401]);
      expect(JSON.parse(answer.body).code).toBe('missing_credentials');
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="tallystick"');
    }
  });

  test('is 401 invalid_key where the text is no key of this daemon', async () => {
    await using booted = await boot();
    const key = (await booted.keyed('read')).key.key;
    for (const credential of [
      'x',
      'tly_live_short',
      `${key}x`,
      key.slice(0, -1),
      key.toUpperCase(),
      key.replace('tly_', 'TLY_'),
      `${key} ${key}`,
      `"${key}"`,
      newKey('live'),
      newKey('test'),
      'a'.repeat(8000),
    ]) {
      const refused = await client(booted.daemon.url, credential).send('GET', target);
      expect([credential.slice(0, 60), refused.status]).toEqual([credential.slice(0, 60), 401]);
      expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="tallystick"');
      expect(await refused.json()).toMatchObject({ code: 'invalid_key', status: 401 });
    }
  });

  test('is told a typo from a key that is not known, for any single character', async () => {
    await using booted = await boot();
    const key = (await booted.keyed('read')).key.key;
    for (let position = 'tly_live_'.length; position < key.length; position += 1) {
      const typo = key.slice(0, position) + (key[position] === 'a' ? 'b' : 'a') + key.slice(position + 1);
      const { code, detail } = await client(booted.daemon.url, typo).problem('GET', target);
      expect([code, detail]).toEqual(['invalid_key', expect.stringContaining('check digits')]);
    }
    const { detail } = await client(booted.daemon.url, newKey('live')).problem('GET', target);
    expect(detail).toContain('not known');
  });

  test('is 401 session_expired where a session token is not known', async () => {
    await using booted = await boot();
    for (const token of ['tls_', `tls_${'A'.repeat(43)}`, `${booted.session.session_token}A`]) {
      const { code, httpStatus } = await client(booted.daemon.url, token).problem('GET', target);
      expect([httpStatus, code]).toEqual([401, 'session_expired']);
    }
  });
});

describe('a key', () => {
  test('is taken as a Bearer token in any case of the scheme', async () => {
    await using booted = await boot();
    const { key } = await booted.keyed('read');
    for (const authorization of [`Bearer ${key.key}`, `bearer ${key.key}`, `BEARER  ${key.key} `]) {
      const answer = await rawRequest(booted.daemon.url, { path: target, headers: { authorization } });
      expect([authorization, answer.status]).toEqual([authorization, 200]);
    }
  });

  test('is taken as api_key on GET alone', async () => {
    await using booted = await boot();
    const { key } = await booted.keyed('admin');
    const query = `?api_key=${key.key}`;
    expect((await booted.stranger.send('GET', target + query)).status).toBe(200);
    for (const [method, path] of [
      ['POST', '/api/account/api-keys'],
      ['POST', '/api/project/load'],
      ['DELETE', `/api/account/api-keys/${key.key_id}`],
      ['HEAD', target],
    ] as const) {
      const answer = await booted.stranger.send(method, path + query);
      expect([method, path, answer.status]).toEqual([method, path, 401]);
    }
    expect(await booted.stranger.problem('POST', `/api/project/load${query}`, { path: '/' })).toMatchObject({
      code: 'missing_credentials',
      detail: expect.stringContaining('GET alone'),
    });
  });

  test('is refused with 400 where it is given both ways or twice, the same key too', async () => {
    await using booted = await boot();
    const reader = await booted.keyed('read');
    const { key } = reader.key;
    const both = await reader.problem('GET', `${target}?api_key=${key}`);
    const bothOnPost = await reader.problem('POST', `/api/project/load?api_key=${key}`, { path: '/' });
    const twice = await booted.stranger.problem('GET', `${target}?api_key=${key}&api_key=${key}`);
    const odd = await reader.problem('GET', `${target}?api_key=`);
    for (const refused of [both, bothOnPost, twice, odd])
      expect([refused.httpStatus, refused.code]).toEqual([400, 'bad_request']);
  });

  test('of the other environment is refused by its prefix', async () => {
    await using live = await boot();
    await using test_ = await boot({ env: 'test' });
    const liveKey = (await live.keyed('read')).key.key;
    const testKey = (await test_.keyed('read')).key.key;
    expect(liveKey).toMatch(/^tly_live_/);
    expect(testKey).toMatch(/^tly_test_/);
    const refused = await client(live.daemon.url, testKey).problem('GET', target);
    expect(refused).toMatchObject({ httpStatus: 401, code: 'invalid_key' });
    expect(refused.detail).toContain('test key');
    expect((await client(test_.daemon.url, liveKey).problem('GET', target)).code).toBe('invalid_key');
    expect((await client(test_.daemon.url, testKey).send('GET', target)).status).toBe(200);
  });

  test('that was revoked is 401 revoked_key from the next request on', async () => {
    await using booted = await boot();
    const reader = await booted.keyed('read');
    expect((await reader.send('GET', target)).status).toBe(200);
    await booted.panel.send('DELETE', `/api/account/api-keys/${reader.key.key_id}`);
    const refused = await reader.send('GET', target);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="tallystick"');
    expect(await refused.json()).toMatchObject({ status: 401, code: 'revoked_key' });
  });

  test('that expired is 401 expired_key from that millisecond on', async () => {
    const { clock, advance } = testClock();
    await using booted = await boot({ overrides: { clock } });
    const reader = await booted.keyed('read');
    advance(24 * 3600 * 1000 - 1);
    expect((await reader.send('GET', target)).status).toBe(200);
    advance(1);
    expect(await reader.problem('GET', target)).toMatchObject({ httpStatus: 401, code: 'expired_key' });
  });
});

test('no key, session token or login token is in any log, at its most talkative level, nor on disk', async () => {
  const log = memoryLog();
  await using booted = await boot({ overrides: { logger: log.logger } });
  const agent = await booted.agent();
  const loginToken = booted.daemon.mintLoginToken();
  const { key } = agent.key;
  const typo = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
  await agent.run({ cmd: 'true' });
  await agent.send('POST', '/api/shell/run', { cmd: 'true', timeout: 0 });
  await booted.stranger.send('GET', `${target}?api_key=${key}`);
  await booted.stranger.send('GET', `/nothing/there?api_key=${key}`);
  await booted.stranger.send('GET', `${target}?api_key=${key}&api_key=${key}`);
  await booted.stranger.send('GET', `${target}?api_key=${key}&other=1`);
  await booted.stranger.send('POST', `/api/project/load?api_key=${key}`, {});
  await booted.stranger.send('PUT', `${target}?api_key=${key}`);
  await client(booted.daemon.url, typo).send('GET', target);
  await booted.stranger.send('POST', '/api/session', { token: loginToken, extra: loginToken });
  await booted.stranger.send('POST', '/api/session', undefined, { rawBody: `{"token":"${loginToken}"` });
  await booted.panel.send('GET', '/api/status');
  await booted.panel.send('DELETE', `/api/account/api-keys/${agent.key.key_id}`);
  await agent.send('GET', target);
  const onDisk = await everyFile(booted.dataDir);
  for (const secret of [key, typo, loginToken, booted.session.session_token]) {
    expect(log.text()).not.toContain(secret);
    expect(onDisk).not.toContain(secret);
  }
  expect(log.text()).toContain('request refused');
  expect(onDisk).toContain(agent.key.key_id);
});

async function everyFile(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')));
  return texts.join('\n');
}
