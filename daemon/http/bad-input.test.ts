import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Problem } from '../contract/errors.ts';
import { type BootedDaemon, boot } from '../testing/boot.ts';
import { withoutReceipt } from '../testing/client.ts';

const keys = '/api/account/api-keys';
const run = '/api/shell/run';
const key = { name: 'x', scopes: 'read', expiry: '1d' };
const notStrings: readonly unknown[] = [null, 5, true, [], {}, ['x'], { toString: 'x' }];
const notNumbers: readonly unknown[] = [null, '5', true, [], {}];
let booted: BootedDaemon;

beforeAll(async () => {
  booted = await boot();
  await booted.panel.json('POST', '/api/project/load', { path: booted.projectDir });
});
afterAll(() => booted[Symbol.asyncDispose]());

/** Every field of every body, with a good body around it, and values that it must not take. */
const fields: [path: string, good: Record<string, unknown>, field: string, bad: readonly unknown[]][] = [
  ['/api/session', { token: 'x' }, 'token', [undefined, ...notStrings, '', 'x'.repeat(201)]],
  [keys, key, 'name', [undefined, ...notStrings, '', ' ', 'x'.repeat(101)]],
  [keys, key, 'scopes', [undefined, ...notStrings, '', 'root', 'READ', 'read ', 'read,write', '__proto__']],
  [keys, key, 'expiry', [undefined, ...notStrings, '', '2d', '1D', 'Never', '1 day', 'toString']],
  [keys, key, 'weekly_spend_cap', ['5', true, [], {}, -0.01, 1_000_000.01, 1e308]],
  ['/api/project/load', {}, 'path', [undefined, ...notStrings, '', 'x'.repeat(4097)]],
  ['/api/project/load', { path: '/nowhere' }, 'slug', [...notStrings, '', 'A', '-', '../x', 'x'.repeat(65)]],
  [run, {}, 'cmd', [undefined, ...notStrings, '', ' \t\n', 'a\0b', 'x'.repeat(65_537), 'é'.repeat(32_769)]],
  [run, { cmd: 'true' }, 'cwd', [...notStrings, 'x'.repeat(4097)]],
  [run, { cmd: 'true' }, 'timeout', [...notNumbers, 1.5, 1e308]],
];

describe.for(fields)('%s with %j: the field %s', ([path, good, field, bad]) => {
  test.for(bad.map((value) => [JSON.stringify(value)?.slice(0, 40), value] as const))(
    'does not take %s',
    async ([, value]) => {
      const refused = await booted.panel.problem('POST', path, { ...good, [field]: value });
      expect([refused.httpStatus, refused.code]).toEqual([422, 'invalid_request']);
      expect(pathsOf(refused)).toContain(field);
      expect(refused.detail).toContain(field);
    },
  );
});

describe('a body', () => {
  test('is refused with a member that nobody knows, which is named', async () => {
    for (const [path, good, field] of fields) {
      const whole = { ...good, ...(field in good ? {} : { [field]: 'x' }), extra: 1 };
      const refused = await booted.panel.problem('POST', path, whole);
      expect([path, refused.httpStatus, refused.code]).toEqual([path, 422, 'invalid_request']);
      expect(JSON.stringify(refused)).toContain('extra');
    }
  });

  test('is refused where it is no object', async () => {
    for (const path of ['/api/session', keys, '/api/project/load', run])
      for (const rawBody of ['null', '[]', '5', '"x"', 'true', '[{}]']) {
        const refused = await booted.panel.problem('POST', path, undefined, { rawBody });
        expect([path, rawBody, refused.httpStatus, refused.code]).toEqual([
          path,
          rawBody,
          422,
          'invalid_request',
        ]);
      }
  });

  test('tells all that is wrong with it, not the first thing alone', async () => {
    const refused = await booted.panel.problem('POST', keys, { name: '', scopes: 'x', expiry: 5 });
    expect(pathsOf(refused).sort()).toEqual(['expiry', 'name', 'scopes']);
  });
});

test('every field is taken at its limit', async () => {
  for (const body of [
    { ...key, name: 'x'.repeat(100) },
    { ...key, weekly_spend_cap: 0 },
    { ...key, weekly_spend_cap: 1_000_000 },
    { ...key, weekly_spend_cap: null },
  ])
    expect((await booted.panel.send('POST', keys, body)).status).toBe(201);
  expect((await booted.panel.problem('POST', '/api/session', { token: 'x'.repeat(200) })).httpStatus).toBe(
    401,
  );
  const longPath = `/${'x'.repeat(4095)}`;
  expect((await booted.panel.problem('POST', '/api/project/load', { path: longPath })).code).toMatch(
    /^project_path_/,
  );
  for (const timeout of [1, 300])
    expect((await booted.panel.run({ cmd: 'true', timeout })).frames).toHaveLength(1);
  for (const timeout of [0, 301, -1]) {
    const refused = await booted.panel.problem('POST', run, { cmd: 'true', timeout });
    expect([timeout, refused.httpStatus, refused.code]).toEqual([timeout, 422, 'timeout_out_of_range']);
  }
  const longest = `: ${'x'.repeat(65_534)}`;
  expect(withoutReceipt((await booted.panel.run({ cmd: longest })).frames)).toEqual([
    { type: 'exit', code: 0 },
  ]);
});

test('every parameter in a path or a query is checked, and a parameter that nobody knows is refused', async () => {
  const bad = [
    'x',
    '%20',
    '%00',
    '..%2f..',
    'j_0123456789ABCDEF',
    'j_0123456789abcdei',
    `j_${'0'.repeat(5000)}`,
  ];
  const targets = [
    ['DELETE', `${keys}/`, ''],
    ['DELETE', '/api/project/recent/', ''],
    ['POST', '/api/shell/cancel/', ''],
    ['GET', '/api/shell/jobs/', '/stream'],
  ] as const;
  for (const [method, before, after] of targets)
    for (const value of bad) {
      const { httpStatus, code } = await booted.panel.problem(method, before + value + after);
      expect([before, value, httpStatus, code]).toEqual([before, value, 422, 'invalid_request']);
    }
  const stream = '/api/shell/jobs/j_0123456789abcdef/stream';
  for (const query of [
    'lossy=yes',
    'lossy=',
    'last_event_id=x',
    'last_event_id=-1',
    `last_event_id=${'9'.repeat(16)}`,
  ])
    expect([query, (await booted.panel.problem('GET', `${stream}?${query}`)).httpStatus]).toEqual([
      query,
      422,
    ]);
  expect((await booted.panel.problem('GET', `${stream}?lossy=true&lossy=true`)).code).toBe('bad_request');
  for (const { method, path, scope } of booted.daemon.routes) {
    if (scope === 'session' || path.includes(':')) continue;
    const body = method === 'post' ? { ...key, cmd: 'true' } : undefined;
    const refused = await booted.panel.problem(method.toUpperCase(), `${path}?unknown=1`, body);
    expect([path, refused.httpStatus, refused.code]).toEqual([path, 422, 'invalid_request']);
  }
});

function pathsOf({ errors }: Problem): string[] {
  return (errors ?? []).map(({ path }) => path);
}
