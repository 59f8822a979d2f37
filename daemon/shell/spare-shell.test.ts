import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JobId } from '../contract/ids.ts';
import { openFolderInside } from '../lib/open-folder.ts';
import { listProcesses } from '../lib/process-table.ts';
import { isRunning, until } from '../testing/processes.ts';
import { type LocalProcess, startProcess } from './job-process.ts';
import { SpareShell } from './spare-shell.ts';

const environment = { PATH: process.env.PATH ?? '', HOME: '/home/someone' };
const jobId = JobId.parse('j_0123456789abcdef');
const root = realpathSync(mkdtempSync(join(tmpdir(), "spare 'quoted' ")));

async function outputOf({
  child,
  exit,
}: LocalProcess): Promise<{ stdout: string; stderr: string; code: number | null }> {
  const read = async (stream: NodeJS.ReadableStream | null) => {
    let text = '';
    for await (const part of stream ?? []) text += String(part);
    return text;
  };
  const [stdout, stderr, { code }] = await Promise.all([read(child.stdout), read(child.stderr), exit]);
  return { stdout, stderr, code };
}

function optionsFor(commandLine: string) {
  return { jobId, commandLine, folder: openFolderInside(root, '').path, environment, secrets: {} };
}

async function taken(spare: SpareShell, commandLine: string): Promise<LocalProcess> {
  spare.prepare();
  const process = spare.take(optionsFor(commandLine));
  if (process === undefined) throw new Error('no shell was waiting');
  return process;
}

test.each([
  [
    'its environment, folder, input and arguments',
    'env | sort; pwd; pwd -P; cat; echo "$0 $# $-"; umask; ps -o args= -p $$',
  ],
  [
    'quotes, line feeds and backslashes in the command',
    `echo 'it''s' "a\\b"\necho '\n'"$HOME" \`echo x\` #'`,
  ],
  ['a syntax error', 'echo (; exit 1'],
  ['its exit code', 'echo out; echo err >&2; exit 42'],
  ['its group and session', "ps -o pid=,pgid=,sid= -p $$ | awk '{print ($1==$2), ($2==$3)}'"],
])(
  'a command run by a waiting shell sees and does the same as one started for it: %s',
  async (_what, commandLine) => {
    using spare = new SpareShell(environment);
    const [mine, own] = await Promise.all([
      taken(spare, commandLine).then(outputOf),
      startProcess(optionsFor(commandLine)).then(outputOf),
    ]);
    expect(mine).toEqual(own);
  },
);

test('a shell is used once, and the next command starts its own until another waits', async () => {
  using spare = new SpareShell(environment);
  await outputOf(await taken(spare, 'true'));
  expect(spare.take(optionsFor('true'))).toBeUndefined();
});

test('a waiting shell that was killed is not used', async () => {
  using spare = new SpareShell(environment);
  const before = new Set((await ownChildren()).map(({ pid }) => pid));
  spare.prepare();
  const waiting = (await ownChildren()).filter(({ pid }) => !before.has(pid));
  expect(waiting).toHaveLength(1);
  for (const { pid } of waiting) process.kill(pid, 'SIGKILL');
  await until('its end is noticed', async () => {
    spare.prepare();
    return (await ownChildren()).some(({ pid }) => !before.has(pid) && pid !== waiting[0]?.pid);
  });
  expect((await outputOf(await taken(spare, 'echo alive'))).stdout).toBe('alive\n');
});

test('ends its waiting shell when it is disposed, and starts none after', async () => {
  const spare = new SpareShell(environment);
  const before = new Set((await ownChildren()).map(({ pid }) => pid));
  spare.prepare();
  const [waiting] = (await ownChildren()).filter(({ pid }) => !before.has(pid));
  spare[Symbol.dispose]();
  await until('it is gone', () => waiting !== undefined && !isRunning(waiting.pid));
  spare.prepare();
  expect(spare.take(optionsFor('true'))).toBeUndefined();
});

async function ownChildren() {
  return (await listProcesses()).filter((entry) => entry.parentPid === process.pid && !entry.zombie);
}
