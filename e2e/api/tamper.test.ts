import { generateKeyPairSync } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { type Draft, makeChain } from '../../daemon/receipts/testing/make-chain.ts';
import { verifyFolder } from '../../daemon/receipts/verifier/verify-folder.ts';
import { madeChain } from './tamper/made-chain.ts';
import { type Finding, type PythonVerifier, startPythonVerifier } from './tamper/python-verifier.ts';
import { ChainFiles, tamperings } from './tamper/tamperings.ts';
import { tryMatrix, verifyOurs } from './tamper/try-matrix.ts';

const deep = process.env.TALLYSTICK_DEEP === '1';
const flips = { ours: deep ? 10_000 : 1000, python: deep ? 10_000 : 60 };
const cleanChains = { ours: deep ? 1000 : 300, python: deep ? 1000 : 30 };

let python: PythonVerifier;
beforeAll(() => {
  python = startPythonVerifier();
});
afterAll(async () => {
  await python[Symbol.asyncDispose]();
});

describe('a chain that was tampered with', () => {
  test('is never valid: both verifiers name the same field of the same receipt', async () => {
    await using folder = await tempFolder();
    const chain = madeChain(join(folder.path, 'chain'));
    const { cases, verdicts } = await tryMatrix(chain, folder.path, python);
    console.log(
      `tamper matrix: ${tamperings.length} rows, ${cases} chains, ${verdicts} verdicts, none missed`,
    );
    expect(cases).toBeGreaterThan(150);
  });

  test('is never valid after one bit of any of its files was flipped', async () => {
    await using folder = await tempFolder();
    const chain = madeChain(join(folder.path, 'chain'));
    const given = { head: chain.head, key: chain.key, wsId: chain.wsId };
    const names = readdirSync(chain.folder);
    const random = generator(20260131);
    const missed: string[] = [];
    const disagreed: unknown[] = [];
    const named = new Map<string, number>();
    for (let flip = 0; flip < flips.ours; flip += 1) {
      const path = join(chain.folder, names[random(names.length)] ?? '');
      const bytes = readFileSync(path);
      const [at, bit] = [random(bytes.length), random(8)];
      const flipped = Buffer.from(bytes);
      flipped[at] = (bytes[at] ?? 0) ^ (1 << bit);
      writeFileSync(path, flipped);
      const ours = await verifyOurs(chain.folder, given);
      if (ours.field === null) missed.push(`${path} byte ${at} bit ${bit}`);
      named.set(ours.field ?? 'missed', (named.get(ours.field ?? 'missed') ?? 0) + 1);
      if (flip % Math.ceil(flips.ours / flips.python) === 0) {
        const theirs = await python.verify(chain.folder, given);
        if (!isSame(ours, theirs)) disagreed.push({ path, at, bit, ours, theirs });
      }
      writeFileSync(path, bytes);
    }
    console.log(
      `bit flips: ${flips.ours}, ${flips.python} of them for both verifiers; missed ${missed.length}`,
    );
    console.log([...named].map(([field, times]) => `${field} ${times}`).join(', '));
    expect({ missed, disagreed }).toEqual({ missed: [], disagreed: [] });
    expect(await verifyOurs(chain.folder, given)).toEqual({ field: null, receipt_id: null });
  });

  test('is found to be older, or another, by the copy that the daemon keeps', async () => {
    await using folder = await tempFolder();
    const chain = madeChain(join(folder.path, 'chain'));
    const count = chain.receiptIds.length;
    const trusted = { count, head: chain.head, signedCount: count };
    for (const name of [
      'an older backup put back',
      'an older CHECKPOINT put back',
      'a forged receipt appended',
      'the whole chain rewritten, where only its head is known',
    ]) {
      const copy = join(folder.path, name);
      cpSync(chain.folder, copy, { recursive: true });
      tamperings
        .find((tampering) => tampering.name === name)
        ?.apply(new ChainFiles(chain, copy, 3), 'middle');
      const { valid, fault } = await verifyFolder(copy, { wsId: chain.wsId, trusted });
      expect([name, valid, fault?.field]).toEqual([name, false, 'checkpoint']);
    }
    expect(await verifyFolder(chain.folder, { wsId: chain.wsId, trusted })).toMatchObject({
      valid: true,
      count,
    });
  });
});

describe('a chain as it was written', () => {
  test('is valid, whatever its receipts say', async () => {
    await using folder = await tempFolder();
    const random = generator(7);
    const { privateKey: signer } = generateKeyPairSync('ed25519');
    const alarms: unknown[] = [];
    for (let made = 0; made < cleanChains.ours; made += 1) {
      const vary = (draft: Draft) => ({ ...draft, ...oddities(random) });
      const chain = makeChain({ folder: join(folder.path, String(made)), count: random(8), signer, vary });
      const given = { head: chain.head, key: chain.key, wsId: chain.wsId };
      const findings = [await verifyOurs(chain.folder, given), await verifyOurs(chain.folder, {})];
      if (made % Math.ceil(cleanChains.ours / cleanChains.python) === 0)
        findings.push(await python.verify(chain.folder, given));
      if (findings.some(({ field }) => field !== null)) alarms.push({ made, findings });
    }
    console.log(
      `clean chains: ${cleanChains.ours}, ${cleanChains.python} of them for both; alarms ${alarms.length}`,
    );
    expect(alarms).toEqual([]);
  });
});

const isSame = (a: Finding, b: Finding) => a.field === b.field && a.receipt_id === b.receipt_id;

/** The same numbers in every run (a linear congruence modulo 2³²). */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Values that are hard to write canonically. */
function oddities(random: (below: number) => number): Partial<Draft> {
  const numbers = [0, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 0.1, 123456789012345680000, 1 / 3, 2 ** 53];
  const texts = [
    '',
    '\u0000\u001f\u007f',
    '"\\/',
    '\u2028😀\ufffd',
    '\u0080é\ud7ff\ue000',
    ',"self_hash":"sha256:',
  ];
  const text = () => texts[random(texts.length)] ?? '';
  const odd = {
    [`${text()}b`]: text(),
    [`${text()}a`]: numbers[random(numbers.length)],
    '10': [[]],
    '9': {},
  };
  return {
    cost: { usd: (numbers[random(numbers.length)] ?? 0) / (random(3) + 1), tokens_in: 0, tokens_out: 0 },
    models: [text(), text()],
    command: { cmd: text(), exit_code: random(2) === 0 ? null : -random(99), host: text() },
    ...{ future_field: odd, [`z${text()}`]: odd },
  };
}
