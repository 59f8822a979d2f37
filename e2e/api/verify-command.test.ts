import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { makeChain } from '../../daemon/receipts/testing/make-chain.ts';
import { buildOnce, type Finished, finish } from './served-daemon.ts';

beforeAll(buildOnce);

const script = join(import.meta.dirname, '../verifier/verify.py');

/** Both commands take the same arguments, and end with the same status. */
const commands = [
  ['tallystick verify', (args: readonly string[]) => finish(['verify', ...args])],
  ['verify.py', runPython],
] as const;

describe.for(commands)('%s', ([name, run]) => {
  test('ends with 0 for a chain as it was written, also found by its project', async () => {
    await using folder = await tempFolder();
    const { folder: chain, key, head, wsId } = makeChain({ folder: join(folder.path, 'chain'), count: 7 });
    const project = join(folder.path, 'project');
    await mkdir(join(project, '.service'), { recursive: true });
    await symlink(chain, join(project, '.service', 'receipts'));
    for (const args of [
      [],
      ['--key', key],
      ['--head', head],
      ['--workspace', wsId, '--key', key, '--head', head],
    ]) {
      const { status, stdout } = await run([chain, ...args]);
      expect([status, stdout]).toEqual([0, expect.stringMatching(/^valid.* 7 receipts[\s\S]*sha256:/i)]);
    }
    const { status, stdout } = await run([project, '--json']);
    expect([status, JSON.parse(stdout)]).toMatchObject([
      0,
      { valid: true, field: null, receipt_id: null, head },
    ]);
  });

  test('ends with 1 and names field and receipt after a change', async () => {
    await using folder = await tempFolder();
    const { folder: chain, receiptIds } = makeChain({ folder: join(folder.path, 'chain'), count: 7 });
    const path = join(chain, `${receiptIds[3]}.json`);
    await writeFile(path, (await readFile(path, 'utf8')).replace('"tool":"file.edit"', '"tool":"file.exit"'));
    const { status, stdout } = await run([chain]);
    expect([status, stdout]).toEqual([1, expect.stringMatching(/^NOT valid: tool /i)]);
    expect(stdout).toContain(receiptIds[3]);
    const asJson = await run([chain, '--json']);
    expect([asJson.status, JSON.parse(asJson.stdout)]).toMatchObject([
      1,
      { valid: false, field: 'tool', receipt_id: receiptIds[3] },
    ]);
  });

  test('ends with 1 for a head, a key or a workspace that is another', async () => {
    await using folder = await tempFolder();
    const { folder: chain } = makeChain({ folder: join(folder.path, 'chain'), count: 3 });
    const other = makeChain({ folder: join(folder.path, 'other'), count: 3 });
    for (const [args, field] of [
      [['--head', other.head], 'head'],
      [['--key', other.key], 'checkpoint'],
      [['--workspace', other.wsId], 'workspace_id'],
    ] as const) {
      const { status, stdout } = await run([chain, '--json', ...args]);
      expect([status, JSON.parse(stdout).field]).toEqual([1, field]);
    }
  });

  test('ends with 2 and a sentence for wrong usage', async () => {
    await using folder = await tempFolder();
    const { folder: chain } = makeChain({ folder: join(folder.path, 'chain'), count: 1 });
    for (const args of [
      [],
      [join(folder.path, 'none')],
      [folder.path],
      [join(chain, 'INDEX.jsonl')],
      [chain, chain],
      [chain, '--key', 'tallystick+00000000+AAAA'],
      [chain, '--head', 'abc'],
      [chain, '--frob'],
    ]) {
      const { status, stdout, stderr } = await run(args);
      expect([args, status, stdout]).toEqual([args, 2, '']);
      expect(stderr).not.toMatch(/Traceback|\n {4}at /);
      expect(stderr.length).toBeGreaterThan(20);
    }
  });

  test('verifies a chain that is long enough for threads', async () => {
    await using folder = await tempFolder();
    const { folder: chain, key, head } = makeChain({ folder: join(folder.path, 'chain'), count: 600 });
    const { status, stdout } = await run([chain, '--json', '--key', key, '--head', head]);
    expect([name, status, JSON.parse(stdout)]).toMatchObject([name, 0, { valid: true, count: 600, head }]);
  });
});

function runPython(args: readonly string[]): Promise<Finished> {
  return new Promise((resolve) => {
    const child = execFile('python3', [script, ...args], (_, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}
