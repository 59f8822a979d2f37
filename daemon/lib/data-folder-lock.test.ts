import { createHash } from 'node:crypto';
import { readdir, readFile, stat, unlink, utimes, watch, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DataFolderHeldError, DataFolderLockBrokenError } from './data-folder-holder.ts';
import { acquireDataFolderLock, readDataFolderHolder } from './data-folder-lock.ts';
import { processStartTime } from './process-table.ts';
import { LineProcess } from './testing/line-process.ts';
import { tempFolder } from './testing/temp-folder.ts';

const contender = join(import.meta.dirname, 'testing/lock-contender.ts');

describe('the lock of a data folder', () => {
  test('names its holder, and once published where it listens', async () => {
    await using folder = await tempFolder();
    await using lock = await acquireDataFolderLock(folder.path);
    const self = { pid: process.pid, process_started_at: processStartTime(process.pid) };
    expect(await content(folder.path)).toEqual({ ...self, url: null, version: null });
    expect((await stat(lockIn(folder.path))).mode & 0o777).toBe(0o600);
    await lock.publish({ url: 'http://127.0.0.1:4774', version: '1.2.3' });
    const published = { ...self, url: 'http://127.0.0.1:4774', version: '1.2.3' };
    expect(await content(folder.path)).toEqual(published);
    expect(await readDataFolderHolder(folder.path)).toEqual(published);
    expect(await readdir(folder.path)).toEqual(['daemon.lock']);
  });

  test('is refused to others, who are told who has it', async () => {
    await using folder = await tempFolder();
    await using lock = await acquireDataFolderLock(folder.path);
    const early = await acquireDataFolderLock(folder.path).catch((error: unknown) => error);
    expect(early).toBeInstanceOf(DataFolderHeldError);
    expect(early).toMatchObject({ code: 'data_folder_held', pid: process.pid, url: undefined });
    await lock.publish({ url: 'http://127.0.0.1:4774', version: '1.2.3' });
    await expect(acquireDataFolderLock(folder.path)).rejects.toMatchObject({
      message: `The data folder is in use by process ${process.pid}, which listens on http://127.0.0.1:4774.`,
      url: 'http://127.0.0.1:4774',
      version: '1.2.3',
    });
    await using other = LineProcess.start(contender, [folder.path]);
    other.send('1');
    expect(await other.line((line) => line.startsWith('1 '))).toBe(`1 held by ${process.pid}`);
    expect(await readdir(folder.path)).toEqual(['daemon.lock']);
  });

  test('can be had again once it is released, and a second release harms nobody', async () => {
    await using folder = await tempFolder();
    const first = await acquireDataFolderLock(folder.path);
    await first.release();
    await first.release();
    expect(await readdir(folder.path)).toEqual([]);
    await using _ = await acquireDataFolderLock(folder.path);
  });

  test('is neither released nor published over where somebody else has it now', async () => {
    await using folder = await tempFolder();
    const lock = await acquireDataFolderLock(folder.path);
    const other = { pid: process.pid, process_started_at: 'another start', url: null, version: null };
    await writeFile(lockIn(folder.path), JSON.stringify(other));
    await lock.release();
    await expect(lock.publish({ url: 'u', version: 'v' })).rejects.toBeInstanceOf(DataFolderHeldError);
    expect(await content(folder.path)).toEqual(other);
  });

  test('is taken over from a process that was killed', async () => {
    await using folder = await tempFolder();
    await using dead = LineProcess.start(contender, [folder.path]);
    dead.send('1');
    expect(await dead.line((line) => line.startsWith('1 '))).toBe('1 won');
    await expect(acquireDataFolderLock(folder.path)).rejects.toMatchObject({ pid: dead.pid });
    dead.kill();
    await dead.ended;
    await using _ = await acquireDataFolderLock(folder.path);
    expect(await content(folder.path)).toMatchObject({ pid: process.pid });
    expect(await readdir(folder.path)).toEqual(['daemon.lock']);
  });

  test('is taken over where the pid is another process by now', async () => {
    await using folder = await tempFolder();
    await writeFile(lockIn(folder.path), JSON.stringify({ pid: process.pid, process_started_at: 'before' }));
    await using _ = await acquireDataFolderLock(folder.path);
    expect(await content(folder.path)).toMatchObject({ process_started_at: processStartTime(process.pid) });
  });

  test('counts as held where nobody wrote down when the process started', async () => {
    await using folder = await tempFolder();
    await writeFile(lockIn(folder.path), JSON.stringify({ pid: process.pid, process_started_at: '' }));
    await expect(acquireDataFolderLock(folder.path)).rejects.toBeInstanceOf(DataFolderHeldError);
  });

  const broken = ['', '{', 'null', '{"pid": 0, "process_started_at": "x"}', '{"pid": "1"}', '{"pid": 1}'];

  test.each(broken)('is refused, and left alone, where the file is damaged: %j', async (text) => {
    await using folder = await tempFolder();
    await writeFile(lockIn(folder.path), text);
    const error = await acquireDataFolderLock(folder.path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DataFolderLockBrokenError);
    expect(await readFile(lockIn(folder.path), 'utf8')).toBe(text);
    expect(await readdir(folder.path)).toEqual(['daemon.lock']);
  });

  test.each(broken)('is taken over where the damaged file is older than this boot: %j', async (text) => {
    await using folder = await tempFolder();
    await writeFile(lockIn(folder.path), text);
    await utimes(lockIn(folder.path), 1_000, 1_000);
    await using _ = await acquireDataFolderLock(folder.path);
    expect(await content(folder.path)).toMatchObject({ pid: process.pid });
  });

  test('waits for a living contender that is removing the dead lock, and for no dead one', async () => {
    for (const [started, waits] of [
      [processStartTime(process.ppid), true],
      ['before', false],
    ]) {
      await using folder = await tempFolder();
      const deadLock = JSON.stringify({ pid: process.pid, process_started_at: 'before' });
      await writeFile(lockIn(folder.path), deadLock);
      const claimed = createHash('sha256').update(`daemon.lock\n${deadLock}`).digest('hex').slice(0, 32);
      const claim = join(folder.path, `.daemon.lock-claim-${claimed}`);
      await writeFile(claim, JSON.stringify({ pid: process.ppid, process_started_at: started }));
      const acquired = acquireDataFolderLock(folder.path);
      if (waits) {
        await hasTriedTwice(folder.path);
        expect(await readFile(lockIn(folder.path), 'utf8')).toBe(deadLock);
        await unlink(claim);
      }
      await using _ = await acquired;
      expect(await content(folder.path)).toMatchObject({ pid: process.pid, url: null });
      expect(await readdir(folder.path)).toEqual(['daemon.lock']);
    }
  });

  test('clears away what killed contenders left, and nothing of living ones', async () => {
    await using folder = await tempFolder();
    const hex = 'a'.repeat(32);
    const deadHolder = JSON.stringify({ pid: process.pid, process_started_at: 'before' });
    const livingHolder = JSON.stringify({
      pid: process.ppid,
      process_started_at: processStartTime(process.ppid),
    });
    const files = {
      [`.daemon.lock-4194305-${hex}.tmp`]: '',
      [`.daemon.lock-claim-${hex}`]: deadHolder,
      [`.daemon.lock-${process.ppid}-${hex}.tmp`]: '',
      [`.daemon.lock-claim-b${hex.slice(1)}`]: livingHolder,
      'state.json': '{}',
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
    await using _ = await acquireDataFolderLock(folder.path);
    expect((await readdir(folder.path)).sort()).toEqual(
      ['daemon.lock', ...Object.keys(files).slice(2)].sort(),
    );
  });
});

test('of eight contenders for a dead lock exactly one wins, in each of fifty rounds', {
  timeout: 120_000,
}, async () => {
  await using folder = await tempFolder();
  const contenders = Array.from({ length: 8 }, () => LineProcess.start(contender, [folder.path]));
  try {
    let stale = 0;
    for (let round = 0; round < 50; round += 1) {
      await Promise.all(contenders.map((each) => each.line((line) => line === 'ready')));
      if (round > 0 && (await readDataFolderHolder(folder.path))) stale += 1;
      for (const each of contenders) each.send(`${round}`);
      const outcomes = await Promise.all(
        contenders.map(async (each) => ({
          each,
          outcome: await each.line((line) => line.startsWith(`${round} `)),
        })),
      );
      const winners = outcomes.flatMap(({ each, outcome }) => (outcome === `${round} won` ? [each] : []));
      const [winner] = winners;
      if (!winner || winners.length > 1) throw new Error(`${winners.length} won round ${round}`);
      const others = outcomes.filter(({ each }) => each !== winner).map(({ outcome }) => outcome);
      expect(new Set(others)).toEqual(new Set([`${round} held by ${winner.pid}`]));
      expect(await readdir(folder.path)).toEqual(['daemon.lock']);
      // The winner is killed, so that the next round begins with the lock of a dead process.
      winner.kill();
      await winner.ended;
      contenders[contenders.indexOf(winner)] = LineProcess.start(contender, [folder.path]);
    }
    expect(stale).toBe(49);
  } finally {
    await Promise.all(contenders.map((each) => each[Symbol.asyncDispose]()));
  }
});

/** Resolves once a contender has made and removed its temporary file for the lock and for the claim, twice. */
async function hasTriedTwice(folder: string): Promise<void> {
  let removed = 0;
  for await (const { eventType, filename } of watch(folder)) {
    if (eventType === 'rename' && filename?.endsWith('.tmp')) removed += 1;
    if (removed >= 8) return;
  }
}

const lockIn = (folder: string) => join(folder, 'daemon.lock');

const content = async (folder: string) => JSON.parse(await readFile(lockIn(folder), 'utf8'));
