import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChainHead, ReceiptPage } from '../../daemon/contract/receipts.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { boot } from '../../daemon/testing/boot.ts';
import { type PythonVerifier, startPythonVerifier } from './tamper/python-verifier.ts';
import { type Chain, tamperings } from './tamper/tamperings.ts';
import { tryMatrix } from './tamper/try-matrix.ts';

let python: PythonVerifier;
beforeAll(() => {
  python = startPythonVerifier();
});
afterAll(async () => {
  await python[Symbol.asyncDispose]();
});

/** A chain as a real daemon makes it: writes, an edit, a command, a rollback; each touches a file in a folder. */
async function chainOfDaemon(folder: string): Promise<Chain> {
  await using booted = await boot();
  const agent = await booted.agent();
  const receipts = join(booted.dataDir, 'workspaces', agent.project.slug, 'receipts');
  mkdirSync(join(booted.projectDir, 'src'));
  writeFileSync(join(booted.projectDir, 'src/from-before.txt'), 'from before\n');
  const put = (path: string, rawBody: string) =>
    agent.json('PUT', `/api/project/file?path=${path}`, undefined, {
      rawBody,
      headers: { 'content-type': 'text/plain' },
    });
  await put('src/a.txt', 'one\ntwo\n');
  const edits = [{ old_text: 'two', new_text: 'three' }];
  await agent.json('POST', '/api/project/edit', { path: 'src/a.txt', edits });
  await agent.run({ cmd: 'for i in 1 2 3; do echo $i >> src/from-before.txt; done; echo new > src/new.txt' });
  await put('src/b.txt', 'bäh\n');
  const olderCheckpoint = readFileSync(join(receipts, 'CHECKPOINT'), 'utf8');
  const page = await agent.json<ReceiptPage>('GET', '/api/receipts');
  const command = page.receipts.find(({ tool }) => tool === 'shell.run');
  await agent.json('POST', `/api/agent/rollback/${command?.run_id}`);
  await put('src/c.txt', '"quoted" \\ and\ttabbed\n');
  const head = await agent.json<ChainHead>('GET', '/api/receipts/chain-head');
  const all = await agent.json<ReceiptPage>('GET', '/api/receipts');
  cpSync(receipts, folder, { recursive: true });
  return {
    folder,
    wsId: head.ws_id,
    head: head.head,
    key: head.checkpoint_key ?? '',
    receiptIds: all.receipts.map(({ receipt_id }) => receipt_id).toReversed(),
    olderCheckpoint,
  };
}

test('a chain that a daemon made is valid to both verifiers, and never once it was tampered with', async () => {
  await using folder = await tempFolder();
  const chain = await chainOfDaemon(join(folder.path, 'chain'));
  const { head, key, wsId } = chain;
  expect(await python.verify(chain.folder, { head, key, wsId })).toMatchObject({ field: null });
  const { cases, verdicts } = await tryMatrix(chain, folder.path, python);
  console.log(
    `tamper matrix on a daemon's chain: ${tamperings.length} rows, ${cases} chains, ${verdicts} verdicts, none missed`,
  );
  expect(cases).toBeGreaterThan(150);
});
