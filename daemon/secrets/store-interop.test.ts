import { randomBytes, randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { askPython, findPython, noPython } from '../../e2e/interop/python.ts';
import type { WorkspaceId } from '../contract/ids.ts';
import { openToken, sealToken } from '../lib/fernet.ts';
import { newId } from '../lib/ids.ts';
import { masterKeyId } from '../master-key/key-format.ts';
import { openStore, type StoreContents, sealStore, workspaceKey } from './store-format.ts';

const python = findPython();
if (python === undefined) process.stdout.write(`store-interop: skipped, ${noPython}\n`);

const cases = 120;

const Answer = z.object({
  opened_tokens: z.array(z.base64().nullable()),
  opened_stores: z.array(z.base64().nullable()),
  sealed_tokens: z.array(z.string()),
  sealed_stores: z.array(z.object({ token: z.string(), plaintext: z.base64(), key_id: z.string() })),
});

const nothing = { open_tokens: [], open_stores: [], seal_tokens: [], seal_stores: [] };
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const texts = () =>
  Array.from({ length: cases }, (_, at) => ({ key: randomBytes(32), text: randomBytes(at * 7) }));
const stores = () =>
  Array.from({ length: cases }, () => ({
    master: randomBytes(32),
    wsId: newId('ws') as WorkspaceId,
    contents: randomContents(),
  }));

test.skipIf(python === undefined)('python3-cryptography opens our tokens and our stores', () => {
  const [ourTexts, ourStores] = [texts(), stores()];
  const answer = ask({
    open_tokens: ourTexts.map(({ key, text }) => ({ key: base64(key), token: sealToken(key, text) })),
    open_stores: ourStores.map(({ master, wsId, contents }) => ({
      master: base64(master),
      ws_id: wsId,
      token: sealStore(workspaceKey(master, wsId), wsId, contents),
    })),
  });
  expect(answer.opened_tokens).toEqual(ourTexts.map(({ text }) => base64(text)));
  const theirs = answer.opened_stores.map((text) => JSON.parse(Buffer.from(text ?? '', 'base64').toString()));
  expect(theirs).toEqual(ourStores.map(({ wsId, contents }) => asJson(wsId, contents)));
  process.stdout.write(
    `interop: python ${python?.version} opened ${cases} tokens and ${cases} stores of ours\n`,
  );
});

test.skipIf(python === undefined)('we open the tokens and the stores that python3-cryptography seals', () => {
  const [theirTexts, theirStores] = [texts(), stores()];
  const answer = ask({
    seal_tokens: theirTexts.map(({ key, text }) => ({ key: base64(key), text: base64(text) })),
    seal_stores: theirStores.map(({ master, wsId, contents }) => ({
      master: base64(master),
      ...asJson(wsId, contents),
    })),
  });
  const opened = answer.sealed_tokens.map((token, at) =>
    openToken(theirTexts[at]?.key ?? Buffer.of(), token),
  );
  expect(opened.map(base64)).toEqual(theirTexts.map(({ text }) => base64(text)));
  for (const [at, { token, plaintext, key_id }] of answer.sealed_stores.entries()) {
    const { master, wsId, contents } = theirStores[at] ?? expect.unreachable();
    const key = workspaceKey(master, wsId);
    expect(openStore(key, wsId, token)).toEqual(contents);
    // Their canonical form is ours, to the byte.
    expect(base64(openToken(key, sealStore(key, wsId, contents)))).toBe(plaintext);
    expect(masterKeyId(master)).toBe(key_id);
  }
  process.stdout.write(
    `interop: we opened ${cases} tokens and ${cases} stores of python ${python?.version}\n`,
  );
});

test.skipIf(python === undefined)(
  'what we refuse because it was altered, python3-cryptography refuses',
  () => {
    const key = randomBytes(32);
    const bytes = Buffer.from(sealToken(key, Buffer.from('hello')), 'base64url');
    const tokens = Array.from({ length: bytes.length * 8 }, (_, bit) => {
      const mutated = Buffer.from(bytes);
      mutated[bit >> 3] = (mutated[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return `${mutated.toString('base64url')}${['', '==', '='][mutated.length % 3]}`;
    });
    for (const token of tokens) expect(() => openToken(key, token)).toThrow();
    const answer = ask({ open_tokens: tokens.map((token) => ({ key: base64(key), token })) });
    expect(answer.opened_tokens).toEqual(tokens.map(() => null));
  },
);

function ask(question: Partial<typeof nothing> | Record<string, unknown>) {
  if (python === undefined) throw new Error(noPython);
  return Answer.parse(askPython(python, 'fernet_interop.py', { ...nothing, ...question }));
}

function asJson(wsId: string, { generation, secrets }: StoreContents) {
  return { generation, secrets: Object.fromEntries(secrets), version: 1, ws_id: wsId };
}

const pieces = ['a', 'Z', '0', ' ', '"', '\\', '\n', '\r\n', '\t', '\b', '\f', '\u0001', '\u001f', '\u007f'];
const characters = [
  ...pieces,
  '/',
  'é',
  '\u2028',
  '\ufeff',
  '\ufffd',
  '漢',
  '😀',
  '":{"',
  '","value":"',
  '},',
];

function randomContents(): StoreContents {
  const names = Array.from({ length: randomInt(20) }, () => `${pick(['A', '_', 'z'])}${randomInt(1e9)}`);
  const secrets = names.map((name) => [name, { value: randomValue(), updated_at: randomTime() }] as const);
  return { generation: 1 + randomInt(2 ** 47), secrets: new Map(secrets) };
}

function randomValue(): string {
  return Array.from({ length: 1 + randomInt(60) }, () => pick(characters)).join('');
}

function randomTime(): string {
  return new Date(randomInt(2 ** 42)).toISOString();
}

function pick(from: readonly string[]): string {
  return from[randomInt(from.length)] ?? '';
}
