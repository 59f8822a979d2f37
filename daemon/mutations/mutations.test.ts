import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { realMutations, request, writeStep } from './testing/real-door.ts';

describe('a write', () => {
  test('leaves the file, one receipt with its hashes, and a chain that goes on after a restart', async () => {
    await using it = await realMutations();
    const first = await it.write('src/a.txt', 'one\n');
    const second = await it.write('src/a.txt', 'two\n');
    expect(readFileSync(join(it.project, 'src/a.txt'), 'utf8')).toBe('two\n');
    const sum = (text: string) =>
      `sha256:${execFileSync('sha256sum', { input: text }).toString().slice(0, 64)}`;
    expect(second.receipt).toMatchObject({
      seq: 2,
      prev_receipt_hash: first.receipt?.self_hash,
      files: [{ path: 'src/a.txt', before_hash: sum('one\n'), after_hash: sum('two\n') }],
      diffs: [{ path: 'src/a.txt', hunks: [{ lines: ['-one', '+two'] }] }],
    });
    await it.restart();
    const third = await it.write('b.txt', 'b');
    expect(third.receipt).toMatchObject({ seq: 3, prev_receipt_hash: second.receipt?.self_hash });
    expect(it.notices.filter((text) => !text.includes('keychain'))).toEqual([]);
  });

  test('is planned again where the file changed under its feet, and never replaces what it has not seen', async () => {
    await using it = await realMutations();
    await it.write('a.txt', 'one\n');
    let plans = 0;
    const { receipt } = await it.mutations.mutate(
      it.workspace,
      request(['a.txt'], () => {
        const step = writeStep(it.project, 'a.txt', 'mine\n');
        plans += 1;
        if (plans === 1) writeFileSync(join(it.project, 'a.txt'), 'an editor was here\n');
        return [step];
      }),
    );
    expect(plans).toBe(2);
    expect(receipt?.diffs[0]?.hunks[0]?.lines).toEqual(['-an editor was here', '+mine']);
    await expect(
      it.mutations.mutate(
        it.workspace,
        request(['a.txt'], () => {
          const step = writeStep(it.project, 'a.txt', 'mine again\n');
          writeFileSync(join(it.project, 'a.txt'), `still typing ${plans++}\n`);
          return [step];
        }),
      ),
    ).rejects.toMatchObject({ code: 'conflict' });
    expect(it.receipts).toHaveLength(2);
  });

  test('of several files is all or nothing', async () => {
    await using it = await realMutations();
    await it.write('a.txt', 'one\n');
    writeFileSync(join(it.project, 'blocked'), 'a file, not a folder');
    const many = request('all', () => [
      writeStep(it.project, 'a.txt', 'two\n'),
      writeStep(it.project, 'new/deep.txt', 'new\n'),
      { ...writeStep(it.project, 'x', 'x'), path: 'blocked/x' },
    ]);
    await expect(it.mutations.mutate(it.workspace, many)).rejects.toThrow('ENOTDIR');
    expect(readFileSync(join(it.project, 'a.txt'), 'utf8')).toBe('one\n');
    expect(existsSync(join(it.project, 'new'))).toBe(false);
    expect((await it.write('a.txt', 'three\n')).receipt?.seq).toBe(2);
  });
});

describe('a command', () => {
  test('that changed files has one receipt with all of them; one that changed none has none', async () => {
    await using it = await realMutations();
    writeFileSync(join(it.project, 'a.txt'), 'a\n');
    writeFileSync(join(it.project, 'gone.txt'), 'gone\n');
    const { receipt } = await it.command(() => {
      writeFileSync(join(it.project, 'a.txt'), 'A\n');
      writeFileSync(join(it.project, 'new.txt'), 'new\n');
      rmSync(join(it.project, 'gone.txt'));
      mkdirSync(join(it.project, 'empty'));
    }, 'make it');
    expect(receipt?.command).toEqual({ cmd: 'make it', exit_code: 0 });
    expect(receipt?.files.map(({ path }) => path).sort()).toEqual(['a.txt', 'empty/', 'gone.txt', 'new.txt']);
    expect((await it.command(() => undefined)).receipt).toBeNull();
    expect(it.receipts).toHaveLength(1);
  });

  test('has the lines it changed in its receipt, also of a file that was written just before', async () => {
    await using it = await realMutations();
    await it.write('a.txt', 'one\n');
    await it.write('a.txt', 'two\n');
    const { receipt } = await it.command(() => writeFileSync(join(it.project, 'a.txt'), 'three\n'));
    expect(receipt?.diffs).toMatchObject([{ path: 'a.txt', hunks: [{ lines: ['-two', '+three'] }] }]);
  });

  test('is not held to have made what the developer edited, or the API wrote, in the meantime', async () => {
    await using it = await realMutations();
    writeFileSync(join(it.project, 'mine.txt'), 'mine\n');
    await it.command(() => undefined);
    writeFileSync(join(it.project, 'mine.txt'), 'edited outside\n');
    const { receipt } = await it.command(async () => {
      await it.write('api.txt', 'by the API\n');
      writeFileSync(join(it.project, 'command.txt'), 'by the command\n');
    });
    expect(receipt?.files.map(({ path }) => path)).toEqual(['command.txt']);
  });
});

