import { appendFileSync, chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '../contract/audit-log.ts';
import { StorageClosedError, StorageFailedError, StorageFullError } from '../lib/durable-errors.ts';
import type { AuditLog } from './audit-log.ts';
import { lineOf } from './entry-line.ts';
import { faultyHandle } from './testing/faulty-handle.ts';
import { auditFolder, revealed } from './testing/opened-log.ts';

describe('an audit log', () => {
  test('keeps an entry as one line of canonical JSON, for its owner alone', async () => {
    await using folder = await auditFolder();
    await using log = await folder.open();
    const entry = await log.append(revealed('TOKEN'));
    expect(entry).toEqual({ seq: 1, timestamp: '2026-03-10T12:00:00.000Z', ...revealed('TOKEN') });
    expect(folder.text()).toBe(
      '{"actor":{"key_id":"key_0123456789abcdef","type":"key"},"event":"secret.reveal","names":["TOKEN"],' +
        '"seq":1,"timestamp":"2026-03-10T12:00:00.000Z","ws_id":"ws_0123456789abcdef"}\n',
    );
    expect(statSync(folder.path).mode & 0o777).toBe(0o600);
  });

  test('takes a file that others could read away from them', async () => {
    await using folder = await auditFolder();
    writeFileSync(folder.path, '');
    chmodSync(folder.path, 0o644);
    await using _ = await folder.open();
    expect(statSync(folder.path).mode & 0o777).toBe(0o600);
  });

  test('goes on counting where it ended, and changes nothing that is there', async () => {
    await using folder = await auditFolder();
    await appended(await folder.open(), ['A', 'B']);
    const before = folder.text();
    await appended(await folder.open(), ['C']);
    expect(folder.text().startsWith(before)).toBe(true);
    await using log = await folder.open();
    expect(named(await log.page({ limit: 50 }))).toEqual([
      [3, 'C'],
      [2, 'B'],
      [1, 'A'],
    ]);
    expect(folder.notices).toEqual([]);
  });

  test('keeps no member that is no part of an entry, and refuses what is no entry', async () => {
    await using folder = await auditFolder();
    await using log = await folder.open();
    await log.append({ ...revealed('A'), ...{ value: 'hunter2-hunter2' } });
    expect(folder.text()).not.toContain('hunter2');
    await expect(log.append({ ...revealed('A'), ...JSON.parse('{"event":"secret.eat"}') })).rejects.toThrow();
    expect(folder.lines()).toHaveLength(1);
  });

  test('numbers 64 entries that come at once without a gap, and they share their fsyncs', async () => {
    await using folder = await auditFolder();
    const disk = faultyHandle();
    await using log = await folder.open(disk.openHandle);
    const names = Array.from({ length: 64 }, (_, at) => `NAME_${at}`);
    const entries = await Promise.all(names.map((name) => log.append(revealed(name))));
    expect(entries.map(({ seq, names: [name] = [] }) => [seq, name])).toEqual(
      names.map((name, at) => [at + 1, name]),
    );
    expect(folder.lines().map((line) => JSON.parse(line))).toEqual(entries);
    expect(disk.calls).toEqual(['write', 'datasync']);
  });

  test('has an entry on the disk, and fsynced, before the caller is told', async () => {
    await using folder = await auditFolder();
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const disk = faultyHandle();
    await using log = await folder.open(async (...args) => {
      const handle = await disk.openHandle(...args);
      return Object.assign(handle, {
        datasync: async () => {
          reached.resolve();
          await held.promise;
        },
      });
    });
    let told = false;
    const appending = log.append(revealed('A')).then(() => {
      told = true;
    });
    await reached.promise;
    expect([told, folder.lines().length, (await log.page({ limit: 1 })).entries]).toEqual([false, 1, []]);
    held.resolve();
    await appending;
    expect((await log.page({ limit: 1 })).entries).toHaveLength(1);
  });

  test('finishes what is under way when it is closed, and takes nothing more', async () => {
    await using folder = await auditFolder();
    const log = await folder.open();
    const appending = log.append(revealed('A'));
    const closing = log[Symbol.asyncDispose]();
    await expect(log.append(revealed('B'))).rejects.toBeInstanceOf(StorageClosedError);
    await closing;
    expect((await appending).seq).toBe(1);
    expect(folder.lines()).toHaveLength(1);
    await expect(log.page({ limit: 1 })).rejects.toBeInstanceOf(StorageClosedError);
  });

  test.runIf(process.platform !== 'win32')(
    'is not opened through a link, or where a folder stands',
    async () => {
      await using folder = await auditFolder();
      const elsewhere = join(folder.path, '..', 'elsewhere');
      writeFileSync(elsewhere, 'untouched');
      symlinkSync(elsewhere, folder.path);
      await expect(folder.open()).rejects.toBeInstanceOf(StorageFailedError);
      await using other = await auditFolder();
      mkdirSync(other.path);
      await expect(other.open()).rejects.toBeInstanceOf(StorageFailedError);
    },
  );
});

describe('what a crash left', () => {
  test('half an entry, cut at any byte, is cut off and reported; the entries before it stay', async () => {
    await using folder = await auditFolder();
    await appended(await folder.open(), ['A', 'B']);
    const [first = '', second = ''] = folder.lines();
    for (let bytes = 1; bytes < second.length; bytes += 1) {
      folder.notices.length = 0;
      writeFileSync(folder.path, `${first}\n${second.slice(0, bytes)}`);
      await appended(await folder.open(), ['C']);
      const kept = folder.lines().map((line) => JSON.parse(line).names[0]);
      expect([bytes, kept, folder.notices]).toEqual([
        bytes,
        ['A', 'C'],
        [`The last ${bytes} bytes of audit.jsonl were half an entry, left by a crash. They were cut off.`],
      ]);
      expect(JSON.parse(folder.lines()[1] ?? '').seq).toBe(2);
    }
  });

  test('an entry that only lacks its line feed is kept', async () => {
    await using folder = await auditFolder();
    await appended(await folder.open(), ['A', 'B']);
    writeFileSync(folder.path, folder.text().slice(0, -1));
    await appended(await folder.open(), ['C']);
    expect(folder.lines().map((line) => JSON.parse(line).seq)).toEqual([1, 2, 3]);
    expect(folder.notices).toEqual(['The last line of audit.jsonl had no line feed. It was added.']);
  });

  test('zeros behind the last entry, longer than a block, are cut off', async () => {
    await using folder = await auditFolder();
    await appended(await folder.open(), ['A']);
    const before = folder.text();
    appendFileSync(folder.path, Buffer.alloc(200_000));
    await using _ = await folder.open();
    expect(folder.text()).toBe(before);
    expect(folder.notices).toHaveLength(1);
  });

  test('nothing but half an entry is an empty log', async () => {
    await using folder = await auditFolder();
    writeFileSync(folder.path, '{"actor":');
    await using log = await folder.open();
    expect(folder.text()).toBe('');
    expect((await log.append(revealed('A'))).seq).toBe(1);
  });
});

describe('a line that is no entry', () => {
  test('stays where it is, is reported once and takes nothing from its neighbours', async () => {
    await using folder = await auditFolder();
    await appended(await folder.open(), ['A', 'B', 'C']);
    const lines = folder.lines();
    const altered = [lines[0], 'not an entry', lines[2], ''].join('\n');
    writeFileSync(folder.path, altered);
    await using log = await folder.open();
    for (let times = 0; times < 2; times += 1)
      expect(named(await log.page({ limit: 50 }))).toEqual([
        [3, 'C'],
        [1, 'A'],
      ]);
    await log.append(revealed('D'));
    expect(folder.text().startsWith(altered)).toBe(true);
    const start = (lines[0]?.length ?? 0) + 1;
    expect(folder.notices).toEqual([
      `The line of audit.jsonl that begins at byte ${start} is not an entry. It was left there.`,
    ]);
  });

  test('at the end has a number all the same', async () => {
    await using folder = await auditFolder();
    await appended(await folder.open(), ['A']);
    appendFileSync(folder.path, 'odd\n\nodder\n');
    await using log = await folder.open();
    expect(folder.notices).toHaveLength(3);
    expect((await log.append(revealed('B'))).seq).toBe(5);
  });
});

describe('a write that fails', () => {
  test.for(['ENOSPC', 'EDQUOT'])(
    'with %s leaves nothing behind, and the next one takes its number',
    async (code) => {
      await using folder = await auditFolder();
      let full = false;
      const disk = faultyHandle((call) => (full && call === 'write' ? code : undefined));
      await using log = await folder.open(disk.openHandle);
      await log.append(revealed('A'));
      const before = folder.text();
      full = true;
      const outcomes = await Promise.allSettled([log.append(revealed('B')), log.append(revealed('C'))]);
      for (const outcome of outcomes)
        expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(
          code === 'ENOSPC' ? StorageFullError : Error,
        );
      expect(folder.text()).toBe(before);
      full = false;
      expect((await log.append(revealed('D'))).seq).toBe(2);
      expect([folder.fatal, named(await log.page({ limit: 9 }))]).toEqual([
        [],
        [
          [2, 'D'],
          [1, 'A'],
        ],
      ]);
    },
  );

  test.for([
    ['datasync', 'EIO'],
    ['datasync', 'ENOSPC'],
    ['write', 'EIO'],
  ] as const)('at its %s with %s is fatal, told once, and nothing more is written', async ([call, code]) => {
    await using folder = await auditFolder();
    let broken = false;
    const disk = faultyHandle((name) => (broken && name === call ? code : undefined));
    await using log = await folder.open(disk.openHandle);
    await log.append(revealed('A'));
    broken = true;
    await expect(log.append(revealed('B'))).rejects.toMatchObject({ code: 'storage_failed', fatal: true });
    broken = false;
    const calls = disk.calls.length;
    await expect(log.append(revealed('C'))).rejects.toBeInstanceOf(StorageFailedError);
    expect([folder.fatal.length, disk.calls.length]).toEqual([1, calls]);
    expect(named(await log.page({ limit: 9 }))).toEqual([[1, 'A']]);
  });

  test('and can’t be taken back is fatal', async () => {
    await using folder = await auditFolder();
    const disk = faultyHandle((call) => (call === 'datasync' ? undefined : 'ENOSPC'));
    await using log = await folder.open(disk.openHandle);
    await expect(log.append(revealed('A'))).rejects.toMatchObject({ code: 'storage_failed', fatal: true });
    expect(folder.fatal).toHaveLength(1);
  });
});

describe('paging', () => {
  test.for([
    [300, 1],
    [10_000, 37],
    [10_000, 499],
    [10_000, 500],
  ] as const)('reads %i entries in pages of %i, without a gap', async ([count, limit]) => {
    await using folder = await auditFolder();
    writeFileSync(folder.path, manyLines(count));
    await using log = await folder.open();
    const seqs: number[] = [];
    let before: number | undefined;
    do {
      const page = await log.page({ before, limit });
      expect(page.entries.length).toBe(Math.min(limit, count - seqs.length));
      seqs.push(...page.entries.map(({ seq }) => seq));
      before = page.next_before ?? undefined;
    } while (before !== undefined);
    expect(seqs).toEqual(Array.from({ length: count }, (_, at) => count - at));
  });

  test('says that a page is the last where it just holds what is left, and not one entry before', async () => {
    await using folder = await auditFolder();
    await using log = await folder.open();
    expect(await log.page({ limit: 1 })).toEqual({ entries: [], next_before: null });
    await appendTo(log, ['A', 'B', 'C']);
    expect((await log.page({ limit: 3 })).next_before).toBeNull();
    expect((await log.page({ limit: 2 })).next_before).toBe(2);
    expect(named(await log.page({ limit: 2, before: 2 }))).toEqual([[1, 'A']]);
    expect(await log.page({ limit: 2, before: 1 })).toEqual({ entries: [], next_before: null });
    expect(named(await log.page({ limit: 1, before: 999_999 }))).toEqual([[3, 'C']]);
  });

  test('reads a few blocks of a long log, wherever the page is', async () => {
    await using folder = await auditFolder();
    writeFileSync(folder.path, manyLines(10_000));
    const { size } = statSync(folder.path);
    for (const before of [undefined, 9_999, 5_000, 2]) {
      const disk = faultyHandle();
      await using log = await folder.open(disk.openHandle);
      await log.page({ before, limit: 1 });
      expect([before, disk.bytesRead() < size / 2]).toEqual([before, true]);
    }
    expect(size).toBeGreaterThan(1_500_000);
  });

  test('finds its way past entries that are longer than a block and lines that are none', async () => {
    await using folder = await auditFolder();
    const names = Array.from({ length: 1000 }, (_, at) => `N${at}`.padEnd(128, '_'));
    const lines = Array.from({ length: 40 }, (_, at) => {
      if (at % 10 === 5) return `${'x'.repeat(150_000)}\n`;
      return lineOf({ ...entry(at + 1), names: at % 3 === 0 ? names : ['A'] });
    });
    writeFileSync(folder.path, lines.join(''));
    await using log = await folder.open();
    const readable = Array.from({ length: 40 }, (_, at) => 40 - at).filter((seq) => seq % 10 !== 6);
    for (let before = 1; before <= 41; before += 1) {
      const page = await log.page({ before, limit: 500 });
      expect([before, page.entries.map(({ seq }) => seq)]).toEqual([
        before,
        readable.filter((seq) => seq < before),
      ]);
    }
    expect(folder.notices).toHaveLength(4);
  });
});

function entry(seq: number): AuditEntry {
  return { ...revealed(`NAME_${seq}`), seq, timestamp: '2026-03-10T12:00:00.000Z' };
}

function manyLines(count: number): string {
  return Array.from({ length: count }, (_, at) => lineOf(entry(at + 1))).join('');
}

function named({ entries }: { readonly entries: readonly AuditEntry[] }) {
  return entries.map(({ seq, names: [name] = [] }) => [seq, name]);
}

async function appendTo(log: AuditLog, names: readonly string[]): Promise<void> {
  for (const name of names) await log.append(revealed(name));
}

async function appended(log: AuditLog, names: readonly string[]): Promise<void> {
  await using _ = log;
  await appendTo(log, names);
}
