import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceId } from '../../daemon/contract/ids.ts';
import { openToken } from '../../daemon/lib/fernet.ts';
import { newId } from '../../daemon/lib/ids.ts';
import { sealStore, workspaceKey } from '../../daemon/secrets/store-format.ts';
import { findPython, noPython } from '../../e2e/interop/python.ts';
import type { FernetAnswer, FernetInput, FernetSample } from '../clients/fernet-store.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget } from '../row.ts';
import { runProgram } from '../run-program.ts';
import { shuffled } from '../statistics.ts';

/** Opening and sealing the store of 100 secrets, beside python3-cryptography on the same bytes. */
export const fernet: Row = { name: 'fernet', run };

const secrets = 100;
const timeoutMs = 60_000;
const measures = ['openStore', 'sealStore', 'openToken', 'sealToken'] as const;

async function run(bench: Bench): Promise<RowResult> {
  const rounds = bench.quick ? 3 : 7;
  const python = findPython();
  const { path, bytes } = makeSample(bench.tempDir);
  const script = join(import.meta.dirname, '..', 'python', 'fernet_store.py');
  const variants = {
    ours: { file: process.execPath, program: bench.program('fernet-store') },
    ...(python === undefined ? {} : { python: { file: python.program, program: script } }),
  };
  const answers = { ours: [] as FernetAnswer[], python: [] as FernetAnswer[] };
  const input: FernetInput = { sample: path, seconds: bench.quick ? 0.3 : 0.7 };
  for (let round = 1; round <= rounds; round += 1) {
    bench.progress(`round ${round} of ${rounds}`);
    for (const [name, { file, program }] of shuffled(Object.entries(variants))) {
      const { stdout } = await runProgram(file, [program, JSON.stringify(input)], timeoutMs);
      answers[name === 'ours' ? 'ours' : 'python'].push(JSON.parse(stdout));
    }
  }
  const hashes = new Set([...answers.ours, ...answers.python].map(({ sha256 }) => sha256));
  if (hashes.size !== 1) throw new Error('the two do not seal the same bytes');
  return {
    row: 'fernet',
    title: `opening and sealing a store of ${secrets} secrets, ${bytes.toLocaleString('en')} bytes of JSON, ${rounds} rounds`,
    ...comparison(answers),
    notes: [
      python === undefined ? noPython : `the peer is python3-cryptography ${python.version}`,
      'opening a store: token and JSON; ours also holds every byte to the canonical form, theirs is json.loads',
    ],
  };
}

function comparison({ ours, python }: { ours: FernetAnswer[]; python: FernetAnswer[] }) {
  const of = (answers: readonly FernetAnswer[], measure: (typeof measures)[number]) =>
    answers.map((answer) => answer[measure]);
  const peers = python.length === 0 ? [] : [{ name: 'python', answers: python }];
  return {
    figures: measures.flatMap((measure) =>
      [{ name: 'tallystick', answers: ours }, ...peers].map(({ name, answers }) =>
        figure(`${name} ${words[measure]}`, 'per s', of(answers, measure)),
      ),
    ),
    targets: peers.flatMap(({ answers }) => [
      ratioTarget('opening / python', of(ours, 'openStore'), of(answers, 'openStore'), 'at least', 1.3),
      ratioTarget('sealing / python', of(ours, 'sealStore'), of(answers, 'sealStore'), 'at least', 0.8),
    ]),
  };
}

const words = {
  openStore: 'opens a store',
  sealStore: 'seals a store',
  openToken: 'opens a token',
  sealToken: 'seals a token',
};

function makeSample(folder: string): { path: string; bytes: number } {
  const wsId = newId('ws') as WorkspaceId;
  const key = workspaceKey(randomBytes(32), wsId);
  const updated_at = new Date().toISOString();
  const values = Array.from({ length: secrets }, (_, at) => {
    const value = randomBytes(45).toString('base64url');
    return [`SECRET_${at}`, { value, updated_at }] as const;
  });
  const token = sealStore(key, wsId, { generation: 1, secrets: new Map(values) });
  const sample: FernetSample = { key: `${key.toString('base64url')}=`, wsId, token };
  const path = join(folder, 'fernet-sample.json');
  writeFileSync(path, JSON.stringify(sample));
  return { path, bytes: openToken(key, token).length };
}
