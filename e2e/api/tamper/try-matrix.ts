import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifyFolder } from '../../../daemon/receipts/verifier/verify-folder.ts';
import type { Finding, Given, PythonVerifier } from './python-verifier.ts';
import { type Chain, ChainFiles, type Position, tamperings } from './tamperings.ts';

/** Every row at the first, middle and last receipt, with as little given as shows it, and with everything. */
export async function tryMatrix(
  chain: Chain,
  scratch: string,
  python: PythonVerifier,
): Promise<{ cases: number; verdicts: number }> {
  let cases = 0;
  let verdicts = 0;
  for (const { name, apply, field, needs = [], once } of tamperings) {
    const positions: Position[] = once === true ? ['middle'] : ['first', 'middle', 'last'];
    for (const position of positions) {
      const copy = join(scratch, `case-${cases}`);
      cpSync(chain.folder, copy, { recursive: true });
      apply(new ChainFiles(chain, copy, seqAt(chain, position)), position);
      cases += 1;
      const least = pick(chain, needs);
      const expected = typeof field === 'string' ? field : field(position);
      for (const given of [least, pick(chain, ['head', 'key', 'workspace'])]) {
        const ours = await verifyOurs(copy, given);
        const theirs = await python.verify(copy, given);
        verdicts += 2;
        expect({ name, position, given, ...theirs }).toEqual({ name, position, given, ...ours });
        expect({ name, position, field: ours.field }).not.toEqual({ name, position, field: null });
        if (given === least)
          expect({ name, position, field: ours.field }).toEqual({ name, position, field: expected });
      }
    }
  }
  return { cases, verdicts };
}

function pick(chain: Chain, needs: readonly ('head' | 'key' | 'workspace')[]): Given {
  return {
    ...(needs.includes('head') ? { head: chain.head } : {}),
    ...(needs.includes('key') ? { key: chain.key } : {}),
    ...(needs.includes('workspace') ? { wsId: chain.wsId } : {}),
  };
}

function seqAt({ receiptIds }: Chain, position: Position): number {
  if (position === 'first') return 1;
  return position === 'last' ? receiptIds.length : Math.ceil(receiptIds.length / 2);
}

/** What the verifier of the daemon finds. */
export async function verifyOurs(folder: string, { head, key, wsId }: Given): Promise<Finding> {
  const { fault } = await verifyFolder(folder, {
    ...(head === undefined ? {} : { head }),
    ...(key === undefined ? {} : { key }),
    ...(wsId === undefined ? {} : { wsId }),
  });
  return { field: fault?.field ?? null, receipt_id: fault?.receipt_id ?? null };
}
