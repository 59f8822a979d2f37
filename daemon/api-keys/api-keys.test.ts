import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CreatedKey, KeyListing } from '../contract/api-keys.ts';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { type BootedDaemon, boot } from '../testing/boot.ts';
import { client, withoutReceipt } from '../testing/client.ts';
import { testClock } from '../testing/test-clock.ts';
import { ApiKeys } from './api-keys.ts';
import type { KeyRecord, KeySlice } from './store.ts';

const path = '/api/account/api-keys';
const wanted = { name: 'ci', scopes: 'read', expiry: '1d' };

describe('creating a key', () => {
  test('answers all there is to know of it, and lists it without its value', async () => {
    const { clock } = testClock('2026-03-10T12:00:00.123Z');
    await using booted = await boot({ overrides: { clock } });
    const answer = await booted.panel.send('POST', path, { ...wanted, weekly_spend_cap: 12.5 });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const created: CreatedKey = await answer.json();
    expect(created).toEqual({
      key_id: expect.stringMatching(/^key_[0-9a-hjkmnp-tv-z]{16}$/),
      name: 'ci',
      key: expect.stringMatching(/^tly_live_[0-9A-Za-z]{36}$/),
      preview: `${created.key.slice(0, 12)}***`,
      scopes: 'read',
      expires_at: '2026-03-11T12:00:00.123Z',
      weekly_spend_cap: 12.5,
      created_at: '2026-03-10T12:00:00.123Z',
    });
    const text = await (await booted.panel.send('GET', path)).text();
    expect(text).not.toContain(created.key);
    expect(JSON.parse(text)).toEqual([
      {
        key_id: created.key_id,
        name: 'ci',
        preview: created.preview,
        scopes: 'read',
        expires_at: created.expires_at,
        last_used_at: null,
        weekly_spend_cap: 12.5,
        spent_this_week: 0,
        created_at: created.created_at,
        status: 'active',
      },
    ]);
  });

  test('keeps a cap of nothing apart from no cap', async () => {
    await using booted = await boot();
    const caps = [0, null, undefined, 1_000_000];
    for (const weekly_spend_cap of caps) await create(booted, { ...wanted, weekly_spend_cap });
    expect((await list(booted)).map((key) => key.weekly_spend_cap).reverse()).toEqual([
      0,
      null,
      null,
      1_000_000,
    ]);
  });

  test('trims the name, and counts what is left', async () => {
    await using booted = await boot();
    expect((await create(booted, { ...wanted, name: ' \t build server \n' })).name).toBe('build server');
    expect((await create(booted, { ...wanted, name: `  ${'n'.repeat(100)}  ` })).name).toBe('n'.repeat(100));
    for (const name of ['', '   ', 'n'.repeat(101)])
      expect((await booted.panel.problem('POST', path, { ...wanted, name })).httpStatus).toBe(422);
  });

  test.for([
    ['1d', '2027-12-31T23:59:59.999Z', '2028-01-01T23:59:59.999Z'],
    ['1m', '2026-01-31T08:00:00.000Z', '2026-02-28T08:00:00.000Z'],
    ['1m', '2028-01-31T08:00:00.000Z', '2028-02-29T08:00:00.000Z'],
    ['1m', '2026-03-31T08:00:00.000Z', '2026-04-30T08:00:00.000Z'],
    ['1m', '2026-12-31T08:00:00.000Z', '2027-01-31T08:00:00.000Z'],
    ['1y', '2028-02-29T08:00:00.000Z', '2029-02-28T08:00:00.000Z'],
    ['1y', '2027-02-28T08:00:00.000Z', '2028-02-28T08:00:00.000Z'],
    ['never', '2026-01-31T08:00:00.000Z', null],
  ] as const)('for %s from %s lets it expire at %s', async ([expiry, now, expires]) => {
    const { clock } = testClock(now);
    await using booted = await boot({ overrides: { clock } });
    expect((await create(booted, { ...wanted, expiry })).expires_at).toBe(expires);
  });

  test('needs the scope admin, and an admin key may make every kind', async () => {
    await using booted = await boot();
    const agent = await booted.keyed('agent');
    expect(await agent.problem('POST', path, wanted)).toMatchObject({
      httpStatus: 403,
      required: 'admin',
      granted: 'agent',
    });
    const admin = await booted.keyed('admin');
    for (const scopes of ['read', 'write', 'agent', 'admin'])
      expect((await admin.send('POST', path, { ...wanted, scopes })).status).toBe(201);
  });

  test('stops at 500 active keys, and goes on when one of them has ended', async () => {
    const { clock, advance } = testClock();
    await using booted = await boot({ overrides: { clock } });
    const first = await create(booted, wanted);
    const rest = Array.from({ length: 499 }, () => create(booted, { ...wanted, expiry: 'never' }));
    await Promise.all(rest);
    expect(await booted.panel.problem('POST', path, wanted)).toMatchObject({
      httpStatus: 409,
      code: 'conflict',
    });
    await booted.panel.send('DELETE', `${path}/${first.key_id}`);
    await create(booted, wanted);
    expect((await booted.panel.send('POST', path, wanted)).status).toBe(409);
    advance(24 * 3600 * 1000);
    expect((await booted.panel.send('POST', path, wanted)).status).toBe(201);
  });

  test('drops the oldest ended keys once there are more than 200', async () => {
    const time = testClock();
    const records = Array.from({ length: 230 }, (_, index) => endedRecord(index));
    const slice = memorySlice(records);
    const keys = new ApiKeys({ slice, env: 'live', clock: time.clock });
    await keys.create({ name: 'new', scopes: 'read', expiry: 'never' }, 'admin');
    const names = keys.list().map(({ name }) => name);
    expect(names).toHaveLength(201);
    expect([names[0], names[1], names.at(-1)]).toEqual(['new', 'ended 229', 'ended 30']);
  });
});

