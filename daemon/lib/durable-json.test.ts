import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { StorageClosedError, StorageFailedError, StorageFullError } from './durable-errors.ts';
import type { DurableJsonOptions } from './durable-json.ts';
import { openDurableJson } from './durable-json.ts';
import type { SetAside } from './durable-json-adapter.ts';
import { faultyFs } from './testing/faulty-fs.ts';
import { tempFolder } from './testing/temp-folder.ts';

interface State {
  names: string[];
  seen: Record<string, number>;
}

const initial = (): State => ({ names: [], seen: {} });

/** Calls of one write where nothing fails. */
const CALLS_PER_WRITE = 10;

describe('opening', () => {
  test('starts from the initial value where there is no file, and writes none', async () => {
    await using folder = await tempFolder();
    await using store = await open(folder.path);
    expect(store.value).toEqual(initial());
    expect(await readdir(folder.path)).toEqual([]);
  });

  test('reads what an earlier store wrote, also with a byte order mark before it', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'state.json');
    await writeFile(path, `\uFEFF${JSON.stringify({ names: ['é'], seen: {} })}`);
    await using store = await open(folder.path);
    expect(store.value.names).toEqual(['é']);
    await store.update(add('b'));
    expect(await readFile(path, 'utf8')).toBe('{\n  "names": [\n    "é",\n    "b"\n  ],\n  "seen": {}\n}\n');
  });

  const whole = JSON.stringify({ names: ['a'], seen: {} });
  const broken: [string, Buffer, RegExp][] = [
    ['is empty', Buffer.alloc(0), /empty/],
    ['was cut short', Buffer.from(whole.slice(0, -4)), /not whole, valid JSON \(\d+ bytes\)/],
    ['is followed by rubbish', Buffer.from(`${whole}}`), /not whole, valid JSON/],
    ['is all zeros', Buffer.alloc(64), /not whole, valid JSON/],
    ['is not UTF-8', Buffer.from(whole.replace('a', '\xff'), 'latin1'), /not UTF-8/],
    ['has another shape', Buffer.from('{"names": 1}'), /not as expected: names is no list/],
  ];

  test.each(broken)('sets aside a file that %s, byte for byte, and says so', async (_, bytes, reason) => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'state.json');
    await writeFile(path, bytes);
    const told: SetAside[] = [];
    await using store = await open(folder.path, { onSetAside: (info) => told.push(info) });
    expect(store.value).toEqual(initial());
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ path, reason: expect.stringMatching(reason) });
    expect(told[0]?.movedTo).toMatch(/state\.json\.broken-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/);
    expect(bytes.equals(await readFile(told[0]?.movedTo ?? ''))).toBe(true);
    await store.update(add('new'));
    expect(await readdir(folder.path)).toHaveLength(2);
  });

  test('keeps every broken file, also two in one millisecond', async () => {
    await using folder = await tempFolder();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2030, 0, 2, 3, 4, 5, 6) });
    try {
      for (const content of ['first', 'second', 'third']) {
        await writeFile(join(folder.path, 'state.json'), content);
        await using _ = await open(folder.path);
      }
    } finally {
      vi.useRealTimers();
    }
    const name = 'state.json.broken-2030-01-02T03-04-05.006Z';
    expect((await readdir(folder.path)).sort()).toEqual([name, `${name}-2`, `${name}-3`]);
    expect(await readFile(join(folder.path, `${name}-2`), 'utf8')).toBe('second');
  });

  test.each(['EACCES', 'EIO'])('throws on a file that cannot be read (%s) and leaves it', async (code) => {
    await using folder = await tempFolder();
    await writeFile(join(folder.path, 'state.json'), 'precious');
    const fs = faultyFs([{ call: 1, code, persisted: false }]);
    await expect(open(folder.path, { fs })).rejects.toMatchObject({ code });
    expect(fs.calls).toEqual(['read']);
    expect(await readFile(join(folder.path, 'state.json'), 'utf8')).toBe('precious');
  });

  test('throws where a folder has the name of the file', async () => {
    await using folder = await tempFolder();
    await mkdir(join(folder.path, 'state.json'));
    await expect(open(folder.path)).rejects.toMatchObject({ code: 'EISDIR' });
    expect(await readdir(folder.path)).toEqual(['state.json']);
  });

  test('throws where a broken file cannot be set aside, and leaves it', async () => {
    await using folder = await tempFolder();
    await writeFile(join(folder.path, 'state.json'), 'broken');
    const fs = faultyFs([{ call: 2, code: 'EPERM', persisted: false }]);
    await expect(open(folder.path, { fs })).rejects.toMatchObject({ code: 'EPERM' });
    expect(await readFile(join(folder.path, 'state.json'), 'utf8')).toBe('broken');
  });
});