describe('a rollback', () => {
  test('of a command brings back every file, link, mode and folder as it was, and can itself be rolled back', async () => {
    await using it = await realMutations();
    const at = (path: string) => join(it.project, path);
    mkdirSync(at('deep/er'), { recursive: true });
    writeFileSync(at('deep/er/kept.txt'), 'kept\n');
    writeFileSync(at('run.sh'), '#!/bin/sh\n');
    chmodSync(at('run.sh'), 0o755);
    symlinkSync('deep', at('link'));
    mkdirSync(at('empty'));
    const before = listing(it.project);
    const { runId } = await it.command(() => {
      rmSync(at('deep'), { recursive: true });
      writeFileSync(at('deep'), 'a file in the place of a folder\n');
      chmodSync(at('run.sh'), 0o644);
      rmSync(at('link'));
      mkdirSync(at('link'));
      writeFileSync(at('link/inside'), '');
      rmSync(at('empty'), { recursive: true });
      mkdirSync(at('made/by/it'), { recursive: true });
      writeFileSync(at('made/by/it/new.txt'), 'new\n');
    });
    const after = listing(it.project);
    const done = await it.rollBack(runId);
    expect(listing(it.project)).toEqual(before);
    expect(done.receipt_id).toBe(it.receipts.at(-1)?.receipt_id);
    expect(it.receipts.at(-1)).toMatchObject({
      action: 'rollback',
      tool: 'rollback',
      rolled_back_run_id: runId,
    });
    await it.rollBack(done.rollback_run_id);
    expect(listing(it.project)).toEqual(after);
  });

  test('refuses with the list where a file has changed since, and with force puts it back all the same', async () => {
    await using it = await realMutations();
    await it.write('a.txt', 'one\n');
    const { runId } = await it.command(() => {
      writeFileSync(join(it.project, 'a.txt'), 'two\n');
      writeFileSync(join(it.project, 'b.txt'), 'b\n');
    });
    writeFileSync(join(it.project, 'a.txt'), 'my own later edit\n');
    await expect(it.rollBack(runId)).rejects.toMatchObject({
      code: 'rollback_conflict',
      members: { conflicts: [{ path: 'a.txt', reason: 'changed_since' }] },
    });
    expect(existsSync(join(it.project, 'b.txt'))).toBe(true);
    const plan = await it.mutations.previewRollback(it.workspace, runId);
    expect(plan.files).toEqual([
      { path: 'b.txt', step: 'delete', added: 0, removed: 1 },
      { path: 'a.txt', step: 'restore', added: 1, removed: 1 },
    ]);
    const done = await it.rollBack(runId, true);
    expect(readFileSync(join(it.project, 'a.txt'), 'utf8')).toBe('one\n');
    await it.rollBack(done.rollback_run_id);
    expect(readFileSync(join(it.project, 'a.txt'), 'utf8')).toBe('my own later edit\n');
  });

  test('works after a restart, and once what it undoes has long been moved into packs', async () => {
    await using it = await realMutations();
    writeFileSync(join(it.project, 'a.txt'), 'one\n');
    const { runId } = await it.command(() => writeFileSync(join(it.project, 'a.txt'), 'two\n'));
    await it.door.drain();
    await it.restart();
    await it.rollBack(runId);
    expect(readFileSync(join(it.project, 'a.txt'), 'utf8')).toBe('one\n');
  });

  test('of an unknown run, and one whose receipt was tampered with, changes nothing', async () => {
    await using it = await realMutations();
    const { runId, receipt } = await it.write('a.txt', 'one\n');
    await expect(it.rollBack(`run_${'0'.repeat(16)}` as never)).rejects.toMatchObject({
      code: 'unknown_run',
    });
    const file = join(it.data, 'receipts', `${receipt?.receipt_id}.json`);
    chmodSync(file, 0o600);
    writeFileSync(file, readFileSync(file, 'utf8').replace('a.txt', 'b.txt'));
    await expect(it.rollBack(runId)).rejects.toMatchObject({ code: 'receipts_damaged' });
    expect(readFileSync(join(it.project, 'a.txt'), 'utf8')).toBe('one\n');
  });

  test('puts back a file of 10 MiB, and says of one a byte larger that it was not kept', async () => {
    await using it = await realMutations();
    const limit = 10 * 1024 * 1024;
    for (const [name, size] of [
      ['at', limit],
      ['over', limit + 1],
    ] as const)
      writeFileSync(join(it.project, name), Buffer.alloc(size, name));
    const { runId, receipt } = await it.command(() => {
      for (const name of ['at', 'over']) writeFileSync(join(it.project, name), 'small\n');
    });
    expect(receipt?.files.map(({ path, not_kept }) => [path, not_kept])).toEqual([
      ['at', undefined],
      ['over', true],
    ]);
    await expect(it.rollBack(runId)).rejects.toMatchObject({
      members: { conflicts: [{ path: 'over', reason: 'not_kept' }] },
    });
    await it.rollBack(runId, true);
    expect(statSync(join(it.project, 'at')).size).toBe(limit);
    expect(readFileSync(join(it.project, 'over'), 'utf8')).toBe('small\n');
  });
});

/** Every file, link and folder with its mode and content. */
function listing(folder: string): string[] {
  return execFileSync(
    'sh',
    ['-c', 'find . -mindepth 1 -printf "%P %y %m %l\\n" | sort; find . -type f | sort | xargs sha256sum'],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  ).split('\n');
}