describe('revoking a key', () => {
  test('is done at once, can be done twice, and is shown in the list', async () => {
    await using booted = await boot();
    const { key } = await booted.keyed('read');
    for (let count = 0; count < 2; count += 1) {
      const answer = await booted.panel.send('DELETE', `${path}/${key.key_id}`);
      expect([answer.status, await answer.text()]).toEqual([204, '']);
    }
    expect((await list(booted))[0]).toMatchObject({ key_id: key.key_id, status: 'revoked' });
  });

  test('answers 404 unknown_key for one that never was, and 422 for what is no id', async () => {
    await using booted = await boot();
    const unknown = await booted.panel.problem('DELETE', `${path}/key_0123456789abcdef`);
    expect([unknown.httpStatus, unknown.code]).toEqual([404, 'unknown_key']);
    for (const id of [
      'x',
      'key_',
      'key_0123456789ABCDEF',
      'ws_0123456789abcdef',
      'key_0123456789abcdefg',
      '%00',
    ]) {
      const { httpStatus, code } = await booted.panel.problem('DELETE', `${path}/${id}`);
      expect([id, httpStatus, code]).toEqual([id, 422, 'invalid_request']);
    }
  });

  test('may be done by the key itself', async () => {
    await using booted = await boot();
    const admin = await booted.keyed('admin');
    expect((await admin.send('DELETE', `${path}/${admin.key.key_id}`)).status).toBe(204);
    expect((await admin.problem('GET', path)).code).toBe('revoked_key');
  });
});

describe('the list of keys', () => {
  test('is newest first, and shows which have expired', async () => {
    const { clock, advance } = testClock();
    await using booted = await boot({ overrides: { clock } });
    for (const name of ['one', 'two', 'three']) {
      await create(booted, { ...wanted, name, expiry: name === 'two' ? '1d' : 'never' });
      advance(1000);
    }
    advance(24 * 3600 * 1000);
    const shown = (await list(booted)).map(({ name, status }) => [name, status]);
    expect(shown).toEqual([
      ['three', 'active'],
      ['two', 'expired'],
      ['one', 'active'],
    ]);
  });

  test('shows the last use to the millisecond, though the file is not written for it', async () => {
    const { clock, advance } = testClock();
    await using booted = await boot({ overrides: { clock } });
    const reader = await booted.keyed('read');
    const before = await stateStamp(booted);
    for (let count = 0; count < 100; count += 1) {
      advance(10);
      await reader.send('GET', '/api/project/recent');
    }
    expect((await list(booted))[0]?.last_used_at).toBe(new Date(clock()).toISOString());
    expect(await stateStamp(booted)).toEqual(before);
  });

  test('has the last use still after a restart', async () => {
    await using folder = await tempFolder();
    const { clock, advance } = testClock();
    const dataDir = join(folder.path, 'data');
    const used = await withDaemon({ dataDir, clock }, async (booted) => {
      const reader = await booted.keyed('read');
      advance(5000);
      await reader.send('GET', '/api/project/recent');
      return new Date(clock()).toISOString();
    });
    advance(60_000);
    await withDaemon({ dataDir, clock }, async (booted) => {
      expect((await list(booted))[0]?.last_used_at).toBe(used);
    });
  });
});

