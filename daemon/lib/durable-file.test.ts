import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { StorageFailedError, StorageFullError, systemErrorCode } from './durable-errors.ts';
import { removeStaleTempFiles, syncFolderOf, writeDurably } from './durable-file.ts';
import { makeFolderDurably } from './durable-folder.ts';
import { systemFs } from './durable-fs.ts';
import type { Fault } from './testing/faulty-fs.ts';
import { faultyFs } from './testing/faulty-fs.ts';
import { tempFolder } from './testing/temp-folder.ts';

const OLD = 'the old content\n';
const NEW = 'the new content, which is longer than the old\n';

/** Ten bytes at a time, so that one write takes several calls. */
const SHORT = { maxWriteBytes: 10 };

const CALLS = [
  'open folder',
  'open temp',
  ...Array.from({ length: Math.ceil(NEW.length / 10) }, () => 'write temp'),
  'chmod temp',
  'stat temp',
  'sync temp',
  'close temp',
  'rename',
  'sync folder',
  'close folder',
];

describe('a durable write', () => {
  test('syncs the file before it gets its name and the folder before it is done', async () => {
    await using folder = await tempFolder();
    const fs = faultyFs([], SHORT);
    await writeDurably(join(folder.path, 'state.json'), NEW, { fs });
    expect(fs.calls).toEqual(CALLS);
    expect(await readFile(join(folder.path, 'state.json'), 'utf8')).toBe(NEW);
  });

  test('replaces a file whole, leaves nothing else behind and keeps it to its owner', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'state.json');
    await writeFile(path, OLD, { mode: 0o666 });
    await writeDurably(path, Buffer.from(NEW));
    expect(await readFile(path, 'utf8')).toBe(NEW);
    expect(await readdir(folder.path)).toEqual(['state.json']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('gives the file the mode asked for, whatever the umask', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'shared');
    await writeDurably(path, NEW, { mode: 0o666 });
    expect((await stat(path)).mode & 0o777).toBe(0o666);
  });

  test('writes empty and large content', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'content');
    await writeDurably(path, '');
    expect((await stat(path)).size).toBe(0);
    const large = Buffer.alloc(5_000_001, 'é');
    await writeDurably(path, large);
    expect(large.equals(await readFile(path))).toBe(true);
  });

  test('replaces a symbolic link and leaves its target alone', async () => {
    await using folder = await tempFolder();
    await writeFile(join(folder.path, 'target'), OLD);
    await symlink('target', join(folder.path, 'link'));
    await writeDurably(join(folder.path, 'link'), NEW);
    expect(await readFile(join(folder.path, 'target'), 'utf8')).toBe(OLD);
    expect(await readFile(join(folder.path, 'link'), 'utf8')).toBe(NEW);
  });

  test('refuses to go on where the system writes nothing and reports no error', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'state.json');
    const written = writeDurably(path, NEW, { fs: faultyFs([], { maxWriteBytes: 0 }) });
    await expect(written).rejects.toMatchObject({ code: 'storage_failed', fatal: false });
    expect(await readdir(folder.path)).toEqual([]);
  });

  test('finds out that the file is shorter than what was written', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'state.json');
    await writeFile(path, OLD);
    const losing: typeof systemFs = {
      ...systemFs,
      open: async (file, flags, mode) => {
        const handle = await systemFs.open(file, flags, mode);
        return {
          write: async (buffer, offset, length, position) => {
            await handle.write(buffer, offset, length - 1, position);
            return { bytesWritten: length };
          },
          stat: () => handle.stat(),
          chmod: (bits) => handle.chmod(bits),
          sync: () => handle.sync(),
          close: () => handle.close(),
        };
      },
    };
    await expect(writeDurably(path, NEW, { fs: losing })).rejects.toBeInstanceOf(StorageFailedError);
    expect(await readFile(path, 'utf8')).toBe(OLD);
    expect(await readdir(folder.path)).toEqual(['state.json']);
  });

  test('fails without harm where the folder is missing', async () => {
    await using folder = await tempFolder();
    const written = writeDurably(join(folder.path, 'none', 'state.json'), NEW);
    await expect(written).rejects.toMatchObject({ code: 'storage_failed', fatal: false });
  });
});

