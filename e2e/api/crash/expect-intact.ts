import { execFile } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Receipt } from '../../../daemon/contract/receipts.ts';
import { until } from '../../../daemon/testing/processes.ts';
import { readChain, readTree, replay, type Tree } from './receipt-replay.ts';
import { built, type WorkspaceDaemon } from './workspace-daemon.ts';

/** What the test knows of a workspace, whatever became of its daemons. */
export interface KnownWorkspace {
  readonly project: string;
  /** The tree before the first receipt. */
  readonly start: Tree;
  /** Ids of receipts that a caller was given. */
  readonly acknowledged: Set<string>;
  /** Paths that are changed outside, and of which receipts know nothing. */
  readonly isOutside?: (path: string) => boolean;
}

/**
 * Checks all that must be so whenever a daemon runs and nothing is under way: one chain, in it every acknowledged receipt;
 * the receipts tell exactly how the tree came to be what it is; the verifiers agree; nothing is left lying about.
 * Answers the chain.
 */
export async function expectIntact(
  daemon: WorkspaceDaemon,
  { project, start, acknowledged, isOutside = () => false }: KnownWorkspace,
): Promise<Receipt[]> {
  const chain = readChain(daemon.receiptsFolder);
  const ids = new Set(chain.map(({ receipt_id }) => receipt_id as string));
  expect(new Set([...acknowledged].filter((id) => !ids.has(id)))).toEqual(new Set());
  const told = [...replay(chain, start)].sort();
  const found = [...readTree(project)].filter(([path]) => !isOutside(path)).sort();
  expect(found).toEqual(told);
  await expectNoLeftovers(project, /^\.tallystick-.*\.tmp$/);
  await expectNoLeftovers(daemon.workspaceFolder, /\.tmp$|^\.durable-|^tmp_pack_/);
  expect(commandsIn(project)).toEqual([]);
  const last = chain.at(-1);
  if (last !== undefined)
    expect(await daemon.verifyRun(last.run_id)).toMatchObject({ valid: true, mismatch: null });
  await expectVerified(daemon.receiptsFolder);
  return chain;
}

/** The offline verifier, as anybody would run it. */
async function expectVerified(receiptsFolder: string): Promise<void> {
  const said = await new Promise<string>((resolve) => {
    execFile(process.execPath, [built, 'verify', receiptsFolder], (error, stdout, stderr) =>
      resolve(error === null ? 'valid' : stdout + stderr),
    );
  });
  expect(said).toBe('valid');
}

/** Temporary files of what is being written behind go away by themselves. */
async function expectNoLeftovers(folder: string, form: RegExp): Promise<void> {
  let left: string[] = [];
  const isClean = () => {
    left = leftovers(folder, form);
    return left.length === 0;
  };
  await until('temporary files are gone', isClean, 3000).catch(() => expect(left).toEqual([]));
}

function leftovers(folder: string, form: RegExp): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(({ name }) => form.test(name))
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Processes that were started for a command and still stand in the project, or did until it was removed. */
function commandsIn(project: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => cwdOf(pid).startsWith(project));
}

function cwdOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return ''; // it has ended, or is another user's
  }
}