test('keys, sessions and active workspaces survive a restart on the same data folder', async () => {
  await using folder = await tempFolder();
  await using project = await tempFolder();
  const dataDir = join(folder.path, 'data');
  const before = await withDaemon({ dataDir }, async (booted) => {
    const agent = await booted.keyed('agent');
    const revoked = await booted.keyed('read');
    await booted.panel.send('DELETE', `${path}/${revoked.key.key_id}`);
    const loaded = await agent.json<{ ws_id: string }>('POST', '/api/project/load', { path: project.path });
    await booted.panel.json('POST', '/api/project/load', { path: project.path });
    return { key: agent.key.key, revoked: revoked.key.key, session: booted.session, loaded };
  });
  await withDaemon({ dataDir }, async ({ daemon }) => {
    const agent = client(daemon.url, before.key);
    expect(withoutReceipt((await agent.run({ cmd: 'pwd' })).frames)).toEqual([
      { type: 'stdout', line: project.path },
      { type: 'exit', code: 0 },
    ]);
    expect((await client(daemon.url, before.revoked).problem('GET', '/api/project/recent')).code).toBe(
      'revoked_key',
    );
    const panel = client(daemon.url, before.session.session_token);
    expect(await panel.json('GET', '/api/session')).toMatchObject({
      session_id: before.session.session_id,
      user_id: before.session.user_id,
      active_ws_id: before.loaded.ws_id,
    });
  });
});

test('neither a key nor a session token is on disk in plain, only their hashes', async () => {
  await using booted = await boot();
  const { key } = await booted.keyed('admin');
  const files = (await readdir(booted.dataDir, { recursive: true, withFileTypes: true })).filter((file) =>
    file.isFile(),
  );
  expect(files.map(({ name }) => name)).toContain('state.json');
  for (const file of files) {
    const text = await readFile(join(file.parentPath, file.name), 'utf8');
    for (const secret of [key.key, key.key.slice(12), booted.session.session_token])
      expect(text).not.toContain(secret);
  }
  const { mode } = await stat(join(booted.dataDir, 'state.json'));
  expect(mode & 0o777).toBe(0o600);
  expect((await stat(booted.dataDir)).mode & 0o777).toBe(0o700);
});

function create({ panel }: BootedDaemon, body: object): Promise<CreatedKey> {
  return panel.json('POST', path, body);
}

function list({ panel }: BootedDaemon): Promise<KeyListing[]> {
  return panel.json('GET', path);
}

/** A write replaces the file by another, so its inode tells that there was none. */
async function stateStamp({ dataDir }: BootedDaemon): Promise<object> {
  const { ino, mtimeMs, size } = await stat(join(dataDir, 'state.json'));
  return { ino, mtimeMs, size };
}

async function withDaemon<T>(
  { dataDir, clock }: { dataDir: string; clock?: () => number },
  use: (booted: BootedDaemon) => Promise<T>,
): Promise<T> {
  await using booted = await boot({ dataDir, ...(clock === undefined ? {} : { overrides: { clock } }) });
  return await use(booted);
}

function endedRecord(index: number): KeyRecord {
  const digits = index.toString().padStart(16, '0');
  return {
    key_id: `key_${digits}` as KeyRecord['key_id'],
    name: `ended ${index}`,
    sha256: index.toString(16).padStart(64, '0'),
    preview: 'tly_live_abc***',
    env: 'live',
    scopes: 'read',
    created_at: '2026-01-01T00:00:00.000Z',
    expires_at: null,
    revoked_at: '2026-01-02T00:00:00.000Z',
    last_used_at: null,
    weekly_spend_cap: null,
    spent: null,
  };
}

function memorySlice(initial: readonly KeyRecord[]): KeySlice {
  let value = initial;
  return {
    get value() {
      return value;
    },
    update: async (change) => {
      const { next, result } = change(value);
      value = next;
      return result;
    },
    updateLazily: (change) => {
      value = change(value);
    },
  };
}
