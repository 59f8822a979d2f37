import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RecordLog, readRecordLog, voidStoredRecord } from './record-log.ts';
import { tempFolder } from './testing/temp-folder.ts';

const record = (name: string, ...blobs: string[]) => ({
  header: { name },
  blobs: blobs.map((blob) => Buffer.from(blob)),
});

const plain = (path: string) =>
  readRecordLog(path).records.map(({ header, blobs }) => ({ header, blobs: blobs.map(String) }));

test('gives back what was appended, blobs and all, in order', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'log');
  const log = new RecordLog(path);
  log.append([record('a', 'one', ''), record('b')]);
  log.append([record('c', 'two')]);
  await log.sync();
  log.close();
  expect(plain(path)).toEqual([
    { header: { name: 'a' }, blobs: ['one', ''] },
    { header: { name: 'b' }, blobs: [] },
    { header: { name: 'c' }, blobs: ['two'] },
  ]);
});

test('a record cut short at any byte is not seen, and those before it are', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'log');
  const log = new RecordLog(path);
  const [, second = 0] = log.append([record('a', 'one'), record('b', 'two')]);
  log.close();
  const whole = readFileSync(path);
  for (let length = second; length < whole.length; length += 1) {
    writeFileSync(path, whole.subarray(0, length));
    expect({ length, names: plain(path).length, end: readRecordLog(path).end }).toEqual({
      length,
      names: 1,
      end: second,
    });
  }
});

test('a record with any flipped bit is not taken for valid', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'log');
  const log = new RecordLog(path);
  const [, second = 0] = log.append([record('a'), record('b', 'two')]);
  log.close();
  const whole = readFileSync(path);
  for (let at = second; at < whole.length; at += 1)
    for (let bit = 0; bit < 8; bit += 1) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
      writeFileSync(path, flipped);
      expect(plain(path)).toEqual([{ header: { name: 'a' }, blobs: [] }]);
    }
});

test('what is appended after a cut-short record of an earlier end would be lost, so a log is never taken up again', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'log');
  new RecordLog(path).close();
  expect(() => new RecordLog(path)).toThrow('could not be saved');
});

test('a voided record counts as never written; the others stay', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'log');
  const log = new RecordLog(path);
  const [first = 0, second = 0] = log.append([record('a'), record('b'), record('c')]);
  log.voidRecord(second);
  log.close();
  expect(plain(path).map(({ header }) => header)).toEqual([{ name: 'a' }, { name: 'c' }]);
  const { size } = statSync(path);
  voidStoredRecord(path, first);
  expect(plain(path).map(({ header }) => header)).toEqual([{ name: 'c' }]);
  expect(statSync(path).size).toBe(size);
});

test('garbage behind the last record ends the reading', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'log');
  const log = new RecordLog(path);
  log.append([record('a')]);
  log.close();
  const { size } = statSync(path);
  appendFileSync(path, Buffer.alloc(4096));
  expect(readRecordLog(path)).toMatchObject({ end: size, records: [{ header: { name: 'a' } }] });
  truncateSync(path, 0);
  expect(readRecordLog(path)).toEqual({ end: 0, records: [] });
});
