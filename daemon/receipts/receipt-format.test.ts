import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { describe, expect, test } from 'vitest';
import { genesisHash, receiptIdOf, sealReceipt } from './receipt-format.ts';
import { draftOf } from './testing/make-chain.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const wsId = 'ws_0123456789abcdef';

describe('a sealed receipt', () => {
  const draft = draftOf({ seq: 3, wsId, prevHash: genesisHash(wsId) });
  const sealed = sealReceipt(draft);

  test('is stored as its canonical form and a line feed', () => {
    expect(sealed.bytes.toString()).toBe(`${canonicalize(sealed.receipt)}\n`);
    expect(sealed.receipt).toEqual({ ...draft, self_hash: sealed.selfHash });
  });

  test('bears the hash of its canonical form without self_hash', () => {
    expect(sealed.selfHash).toBe(`sha256:${sha256(canonicalize(draft) ?? '')}`);
  });

  test('has an index line with a digest of every field', () => {
    const { seq, receipt_id, run_id, timestamp, action, prev_receipt_hash, self_hash } = sealed.receipt;
    const fields = Object.fromEntries(
      Object.entries(sealed.receipt).map(([name, value]) => [
        name,
        sha256(canonicalize(value) ?? '').slice(0, 16),
      ]),
    );
    const line = { seq, receipt_id, run_id, timestamp, action, prev_receipt_hash, self_hash, fields };
    expect(sealed.indexLine).toBe(`${canonicalize(line)}\n`);
  });

  test('seals fields that are not known yet, wherever they sort', () => {
    for (const name of ['a', 'self', 'self_hash2', 'self_hasg', 'z', 'é', '"', 'act', 'action!']) {
      const more = sealReceipt({ ...draft, [name]: [name] });
      expect(more.bytes.toString()).toBe(`${canonicalize(more.receipt)}\n`);
      expect(more.indexLine).toBe(`${canonicalize(JSON.parse(more.indexLine))}\n`);
      expect(more.selfHash).toBe(`sha256:${sha256(canonicalize({ ...draft, [name]: [name] }) ?? '')}`);
    }
  });

  test('seals anew what was sealed before', () => {
    expect(sealReceipt(sealed.receipt)).toEqual(sealed);
  });

  test('is refused where a value has no canonical form', () => {
    expect(() => sealReceipt({ ...draft, models: ['\ud800'] })).toThrow(TypeError);
    expect(() => sealReceipt({ ...draft, cost: { ...draft.cost, usd: Number.NaN } })).toThrow(TypeError);
  });
});

test('the genesis hash is the one that sha256sum prints', () => {
  // printf 'tallystick/genesis/v1\nws_0123456789abcdef' | sha256sum
  expect(genesisHash(wsId)).toBe('sha256:711a662db8aaa1e6ae8f122e6d113db785648bfb59a8bc19b8bc35921c0b9704');
});

describe('the id of a receipt', () => {
  test('has the date in UTC, the position and four random digits', () => {
    const ms = Date.UTC(2026, 0, 31, 23, 59, 59, 999);
    expect(receiptIdOf(1, ms, Buffer.of(0, 0xab))).toBe('rcpt_20260131_0000000100ab');
    expect(receiptIdOf(99_999_999, ms + 1, Buffer.of(0xff, 0xff))).toBe('rcpt_20260201_99999999ffff');
    expect(receiptIdOf(7, ms)).toMatch(/^rcpt_20260131_00000007[0-9a-f]{4}$/);
  });

  test.for([0, -1, 1.5, 100_000_000, Number.NaN])('does not exist for position %s', (seq) => {
    expect(() => receiptIdOf(seq, 0)).toThrow(RangeError);
  });
});
