import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CodedError } from '../contract/errors.ts';
import { KeyId, type RunId, UserId } from '../contract/ids.ts';
import { ChainHead, ReceiptPage, RunVerdict, VerifyFrame } from '../contract/receipts.ts';
import { createApp } from '../http/app.ts';
import { OpenStreams } from '../http/open-streams.ts';
import { RateLimiter } from '../http/rate-limit.ts';
import type { Principal } from '../http/route.ts';
import { listenOnLoopback } from '../http/server.ts';
import { newId } from '../lib/ids.ts';
import { client } from '../testing/client.ts';
import { memoryLog } from '../testing/memory-log.ts';
import { receiptRoutes } from './routes.ts';
import { sealedChain } from './testing/sealed-chain.ts';
import { storeFixture } from './testing/store-fixture.ts';

const runId = newId('run') as RunId;

/** The routes over HTTP, with 205 receipts: the first two of one run. */
async function serving() {
  await using stack = new AsyncDisposableStack();
  const fixture = stack.use(await storeFixture());
  const store = await fixture.open();
  const chain = sealedChain(205, { ...fixture, runId: (at) => (at < 2 ? runId : newId('run')) });
  store.append(chain);
  const asked: (string | undefined)[] = [];
  const streams = new OpenStreams();
  const routes = receiptRoutes({
    streams,
    receiptsOf: async ({ namedWorkspace }, wsId) => {
      const named = wsId ?? namedWorkspace;
      asked.push(named);
      if (named === 'elsewhere') throw new CodedError('unknown_workspace', 'There is none of that name.');
      return store;
    },
  });
  const principal: Principal = {
    kind: 'key',
    keyId: KeyId.parse(newId('key')),
    userId: UserId.parse(newId('u')),
    scope: 'read',
  };
  const app = createApp({
    version: '0.0.0',
    routes,
    logger: memoryLog().logger,
    authenticate: () => principal,
    rateLimiter: new RateLimiter(1_000, Date.now),
  });
  const server = stack.use(
    await listenOnLoopback({ port: 0, version: '0.0.0', logger: memoryLog().logger, app }),
  );
  const kept = stack.move();
  return {
    ...client(server.url, 'key'),
    fixture,
    chain,
    asked,
    streams,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

test('a page has 50 receipts, or as many as are asked for, up to 200', async () => {
  await using api = await serving();
  const lengthOf = async (query: string) => {
    const page = ReceiptPage.parse(await api.json('GET', `/api/receipts${query}`));
    return [page.receipts.length, page.next_before !== null];
  };
  expect(await lengthOf('')).toEqual([50, true]);
  expect(await lengthOf('?limit=1')).toEqual([1, true]);
  expect(await lengthOf('?limit=200')).toEqual([200, true]);
  for (const limit of ['201', '0', '-1', '1e2', '', '1.5'])
    expect(await api.problem('GET', `/api/receipts?limit=${limit}`)).toMatchObject({
      code: 'invalid_request',
    });
  const before = api.chain[5]?.receipt.receipt_id;
  expect(await lengthOf(`?before=${before}`)).toEqual([5, false]);
  expect(await lengthOf(`?run_id=${runId}`)).toEqual([2, false]);
  expect(await lengthOf('?tool=shell.run&path=x')).toEqual([0, false]);
  expect(await api.problem('GET', '/api/receipts?before=rcpt_20260301_000000010000')).toMatchObject({
    code: 'unknown_receipt',
  });
});

test('a receipt is answered byte by byte, altered or not', async () => {
  await using api = await serving();
  const id = api.chain[0]?.receipt.receipt_id;
  const answer = await api.send('GET', `/api/receipts/${id}`);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('etag')).toMatch(/^"sha256:[0-9a-f]{64}"$/);
  const path = join(api.fixture.folder, `${id}.json`);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(readFileSync(path));
  writeFileSync(path, 'altered');
  const altered = await api.send('GET', `/api/receipts/${id}`);
  expect([await altered.text(), altered.headers.get('etag') === answer.headers.get('etag')]).toEqual([
    'altered',
    false,
  ]);
  rmSync(path);
  expect(await api.problem('GET', `/api/receipts/${id}`)).toMatchObject({
    httpStatus: 404,
    code: 'unknown_receipt',
  });
});

test('the workspace in the query goes before the one in the header', async () => {
  await using api = await serving();
  const headers = { 'x-workspace-id': 'from-header' };
  const head = ChainHead.parse(await api.json('GET', '/api/receipts/chain-head', undefined, { headers }));
  expect(head).toMatchObject({ count: 205, head: api.chain.at(-1)?.selfHash, ws_id: api.fixture.wsId });
  expect(head.checkpoint_key).toMatch(/^tallystick\+/);
  await api.json('GET', '/api/receipts/chain-head?ws_id=from-query', undefined, { headers });
  await api.json('GET', '/api/receipts');
  expect(api.asked).toEqual(['from-header', 'from-query', undefined]);
  expect(await api.problem('GET', '/api/receipts?ws_id=elsewhere')).toMatchObject({
    code: 'unknown_workspace',
  });
});

test('a run is verified, and one that is unknown is told', async () => {
  await using api = await serving();
  const path = join(api.fixture.folder, `${api.chain[1]?.receipt.receipt_id}.json`);
  const verify = async () => RunVerdict.parse(await api.json('POST', `/api/receipts/${runId}/verify`));
  expect(await verify()).toMatchObject({ valid: true, mismatch: null, checked: 2 });
  writeFileSync(path, readFileSync(path, 'utf8').replace('"usd":0', '"usd":1'));
  expect(await verify()).toMatchObject({ valid: false, mismatch: 'cost', checked: 2 });
  expect(await api.problem('POST', `/api/receipts/${newId('run')}/verify`)).toMatchObject({
    httpStatus: 404,
    code: 'unknown_run',
  });
});

test('the whole chain is verified in a stream that ends with the verdict', async () => {
  await using api = await serving();
  const lastFrame = async () => {
    const answer = await api.send('POST', '/api/receipts/verify');
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const frames = (await answer.text()).split('\n\n').slice(0, -1);
    return frames.map((frame) => VerifyFrame.parse(JSON.parse(frame.slice('data: '.length)))).at(-1);
  };
  expect(await lastFrame()).toMatchObject({
    type: 'verdict',
    valid: true,
    checked: 205,
    signature: 'verified',
  });
  rmSync(join(api.fixture.folder, `${api.chain[99]?.receipt.receipt_id}.json`));
  expect(await lastFrame()).toMatchObject({
    type: 'verdict',
    valid: false,
    fault: { field: 'file', seq: 100 },
  });
  expect(api.streams.count).toBe(0);
});
