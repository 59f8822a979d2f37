import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeStaleTempFiles, writeDurably } from '../../daemon/lib/durable-file.ts';
import { makeFolderDurably } from '../../daemon/lib/durable-folder.ts';
import { LineProcess } from '../../daemon/lib/testing/line-process.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import type { CrashPoint } from './crash/crash-points.ts';
import { crashPoints, DISK_CALLS, deep, summary } from './crash/crash-points.ts';
import { copyAsIfPowerWereCut, makeExt4, mountImage, mountMissing } from './crash/mounts.ts';
import { openNames } from './crash/names-state.ts';
import type { Injection } from './crash/strace.ts';
import { attachStrace, straceMissing, wasStruck } from './crash/strace.ts';

const script = join(import.meta.dirname, 'crash/update-state.ts');

test('what was acknowledged is on the disk when the power is cut right after', { timeout: 120_000 }, async ({
  skip,
}) => {
  await using scratch = await tempFolder();
  const missing = mountMissing('loop', scratch.path);
  if (missing) return skipAloud(missing, skip);
  const image = join(scratch.path, 'disk.img');
  makeExt4(image, 8);
  using disk = mountImage(image, join(scratch.path, 'disk'));
  const folder = join(disk.path, 'new', 'data');
  await makeFolderDurably(folder);
  await using subject = LineProcess.start(script, [folder]);
  const names = Array.from({ length: deep ? 100 : 10 }, (_, index) => `name-${index}`);
  for (const [index, name] of names.entries()) {
    subject.send(name);
    expect(await subject.line((line) => line.endsWith(` ${name}`))).toBe(`acknowledged ${name}`);
    const after = await afterPowerCut(image, scratch.path, (root) => namesIn(join(root, 'new', 'data')));
    expect(after).toEqual(names.slice(0, index + 1));
  }
  console.info(`cut the power after each of ${names.length} updates`);
});

test('a power cut at any step of an update leaves the old state or the new', { timeout: 600_000 }, async ({
  skip,
}) => {
  await using scratch = await tempFolder();
  const missing = mountMissing('loop', scratch.path) ?? straceMissing();
  if (missing) return skipAloud(missing, skip);
  const tried: { point: CrashPoint; struck: boolean }[] = [];
  const calm = await cutDuringUpdate(undefined);
  expect(calm.names).toEqual(['first', 'second']);
  for (const point of crashPoints(calm.log)) {
    const { log, names, lines } = await cutDuringUpdate({ ...point, effect: 'signal=KILL' });
    const struck = wasStruck(log, point.syscall);
    if (point.syscall !== 'write') expect(struck, `${point.syscall} ${point.nth}`).toBe(true);
    tried.push({ point, struck });
    expect([['first'], ['first', 'second']]).toContainEqual(names);
    if (lines.includes('acknowledged second')) expect(names).toEqual(['first', 'second']);
  }
  console.info(`cut the power during an update: ${summary(tried)}`);
});

test('the power cut is one that takes what was not synced', { retry: 3 }, async ({ skip }) => {
  await using scratch = await tempFolder();
  const missing = mountMissing('loop', scratch.path);
  if (missing) return skipAloud(missing, skip);
  const image = join(scratch.path, 'disk.img');
  makeExt4(image, 8);
  using disk = mountImage(image, join(scratch.path, 'disk'));
  await writeDurably(join(disk.path, 'file'), 'old');
  const content = (root: string) => readFile(join(root, 'file'), 'utf8');

  // As a write that leaves out the sync of the folder …
  await writeDurably(join(disk.path, 'file'), 'new', { platform: 'win32' });
  expect(await content(disk.path)).toBe('new');
  expect(await afterPowerCut(image, scratch.path, content)).toBe('old');

  // … or every sync.
  writeFileSync(join(disk.path, 'unsynced'), 'new');
  mkdirSync(join(disk.path, 'folder'));
  const unsynced = await afterPowerCut(image, scratch.path, (root) =>
    readFile(join(root, 'unsynced'), 'utf8').catch(() => 'lost'),
  );
  expect(unsynced).toBe('lost');
});

async function cutDuringUpdate(injection: Injection | undefined) {
  await using scratch = await tempFolder();
  const image = join(scratch.path, 'disk.img');
  makeExt4(image, 4);
  using disk = mountImage(image, join(scratch.path, 'disk'));
  await using subject = LineProcess.start(script, [disk.path]);
  subject.send('first');
  await subject.line((line) => line === 'acknowledged first');
  const strace = await attachStrace({
    pid: subject.pid,
    logPath: join(scratch.path, 'strace.log'),
    threads: 'all',
    syscalls: DISK_CALLS,
    ...(injection ? { injection } : {}),
  });
  subject.send('second');
  await subject.line((line) => line.includes(' second'));
  const names = await afterPowerCut(image, scratch.path, namesIn);
  subject.kill();
  await subject.ended;
  return { log: await strace.log, names, lines: subject.lines };
}

async function afterPowerCut<R>(
  image: string,
  scratch: string,
  look: (root: string) => Promise<R>,
): Promise<R> {
  const copy = join(scratch, 'after.img');
  copyAsIfPowerWereCut(image, copy);
  using disk = mountImage(copy, join(scratch, 'after'));
  return await look(disk.path);
}

async function namesIn(folder: string): Promise<string[]> {
  await removeStaleTempFiles(folder);
  await using store = await openNames(folder);
  return store.value.names;
}

function skipAloud(reason: string, skip: (note: string) => never): never {
  console.info(`skipped: ${reason}`);
  return skip(reason);
}
