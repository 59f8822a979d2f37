import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashContent, hashContentInTurns } from './content-hash.ts';
import { readEntry, readEntryInTurns } from './read-entry.ts';
import { type TempFolder, tempFolder } from './testing/temp-folder.ts';

const keptBytes = 10 * 1024 * 1024;
let base: TempFolder;

beforeAll(async () => {
  base = await tempFolder();
});
afterAll(() => base[Symbol.asyncDispose]());

describe('the state of an entry', () => {
  test('has the hash that sha256sum prints and the blob id that git gives, up to 10 MiB', async () => {
    for (const size of [0, 1, 1_048_576, 1_048_577, keptBytes]) {
      const path = join(base.path, `file-${size}`);
      writeFileSync(path, Buffer.alloc(size, 'tally'));
      const sha256 = execFileSync('sha256sum', [path], { encoding: 'utf8' }).slice(0, 64);
      const oid = execFileSync('git', ['hash-object', '--no-filters', path], { encoding: 'utf8' }).trim();
      const expected = { mode: '100644', hash: `sha256:${sha256}`, size, oid };
      expect(readEntry(base.path, `file-${size}`)?.state).toEqual(expected);
      const inTurns = await readEntryInTurns(base.path, `file-${size}`);
      expect(inTurns?.state).toEqual(expected);
      expect(inTurns?.bytes?.length).toBe(size);
      expect(await hashContentInTurns(Buffer.alloc(size, 'tally'))).toEqual({ hash: expected.hash, oid });
    }
  });

  test('has no blob id and no content one byte over 10 MiB', async () => {
    const content = Buffer.alloc(keptBytes + 1, 'tally');
    const path = join(base.path, 'large');
    writeFileSync(path, content);
    const hash = `sha256:${execFileSync('sha256sum', [path], { encoding: 'utf8' }).slice(0, 64)}`;
    for (const found of [readEntry(base.path, 'large'), await readEntryInTurns(base.path, 'large')])
      expect(found).toMatchObject({ state: { hash, size: keptBytes + 1, oid: null }, bytes: null });
    expect(hashContent(content)).toEqual({ hash, oid: null });
    expect(await hashContentInTurns(content)).toEqual({ hash, oid: null });
  });

  test('of a link is its target; of an empty folder that it is empty; of the rest there is none', () => {
    symlinkSync('some/where', join(base.path, 'link'));
    mkdirSync(join(base.path, 'empty'));
    mkdirSync(join(base.path, 'full/below'), { recursive: true });
    writeFileSync(join(base.path, 'run.sh'), '');
    chmodSync(join(base.path, 'run.sh'), 0o755);
    const sha256 = execFileSync('sha256sum', { input: 'some/where', encoding: 'utf8' }).slice(0, 64);
    expect(readEntry(base.path, 'link')?.state).toMatchObject({ mode: '120000', hash: `sha256:${sha256}` });
    expect(readEntry(base.path, 'run.sh')?.state.mode).toBe('100755');
    expect(readEntry(base.path, 'empty/')?.state).toEqual({
      mode: '040000',
      hash: 'absent',
      size: 0,
      oid: null,
    });
    for (const path of ['empty', 'full', 'full/', 'missing', 'missing/', 'run.sh/'])
      expect(readEntry(base.path, path)).toBeNull();
  });
});