describe('updating', () => {
  test('answers each caller its result once the value is on disk, and shows it only then', async () => {
    await using folder = await tempFolder();
    await using store = await open(folder.path);
    const update = store.update((value) => ({ next: { ...value, names: ['a'] }, result: 'made a' }));
    expect(store.value).toEqual(initial());
    expect(await update).toBe('made a');
    expect(store.value.names).toEqual(['a']);
    expect((await onDisk(folder.path)).names).toEqual(['a']);
  });

  test('applies concurrent updates in order, and those that arrive during a write share the next', async () => {
    await using folder = await tempFolder();
    const names = Array.from({ length: 100 }, (_, index) => `name-${index}`);
    const [firstName = '', ...otherNames] = names;
    const others: Promise<void>[] = [];
    const fs = faultyFs([], {
      onCall: once('open temp', () => others.push(...otherNames.map((name) => store.update(add(name))))),
    });
    await using store = await open(folder.path, { fs });
    await store.update(add(firstName));
    expect((await onDisk(folder.path)).names).toEqual([firstName]);
    await Promise.all(others);
    expect(fs.calls.filter((call) => call === 'rename')).toHaveLength(2);
    expect((await onDisk(folder.path)).names).toEqual(names);
  });

  test('takes an update that comes just as the one before is answered', async () => {
    await using folder = await tempFolder();
    await using store = await open(folder.path);
    const wrapped = async (name: string) => await store.update(add(name));
    for (let turns = 0; turns < 10; turns += 1) {
      await wrapped(`first ${turns}`);
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      await wrapped(`second ${turns}`);
    }
    expect(store.value.names).toHaveLength(20);
  });

  test('rejects the caller whose change throws, and no other', async () => {
    await using folder = await tempFolder();
    await using store = await open(folder.path);
    const outcomes = await Promise.allSettled([
      store.update(add('a')),
      store.update(() => {
        throw new RangeError('refused');
      }),
      store.update(add('b')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: expect.any(RangeError) });
    expect((await onDisk(folder.path)).names).toEqual(['a', 'b']);
  });

  test('writes nothing for a change that changes nothing', async () => {
    await using folder = await tempFolder();
    const fs = faultyFs();
    await using store = await open(folder.path, { fs });
    expect(await store.update((value) => ({ next: value, result: 7 }))).toBe(7);
    expect(fs.calls).toEqual(['read']);
  });
});

describe('a write that fails', () => {
  const codes = ['ENOSPC', 'EIO', 'EMFILE'];
  const cases = Array.from({ length: CALLS_PER_WRITE }, (_, index) => index + 1).flatMap((step) =>
    codes.flatMap((code) => [false, true].map((persisted) => ({ step, code, persisted }))),
  );

  test.each(cases)(
    'at step $step with $code (persisted: $persisted) leaves the old value or the new in whole',
    async ({ step, code, persisted }) => {
      await using folder = await tempFolder();
      const told: StorageFailedError[] = [];
      // The first call is the read, then comes one whole write.
      const fs = faultyFs([{ call: 1 + CALLS_PER_WRITE + step, code, persisted }]);
      await using store = await open(folder.path, { fs, onFatal: (error) => told.push(error) });
      await store.update(add('old'));

      const outcomes = await Promise.allSettled([store.update(add('x')), store.update(add('y'))]);

      expect(new Set(outcomes.map(({ status }) => status)).size).toBe(1);
      const error = outcomes[0].status === 'rejected' ? outcomes[0].reason : undefined;
      expect(store.value.names).toEqual(error ? ['old'] : ['old', 'x', 'y']);
      expect([['old'], ['old', 'x', 'y']]).toContainEqual((await onDisk(folder.path)).names);
      const fatal = error instanceof StorageFailedError && error.fatal;
      expect(told).toEqual(fatal ? [error] : []);
      if (fatal) {
        await expect(store.update(add('later'))).rejects.toBe(error);
        expect(told).toHaveLength(1);
      } else {
        await store.update(add('later'));
        expect((await onDisk(folder.path)).names).toEqual([...store.value.names]);
        expect(store.value.names.at(-1)).toBe('later');
      }
      expect(await readdir(folder.path)).toEqual(['state.json']);
      await using reopened = await open(folder.path);
      expect(reopened.value.names[0]).toBe('old');
    },
  );

  test('rejects what waits behind a fatal failure, too', async () => {
    await using folder = await tempFolder();
    const waiting: Promise<void>[] = [];
    const fs = faultyFs([{ call: 7, code: 'EIO', persisted: false }], {
      onCall: once('open temp', () => waiting.push(store.update(add('b')))),
    });
    await using store = await open(folder.path, { fs });
    await expect(store.update(add('a'))).rejects.toMatchObject({ code: 'storage_failed', fatal: true });
    await expect(Promise.all(waiting)).rejects.toMatchObject({ code: 'storage_failed', fatal: true });
    expect(waiting).toHaveLength(1);
    expect(await readdir(folder.path)).toEqual([]);
    expect(store.value.names).toEqual([]);
  });
});

describe('a lazy change', () => {
  test('shows at once and reaches the disk with the next update', async () => {
    await using folder = await tempFolder();
    await using store = await open(folder.path);
    store.updateLazily(seen('a', 1));
    expect(store.value.seen).toEqual({ a: 1 });
    expect(await readdir(folder.path)).toEqual([]);
    await store.update(add('a'));
    expect(await onDisk(folder.path)).toEqual({ names: ['a'], seen: { a: 1 } });
  });

  test('reaches the disk by itself after the given time, many in one write', async () => {
    await using folder = await tempFolder();
    const fs = faultyFs();
    await using store = await open(folder.path, { fs, flushAfterMs: 20 });
    for (let index = 0; index < 50; index += 1) store.updateLazily(seen('a', index));
    await vi.waitUntil(() => fs.calls.includes('close folder'), { interval: 5, timeout: 5_000 });
    expect((await onDisk(folder.path)).seen).toEqual({ a: 49 });
    expect(fs.calls.filter((call) => call === 'rename')).toHaveLength(1);
  });

  test('reaches the disk when the store is closed', async () => {
    await using folder = await tempFolder();
    {
      await using store = await open(folder.path);
      store.updateLazily(seen('a', 1));
    }
    expect((await onDisk(folder.path)).seen).toEqual({ a: 1 });
  });

  test('made during a write is kept on top of what was written, and written later', async () => {
    await using folder = await tempFolder();
    const fs = faultyFs([], { onCall: once('open temp', () => store.updateLazily(seen('a', 1))) });
    await using store = await open(folder.path, { fs });
    await store.update(add('a'));
    expect(store.value).toEqual({ names: ['a'], seen: { a: 1 } });
    expect((await onDisk(folder.path)).seen).toEqual({});
    await store.update(add('b'));
    expect(await onDisk(folder.path)).toEqual({ names: ['a', 'b'], seen: { a: 1 } });
  });

  test('made during a write is dropped where what it is about has gone', async () => {
    await using folder = await tempFolder();
    const useOfA = vi.fn((value: State) => {
      if (!value.names.includes('a')) throw new Error('a is gone');
      return { ...value, seen: { a: 1 } };
    });
    let removing = false;
    const fs = faultyFs([], {
      onCall: (name) => {
        if (removing && name === 'open temp') store.updateLazily(useOfA);
      },
    });
    await using store = await open(folder.path, { fs });
    await store.update(add('a'));
    removing = true;
    await store.update((value) => ({ next: { ...value, names: [] }, result: undefined }));
    expect(useOfA).toHaveBeenCalledTimes(2);
    expect(store.value).toEqual({ names: [], seen: {} });
  });

  test('survives a full disk in memory and is written once there is room', async () => {
    await using folder = await tempFolder();
    const fs = faultyFs([{ call: 4, code: 'ENOSPC', persisted: false }]);
    await using store = await open(folder.path, { fs, flushAfterMs: 10 });
    store.updateLazily(seen('a', 1));
    await vi.waitUntil(() => fs.calls.includes('close folder'), { interval: 5, timeout: 5_000 });
    await vi.waitUntil(() => fs.calls.includes('rename'), { interval: 5, timeout: 5_000 });
    await vi.waitUntil(() => fs.calls.at(-1) === 'close folder', { interval: 5, timeout: 5_000 });
    expect((await onDisk(folder.path)).seen).toEqual({ a: 1 });
  });
});

describe('closing', () => {
  test('finishes the updates under way and takes no more', async () => {
    await using folder = await tempFolder();
    const store = await open(folder.path);
    const update = store.update(add('a'));
    const closed = store[Symbol.asyncDispose]();
    await expect(store.update(add('b'))).rejects.toBeInstanceOf(StorageClosedError);
    await Promise.all([update, closed, store[Symbol.asyncDispose]()]);
    store.updateLazily(seen('a', 1));
    expect(await onDisk(folder.path)).toEqual({ names: ['a'], seen: {} });
    expect(store.value).toEqual({ names: ['a'], seen: {} });
  });

  test('says when the lazy changes could not be written', async () => {
    await using folder = await tempFolder();
    const fs = faultyFs([{ call: 4, code: 'ENOSPC', persisted: false }]);
    const store = await open(folder.path, { fs });
    store.updateLazily(seen('a', 1));
    await expect(store[Symbol.asyncDispose]()).rejects.toBeInstanceOf(StorageFullError);
  });
});

function open(folder: string, more: Partial<DurableJsonOptions<State>> = {}) {
  return openDurableJson<State>({ path: join(folder, 'state.json'), parse: parseState, initial, ...more });
}

function parseState(raw: unknown): State {
  const state = raw as State;
  if (!Array.isArray(state.names)) throw new Error('names is no list');
  return state;
}

async function onDisk(folder: string): Promise<State> {
  return parseState(JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')));
}

/** A call hook that acts the first time the named call is made. */
function once(wanted: string, act: () => void): (name: string) => void {
  let done = false;
  return (name) => {
    if (done || name !== wanted) return;
    done = true;
    act();
  };
}

const add = (name: string) => (value: State) => ({
  next: { ...value, names: [...value.names, name] },
  result: undefined,
});

const seen = (name: string, at: number) => (value: State) => ({
  ...value,
  seen: { ...value.seen, [name]: at },
});
