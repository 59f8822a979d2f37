import { expect, test } from 'vitest';
import { AuditPage } from '../contract/audit-log.ts';
import { KeyId, UserId } from '../contract/ids.ts';
import type { Scope } from '../contract/scopes.ts';
import { createApp } from '../http/app.ts';
import { RateLimiter } from '../http/rate-limit.ts';
import { listenOnLoopback } from '../http/server.ts';
import { client } from '../testing/client.ts';
import { memoryLog } from '../testing/memory-log.ts';
import { auditRoutes } from './routes.ts';
import { auditFolder, revealed } from './testing/opened-log.ts';

const target = '/api/account/audit-log';

/** The routes behind the real app and server, for a key of that scope, with a log of so many entries. */
async function serving(count: number, scope: Scope = 'admin') {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await auditFolder());
  const auditLog = stack.use(await folder.open());
  await Promise.all(Array.from({ length: count }, (_, at) => auditLog.append(revealed(`NAME_${at}`))));
  const { logger } = memoryLog();
  const app = createApp({
    version: '0.0.0',
    routes: auditRoutes({ auditLog }),
    logger,
    rateLimiter: new RateLimiter(600, Date.now),
    authenticate: () => ({
      kind: 'key',
      keyId: KeyId.parse('key_0123456789abcdef'),
      userId: UserId.parse('u_0123456789abcdef'),
      scope,
    }),
  });
  const server = stack.use(await listenOnLoopback({ port: 0, version: '1.2.3', logger, app }));
  return { ...client(server.url, 'any'), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('GET /api/account/audit-log has 50 entries a page, newest first, and says where to go on', async () => {
  await using served = await serving(51);
  const page = AuditPage.parse(await served.json('GET', target));
  expect(page.entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, at) => 51 - at));
  expect(page.next_before).toBe(2);
  const last = AuditPage.parse(await served.json('GET', `${target}?before=${page.next_before}`));
  expect([last.entries.map(({ seq }) => seq), last.next_before]).toEqual([[1], null]);
});

test('takes a limit of 1 to 500, and nothing beside it', async () => {
  await using served = await serving(501);
  const entries = async (query: string) => {
    const page = AuditPage.parse(await served.json('GET', `${target}?${query}`));
    return [page.entries.length, page.next_before];
  };
  expect(await entries('limit=1')).toEqual([1, 501]);
  expect(await entries('limit=500')).toEqual([500, 2]);
  expect(await entries('limit=500&before=501')).toEqual([500, null]);
  for (const query of [
    'limit=0',
    'limit=501',
    'limit=-1',
    'limit=x',
    'limit=',
    'before=0',
    'before=x',
    'after=1',
  ])
    expect([query, (await served.problem('GET', `${target}?${query}`)).code]).toEqual([
      query,
      'invalid_request',
    ]);
});

test('is for admin keys alone', async () => {
  await using served = await serving(1, 'agent');
  expect(await served.problem('GET', target)).toMatchObject({ httpStatus: 403, code: 'insufficient_scope' });
});