describe('a durable write that fails at one step', () => {
  const codes = ['EIO', 'ENOSPC', 'EDQUOT', 'EMFILE'];
  const cases = CALLS.flatMap((name, index) =>
    codes.flatMap((code) => [false, true].map((persisted) => ({ name, code, persisted, call: index + 1 }))),
  );

  test.each(cases)('$call: $name fails with $code, persisted: $persisted', async ({ name, ...fault }) => {
    for (const before of [OLD, undefined]) await failAt(name, fault, before);
  });

  async function failAt(name: string, fault: Fault, before: string | undefined) {
    await using folder = await tempFolder();
    const path = join(folder.path, 'state.json');
    if (before !== undefined) await writeFile(path, before);
    const fs = faultyFs([fault], SHORT);

    const error = await writeDurably(path, NEW, { fs }).then(
      () => undefined,
      (reason: unknown) => reason,
    );

    expect(fs.calls[fault.call - 1]).toBe(name);
    expect(outcomeOf(error)).toBe(expectedOutcome(name, fault.code));
    if (error instanceof Error) expect(error.cause).toMatchObject({ code: fault.code });
    const renamed = name.endsWith(' folder') && name !== 'open folder';
    const isNew = renamed || (name === 'rename' && fault.persisted);
    const expected = isNew ? NEW : before;
    expect(await readdir(folder.path)).toEqual(expected === undefined ? [] : ['state.json']);
    if (expected !== undefined) expect(await readFile(path, 'utf8')).toBe(expected);

    await writeDurably(path, OLD);
    expect(await readFile(path, 'utf8')).toBe(OLD);
  }

  function outcomeOf(error: unknown): string {
    if (error === undefined) return 'done';
    if (error instanceof StorageFullError) return 'full';
    if (error instanceof StorageFailedError) return error.fatal ? 'fatal' : 'failed';
    return String(error);
  }

  function expectedOutcome(name: string, code: string): string {
    if (name === 'close folder') return 'done';
    if (name === 'sync folder') return 'fatal';
    if (code === 'ENOSPC' || code === 'EDQUOT') return 'full';
    return name === 'sync temp' || code === 'EIO' ? 'fatal' : 'failed';
  }
});

test('knows a full quota, for which the system error has a number and no name', () => {
  const errno = -constants.errno.EDQUOT;
  const error = Object.assign(new Error('quota'), { errno, code: `Unknown system error ${errno}` });
  expect(systemErrorCode(error)).toBe('EDQUOT');
});

test('reports the first failure where removing the temporary file fails too, and start-up removes it', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'state.json');
  const write = { call: CALLS.indexOf('write temp') + 1, code: 'ENOSPC', persisted: false };
  const close = { call: write.call + 1, code: 'EIO', persisted: true };
  const unlink = { call: write.call + 2, code: 'EIO', persisted: false };
  const fs = faultyFs([write, close, unlink]);

  await expect(writeDurably(path, NEW, { fs })).rejects.toBeInstanceOf(StorageFullError);

  expect(fs.calls.slice(write.call - 1)).toEqual(['write temp', 'close temp', 'unlink', 'close folder']);
  const [left] = await readdir(folder.path);
  expect(await removeStaleTempFiles(folder.path)).toEqual([left]);
  expect(await readdir(folder.path)).toEqual([]);
});

test('removes stale temporary files and nothing that merely looks like one', async () => {
  await using folder = await tempFolder();
  const hex = 'a'.repeat(32);
  const others = [`.durable-${hex}`, `.durable-${hex}.tmp2`, `durable-${hex}.tmp`, `.durable-${hex}0.tmp`];
  for (const name of [...others, `.durable-${hex}.tmp`]) await writeFile(join(folder.path, name), '');
  expect(await removeStaleTempFiles(folder.path)).toEqual([`.durable-${hex}.tmp`]);
  expect((await readdir(folder.path)).sort()).toEqual([...others].sort());
  expect(await removeStaleTempFiles(join(folder.path, 'none'))).toEqual([]);
});

describe('on Windows', () => {
  test('the folder, which cannot be synced there, is not opened', async () => {
    await using folder = await tempFolder();
    const fs = faultyFs();
    await writeDurably(join(folder.path, 'state.json'), NEW, { fs, platform: 'win32' });
    await syncFolderOf(join(folder.path, 'state.json'), fs, 'win32');
    expect(fs.calls).toEqual([
      'open temp',
      'write temp',
      'chmod temp',
      'stat temp',
      'sync temp',
      'close temp',
      'rename',
    ]);
  });

  test.each(['EPERM', 'EACCES', 'EBUSY'])('a rename is tried again after %s', async (code) => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'state.json');
    const fs = faultyFs([7, 8].map((call) => ({ call, code, persisted: false })));
    await writeDurably(path, NEW, { fs, platform: 'win32' });
    expect(fs.calls.slice(6)).toEqual(['rename', 'rename', 'rename']);
    expect(await readFile(path, 'utf8')).toBe(NEW);
  });

  test('a rename that keeps failing leaves the old file', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'state.json');
    await writeFile(path, OLD);
    const always = Array.from({ length: 9 }, (_, tries) => ({
      call: 7 + tries,
      code: 'EPERM',
      persisted: false,
    }));
    const written = writeDurably(path, NEW, { fs: faultyFs(always), platform: 'win32' });
    await expect(written).rejects.toMatchObject({ code: 'storage_failed', fatal: false });
    expect(await readFile(path, 'utf8')).toBe(OLD);
    expect(await readdir(folder.path)).toEqual(['state.json']);
  });
});

test('makes missing folders for their owner alone and keeps the mode of those there', async () => {
  await using folder = await tempFolder();
  await mkdir(join(folder.path, 'a'), { mode: 0o750 });
  await makeFolderDurably(join(folder.path, 'a', 'b', 'c'));
  await makeFolderDurably(join(folder.path, 'a', 'b', 'c'));
  expect((await stat(join(folder.path, 'a'))).mode & 0o777).toBe(0o750);
  expect((await stat(join(folder.path, 'a', 'b'))).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder.path, 'a', 'b', 'c'))).mode & 0o777).toBe(0o700);
});
