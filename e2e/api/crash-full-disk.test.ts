import { readdirSync, statfsSync, unlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeDurably } from '../../daemon/lib/durable-file.ts';
import { LineProcess } from '../../daemon/lib/testing/line-process.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { mountMissing, mountTmpfs } from './crash/mounts.ts';
import { openNames } from './crash/names-state.ts';

const script = join(import.meta.dirname, 'crash/update-state.ts');

test('a state file that outgrows its disk refuses updates and keeps those it acknowledged', async ({
  skip,
}) => {
  await using scratch = await tempFolder();
  const missing = mountMissing('tmpfs', scratch.path);
  if (missing) return skipAloud(missing, skip);
  using disk = mountTmpfs(join(scratch.path, 'disk'), 64);
  await using subject = LineProcess.start(script, [disk.path]);
  const acknowledged: string[] = [];
  const refused: string[] = [];
  const long = (index: number) => `${index}`.padStart(3_000, 'x');
  for (let index = 0; refused.length < 3; index += 1) {
    subject.send(long(index));
    const line = (await subject.line((text) => text.includes(long(index)))) ?? 'ended';
    if (line.startsWith('acknowledged')) acknowledged.push(long(index));
    else {
      expect(line).toBe(`refused ${long(index)} storage_full unharmed`);
      refused.push(long(index));
      expect(readdirSync(disk.path)).toEqual(['state.json']);
      expect(await namesIn(disk.path)).toEqual(acknowledged);
    }
  }
  expect(acknowledged.length).toBeGreaterThan(3);
  console.info(`full after ${acknowledged.length} updates of 3,000 bytes on 64 KiB`);
});

test('a disk filled by others refuses the write and takes it again after they made room', async ({
  skip,
}) => {
  await using scratch = await tempFolder();
  const missing = mountMissing('tmpfs', scratch.path);
  if (missing) return skipAloud(missing, skip);
  using disk = mountTmpfs(join(scratch.path, 'disk'), 256);
  await using subject = LineProcess.start(script, [disk.path]);
  subject.send('first');
  expect(await subject.line((line) => line.endsWith(' first'))).toBe('acknowledged first');
  const filler = join(disk.path, 'filler');
  fillUp(filler, disk.path);

  subject.send('second');
  expect(await subject.line((line) => line.includes(' second'))).toBe('refused second storage_full unharmed');
  expect(await namesIn(disk.path)).toEqual(['first']);
  await expect(writeDurably(join(disk.path, 'other'), 'x')).rejects.toMatchObject({ code: 'storage_full' });
  expect(readdirSync(disk.path).sort()).toEqual(['filler', 'state.json']);

  unlinkSync(filler);
  subject.send('third');
  expect(await subject.line((line) => line.includes(' third'))).toBe('acknowledged third');
  expect(await namesIn(disk.path)).toEqual(['first', 'third']);
});

function fillUp(filler: string, disk: string): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(bavail * bsize));
  expect(statfsSync(disk).bavail).toBe(0);
}

async function namesIn(folder: string): Promise<string[]> {
  await readFile(join(folder, 'state.json'));
  await using store = await openNames(folder);
  return store.value.names;
}

function skipAloud(reason: string, skip: (note: string) => never): never {
  console.info(`skipped: ${reason}`);
  return skip(reason);
}
