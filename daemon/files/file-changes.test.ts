import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DeletedFile, EditedFile, MovedFile } from '../contract/files.ts';
import type { Receipt } from '../contract/receipts.ts';
import { type BootedDaemon, boot } from '../testing/boot.ts';
import type { Client } from '../testing/client.ts';
import { maxFolderFiles } from './collect-entries.ts';
import { fileClient } from './testing/file-client.ts';

let booted: BootedDaemon;
let agent: Client;
let files: ReturnType<typeof fileClient>;
let root: string;
let outside: string;
let cases = 0;
let folder: string;

beforeAll(async () => {
  booted = await boot();
  agent = await booted.agent();
  files = fileClient(agent);
  root = booted.projectDir;
  outside = join(root, '../outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'file'), 'OUTSIDE');
});
afterAll(() => booted[Symbol.asyncDispose]());

/** Each test has a folder of the project for itself. */
beforeEach(() => {
  cases += 1;
  folder = `case-${cases}`;
  mkdirSync(join(root, folder));
});

const at = (path: string) => join(root, folder, path);
const read = (path: string) => readFileSync(at(path), 'utf8');
const remove = (path: string, more: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  agent.json<DeletedFile>('DELETE', files.url('file', { path, ...more }), undefined, { headers });
const removeProblem = (
  path: string,
  more: Record<string, string> = {},
  headers: Record<string, string> = {},
) => agent.problem('DELETE', files.url('file', { path, ...more }), undefined, { headers });
const move = (body: unknown) => agent.json<MovedFile>('POST', '/api/project/move', body);
const moveProblem = (body: unknown) => agent.problem('POST', '/api/project/move', body);
const receiptOf = (id: string | null) => agent.json<Receipt>('GET', `/api/receipts/${id}`);

describe('PUT /api/project/file', () => {
  test('makes a file and the folders above it, replaces it, and leaves no receipt for what is the same', async () => {
    const made = await files.put(`${folder}/a/b.txt`, 'one\n');
    expect(made).toMatchObject({ path: `${folder}/a/b.txt`, size: 4, created: true });
    const replaced = await files.put(`${folder}/a/b.txt`, 'two\n');
    expect(replaced.created).toBe(false);
    const same = await files.put(`${folder}/a/b.txt`, 'two\n');
    expect(same).toMatchObject({ created: false, etag: replaced.etag, receipt_id: null });
    expect(read('a/b.txt')).toBe('two\n');
    const receipt = await receiptOf(replaced.receipt_id);
    expect(receipt).toMatchObject({ tool: 'file.write', run_id: replaced.run_id });
    expect(receipt.files).toMatchObject([
      { path: `${folder}/a/b.txt`, before_hash: made.etag, after_hash: replaced.etag, before_mode: '100644' },
    ]);
  });

  test('answers 201 with the ETag for a new file, 200 for one that was there', async () => {
    const options = { rawBody: 'x', headers: { 'content-type': 'text/markdown; charset=utf-8' } };
    for (const status of [201, 200]) {
      const answer = await agent.send(
        'PUT',
        files.url('file', { path: `${folder}/x.md` }),
        undefined,
        options,
      );
      expect([answer.status, answer.headers.get('etag')]).toEqual([
        status,
        `"${((await answer.json()) as { etag: string }).etag}"`,
      ]);
    }
  });

  test('writes the bytes as they are: none, NUL, what is no UTF-8', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    for (const content of [Buffer.alloc(0), bytes]) {
      const { etag, size } = await files.put(`${folder}/bin`, content);
      expect(readFileSync(at('bin'))).toEqual(content);
      expect(size).toBe(content.length);
      expect(etag).toBe(
        `sha256:${execFileSync('sha256sum', [at('bin')], { encoding: 'utf8' }).slice(0, 64)}`,
      );
    }
  });

  test('heeds If-Match and If-None-Match, and says what is there now', async () => {
    const path = `${folder}/file`;
    expect(await files.putProblem(path, 'x', { 'if-match': '*' })).toMatchObject({
      httpStatus: 409,
      code: 'conflict',
      etag: null,
    });
    const one = await files.put(path, 'one', { 'if-none-match': '*' });
    expect(await files.putProblem(path, 'x', { 'if-none-match': '*' })).toMatchObject({
      httpStatus: 409,
      code: 'conflict',
      etag: one.etag,
    });
    const two = await files.put(path, 'two', { 'if-match': `"${one.etag}"` });
    expect(await files.putProblem(path, 'three', { 'if-match': `"${one.etag}"` })).toMatchObject({
      code: 'conflict',
      etag: two.etag,
    });
    expect(read('file')).toBe('two');
  });

  test('lets one of many win that all want to replace the same content', async () => {
    const { etag } = await files.put(`${folder}/file`, 'start');
    const headers = { 'content-type': 'text/plain', 'if-match': `"${etag}"` };
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const options = { rawBody: `writer ${index}`, headers };
        const answer = await agent.send(
          'PUT',
          files.url('file', { path: `${folder}/file` }),
          undefined,
          options,
        );
        await answer.body?.cancel();
        return answer.status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
  });

  test('keeps the permissions of a file, and gives a new one those of the umask', async () => {
    writeFileSync(at('run.sh'), 'old');
    chmodSync(at('run.sh'), 0o751);
    await files.put(`${folder}/run.sh`, 'new');
    expect(statSync(at('run.sh')).mode & 0o777).toBe(0o751);
    await files.put(`${folder}/new`, 'x');
    expect(statSync(at('new')).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  test('follows links inside, writes what they lead to, and names the real path', async () => {
    mkdirSync(at('real'));
    writeFileSync(at('real/file'), 'old');
    symlinkSync('real/file', at('link'));
    symlinkSync('real', at('linked'));
    symlinkSync('real/missing', at('dangling'));
    expect((await files.put(`${folder}/link`, 'by link')).path).toBe(`${folder}/real/file`);
    expect(readlinkSync(at('link'))).toBe('real/file');
    expect((await files.put(`${folder}/linked/below`, 'x')).path).toBe(`${folder}/real/below`);
    expect((await files.put(`${folder}/dangling`, 'x')).path).toBe(`${folder}/real/missing`);
    expect([read('real/file'), read('real/missing')]).toEqual(['by link', 'x']);
  });

  test('breaks off from other hard links, which keep the old content', async () => {
    writeFileSync(at('one'), 'old');
    linkSync(at('one'), at('two'));
    await files.put(`${folder}/one`, 'new');
    expect([read('one'), read('two')]).toEqual(['new', 'old']);
  });

  test('refuses with 403 what leads out of the workspace or is not the caller’s', async () => {
    symlinkSync(join(outside, 'file'), at('out'));
    symlinkSync(outside, at('folder-out'));
    symlinkSync('/no/such/file', at('dangling-out'));
    symlinkSync('../.git', at('to-git'));
    const codes = {
      path_outside_workspace: [
        '/etc/passwd',
        '../x',
        `${folder}/../x`,
        `${folder}/out`,
        `${folder}/folder-out/file`,
        `${folder}/folder-out/new/file`,
        `${folder}/dangling-out`,
      ],
      path_reserved: [
        '.git/config',
        '.service/settings.json',
        '.GIT/x',
        `${folder}/sub/.git/hooks/x`,
        `${folder}/to-git/x`,
        '.git',
      ],
    };
    for (const [code, paths] of Object.entries(codes))
      for (const path of paths)
        expect(await files.putProblem(path, 'x')).toMatchObject({ httpStatus: 403, code });
    expect(readdirSync(outside)).toEqual(['file']);
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('OUTSIDE');
    expect(existsSync(join(root, '.git'))).toBe(false);
  });

  test('refuses what is or can be no file', async () => {
    mkdirSync(at('folder'));
    execFileSync('mkfifo', [at('pipe')]);
    writeFileSync(at('file'), 'x');
    symlinkSync('loop', at('loop'));
    for (const path of [`${folder}/folder`, `${folder}/pipe`, `${folder}/new/`, '.', `${folder}/file/`])
      expect(await files.putProblem(path, 'x')).toMatchObject({ httpStatus: 422, code: 'not_a_file' });
    for (const path of [
      `${folder}/file/below`,
      `${folder}/file/far/below`,
      `${folder}/loop`,
      `${folder}/loop/x`,
    ])
      expect(await files.putProblem(path, 'x')).toMatchObject({ httpStatus: 409, code: 'conflict' });
    expect(await files.putProblem(`${folder}/a\0b`, 'x')).toMatchObject({ code: 'invalid_request' });
    expect(await files.putProblem(`${folder}/${'n'.repeat(256)}`, 'x')).toMatchObject({
      code: 'invalid_request',
    });
    await files.put(`${folder}/${'n'.repeat(255)}`, 'x');
  });

  test('writes under odd names', async () => {
    for (const name of ['new\nline', '😀.txt', '-rf', ' ', 'a\\b', '%2e%2e', 'é', '#?&=']) {
      expect((await files.put(`${folder}/odd/${name}`, name)).path).toBe(`${folder}/odd/${name}`);
      expect(await (await files.get(`${folder}/odd/${name}`)).text()).toBe(name);
    }
    expect(readdirSync(at('odd')).sort()).toEqual(
      ['new\nline', '😀.txt', '-rf', ' ', 'a\\b', '%2e%2e', 'é', '#?&='].sort(),
    );
  });
});

describe('DELETE /api/project/file', () => {
  test('removes a file with a receipt, and a link itself', async () => {
    writeFileSync(at('file'), 'x');
    symlinkSync(join(outside, 'file'), at('link'));
    const removed = await remove(`${folder}/file`);
    expect((await receiptOf(removed.receipt_id)).files).toMatchObject([{ after_hash: 'absent' }]);
    expect(await remove(`${folder}/link`)).toMatchObject({ path: `${folder}/link` });
    expect(readdirSync(at(''))).toEqual([]);
    expect(readdirSync(outside)).toEqual(['file']);
  });

  test('heeds If-Match', async () => {
    const { etag } = await files.put(`${folder}/file`, 'x');
    const wrong = `"sha256:${'0'.repeat(64)}"`;
    expect(await removeProblem(`${folder}/file`, {}, { 'if-match': wrong })).toMatchObject({
      code: 'conflict',
      etag,
    });
    await remove(`${folder}/file`, {}, { 'if-match': `"${etag}"` });
    expect(await removeProblem(`${folder}/file`)).toMatchObject({ httpStatus: 404, code: 'file_not_found' });
  });

  test('removes a folder only where that is asked for, with all in it, and never what its links lead to', async () => {
    mkdirSync(at('full/deep/empty'), { recursive: true });
    writeFileSync(at('full/deep/file'), 'x');
    symlinkSync(outside, at('full/out'));
    expect(await removeProblem(`${folder}/full`)).toMatchObject({ httpStatus: 422, code: 'not_a_file' });
    const { receipt_id } = await remove(`${folder}/full/`, { recursive: 'true' });
    const paths = (await receiptOf(receipt_id)).files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        `${folder}/full/deep/file`,
        `${folder}/full/out`,
        `${folder}/full/deep/empty/`,
      ]),
    );
    expect(readdirSync(at(''))).toEqual([]);
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('OUTSIDE');
  });

  test('leaves a folder alone that has another repository, or a pipe, in it', async () => {
    mkdirSync(at('repo/sub/.git'), { recursive: true });
    mkdirSync(at('pipes'));
    execFileSync('mkfifo', [at('pipes/pipe')]);
    writeFileSync(at('repo/file'), 'x');
    expect(await removeProblem(`${folder}/repo`, { recursive: 'true' })).toMatchObject({
      code: 'path_reserved',
    });
    expect(await removeProblem(`${folder}/pipes`, { recursive: 'true' })).toMatchObject({
      code: 'not_a_file',
    });
    expect(existsSync(at('repo/file'))).toBe(true);
    expect(await removeProblem('.')).toMatchObject({ code: 'not_a_file' });
    expect(await removeProblem('.git', { recursive: 'true' })).toMatchObject({ code: 'path_reserved' });
  });

  test('takes a folder of 10,000 files, and not of one more', { timeout: 120_000 }, async () => {
    mkdirSync(at('many'));
    for (let count = 0; count <= maxFolderFiles; count += 1) writeFileSync(at(`many/${count}`), '');
    expect(await removeProblem(`${folder}/many`, { recursive: 'true' })).toMatchObject({
      httpStatus: 422,
      code: 'too_many_files',
    });
    expect(readdirSync(at('many'))).toHaveLength(maxFolderFiles + 1);
    await remove(`${folder}/many/0`);
    await remove(`${folder}/many`, { recursive: 'true' });
    expect(existsSync(at('many'))).toBe(false);
  });
});

describe('POST /api/project/move', () => {
  const paths = (from: string, to: string) => ({ from: `${folder}/${from}`, to: `${folder}/${to}` });

  test('moves a file, a link itself, and a folder with all in it, and makes the folder they go to', async () => {
    mkdirSync(at('a/empty'), { recursive: true });
    writeFileSync(at('a/file'), 'x');
    symlinkSync('nowhere', at('a/link'));
    await move(paths('a/file', 'new/place/file'));
    await move(paths('a/link', 'link'));
    expect(readlinkSync(at('link'))).toBe('nowhere');
    writeFileSync(at('a/file'), 'y');
    const moved = await move(paths('a', 'b/c'));
    expect(moved).toMatchObject(paths('a', 'b/c'));
    expect(readdirSync(at('b/c')).sort()).toEqual(['empty', 'file']);
    const { files: touched, tool } = await receiptOf(moved.receipt_id);
    expect([tool, touched.map(({ path }) => path.slice(folder.length + 1)).sort()]).toEqual([
      'file.move',
      ['a/empty/', 'a/file', 'b/c/empty/', 'b/c/file'],
    ]);
  });

  test('replaces a file only where that is asked for, and a folder never', async () => {
    writeFileSync(at('from'), 'from');
    writeFileSync(at('to'), 'to');
    mkdirSync(at('folder'));
    expect(await moveProblem(paths('from', 'to'))).toMatchObject({ httpStatus: 409, code: 'file_exists' });
    for (const body of [paths('from', 'folder'), paths('folder', 'to')])
      expect(await moveProblem({ ...body, overwrite: true })).toMatchObject({ code: 'file_exists' });
    await move({ ...paths('from', 'to'), overwrite: true });
    expect([existsSync(at('from')), read('to')]).toEqual([false, 'from']);
  });

  test('changes upper and lower case alone', async () => {
    writeFileSync(at('readme.md'), 'x');
    mkdirSync(at('src'));
    writeFileSync(at('src/file'), 'x');
    await move(paths('readme.md', 'README.md'));
    await move(paths('src', 'SRC'));
    expect(readdirSync(at('')).sort()).toEqual(['README.md', 'SRC']);
  });

  test('does nothing for one and the same path, and leaves no receipt', async () => {
    writeFileSync(at('file'), 'x');
    expect(await move(paths('file', './file'))).toMatchObject({ receipt_id: null });
  });

  test('refuses what can not be', async () => {
    mkdirSync(at('folder/.git'), { recursive: true });
    mkdirSync(at('plain'));
    writeFileSync(at('file'), 'x');
    symlinkSync(outside, at('out'));
    const refusals: [ReturnType<typeof paths>, string][] = [
      [paths('missing', 'x'), 'file_not_found'],
      [paths('plain', 'plain/below'), 'invalid_request'],
      [paths('folder', 'other'), 'path_reserved'],
      [paths('file', '.git/hooks/x'), 'path_reserved'],
      [paths('file', 'out/x'), 'path_outside_workspace'],
      [paths('out/file', 'x'), 'path_outside_workspace'],
      [{ from: `${folder}/file`, to: '../x' }, 'path_outside_workspace'],
      [paths('plain', 'file/below'), 'conflict'],
      [{ from: '.', to: `${folder}/x` }, 'not_a_file'],
    ];
    for (const [body, code] of refusals) expect([body, (await moveProblem(body)).code]).toEqual([body, code]);
    expect(readdirSync(outside)).toEqual(['file']);
    expect(lstatSync(at('folder')).isDirectory()).toBe(true);
  });
});

describe('POST /api/project/edit', () => {
  const edit = (path: string, edits: unknown, headers: Record<string, string> = {}) =>
    agent.json<EditedFile>('POST', '/api/project/edit', { path: `${folder}/${path}`, edits }, { headers });
  const editProblem = (path: string, edits: unknown, headers: Record<string, string> = {}) =>
    agent.problem('POST', '/api/project/edit', { path: `${folder}/${path}`, edits }, { headers });

  test('applies all edits or none, with a receipt that has the difference', async () => {
    writeFileSync(at('file'), '\ufeffone\r\ntwo\r\nthree');
    const edits = [
      { old_text: 'two', new_text: '2' },
      { old_text: 'e', new_text: 'E', all: true },
    ];
    const edited = await edit('file', edits);
    expect(edited).toMatchObject({ replacements: 4, created: false });
    expect(readFileSync(at('file'))).toEqual(Buffer.from('\ufeffonE\r\n2\r\nthrEE'));
    const receipt = await receiptOf(edited.receipt_id);
    expect([receipt.tool, receipt.diffs[0]?.hunks.length]).toEqual(['file.edit', 1]);
    const refused = await editProblem('file', [
      { old_text: '2', new_text: 'x' },
      { old_text: 'two', new_text: '' },
    ]);
    expect(refused).toMatchObject({ httpStatus: 422, code: 'edit_not_found', edit: 1 });
    expect(read('file')).toContain('2');
  });

  test('leaves no receipt where nothing comes out different', async () => {
    writeFileSync(at('file'), 'x');
    expect(await edit('file', [{ old_text: 'x', new_text: 'x' }])).toMatchObject({ receipt_id: null });
  });

  test('heeds If-Match, and refuses what is no text or no file', async () => {
    const { etag } = await files.put(`${folder}/file`, 'x');
    await files.put(`${folder}/bin`, Buffer.from([0, 1, 2]));
    mkdirSync(at('folder'));
    const edits = [{ old_text: 'x', new_text: 'y' }];
    const refusals: [string, string, Record<string, string>][] = [
      ['file', 'conflict', { 'if-match': `"sha256:${'0'.repeat(64)}"` }],
      ['bin', 'not_a_text_file', {}],
      ['folder', 'not_a_file', {}],
      ['missing', 'file_not_found', {}],
      ['missing', 'conflict', { 'if-match': '*' }],
    ];
    for (const [path, code, headers] of refusals)
      expect((await editProblem(path, edits, headers)).code).toBe(code);
    expect(await edit('file', edits, { 'if-match': `"${etag}"` })).toMatchObject({ replacements: 1 });
  });

  test('edits that come at the same time are all in the file', async () => {
    const marks = Array.from({ length: 20 }, (_, index) => `<${index}>`);
    writeFileSync(at('file'), marks.join('\n'));
    await Promise.all(marks.map((mark) => edit('file', [{ old_text: mark, new_text: `done ${mark}` }])));
    expect(read('file')).toBe(marks.map((mark) => `done ${mark}`).join('\n'));
  });
});
