import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type {
  EditedFile,
  MovedFile,
  SearchResult,
  TreePage,
  WrittenFile,
} from '../../daemon/contract/files.ts';
import type { LoadedProject } from '../../daemon/contract/projects.ts';
import type { Receipt, ReceiptPage } from '../../daemon/contract/receipts.ts';
import { fileClient } from '../../daemon/files/testing/file-client.ts';
import { type BootedDaemon, boot } from '../../daemon/testing/boot.ts';
import type { Client } from '../../daemon/testing/client.ts';

interface Caller {
  readonly client: Client;
  readonly files: ReturnType<typeof fileClient>;
}

/** A caller of this scope, that works on the project without having loaded it. */
async function callerOf(
  booted: BootedDaemon,
  scope: 'read' | 'write',
  project: LoadedProject,
): Promise<Caller> {
  const plain = await booted.keyed(scope);
  const send: Client['send'] = (method, path, body, options = {}) =>
    plain.send(method, path, body, {
      ...options,
      headers: { 'x-workspace-id': project.ws_id, ...options.headers },
    });
  const json: Client['json'] = async (method, path, body, options) => {
    const answer = await send(method, path, body, options);
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const problem: Client['problem'] = async (method, path, body, options) => {
    const answer = await send(method, path, body, options);
    return { ...(await answer.json()), httpStatus: answer.status };
  };
  const client: Client = { ...plain, send, json, problem };
  return { client, files: fileClient(client) };
}

describe('the files of a project over HTTP', () => {
  test('an agent finds its way, changes files, and every change and no look leaves one receipt', async () => {
    await using booted = await boot();
    const root = booted.projectDir;
    mkdirSync(join(root, 'src'));
    writeFileSync(join(root, 'src/app.ts'), 'export const greeting = "hello";\nexport const count = 1;\n');
    writeFileSync(join(root, '.gitignore'), 'dist/\n');
    execFileSync('git', ['init', '-q', root]);
    const { project } = await booted.agent();
    const reader = await callerOf(booted, 'read', project);
    const writer = await callerOf(booted, 'write', project);

    const tree = await reader.client.json<TreePage>('GET', '/api/project/files?recursive=true');
    expect(tree.entries.map(({ path }) => path)).toEqual(['src', 'src/app.ts', '.gitignore']);
    const found = await reader.client.json<SearchResult>('GET', '/api/project/search?q=GREETING');
    expect(found.matches).toMatchObject([{ path: 'src/app.ts', line: 1, column: 14 }]);

    const read = await reader.files.get('src/app.ts');
    const etag = read.headers.get('etag') ?? '';
    expect(await read.text()).toBe(readFileSync(join(root, 'src/app.ts'), 'utf8'));
    const edited = await writer.client.json<EditedFile>(
      'POST',
      '/api/project/edit',
      { path: 'src/app.ts', edits: [{ old_text: '"hello"', new_text: '"good day"' }] },
      { headers: { 'if-match': etag } },
    );
    const made = await writer.files.put('src/new/deep.ts', 'export {};\n');
    const moved = await writer.client.json<MovedFile>('POST', '/api/project/move', {
      from: 'src/new',
      to: 'lib/newer',
    });
    const ignored = await writer.files.put('dist/out.js', 'built\n');
    const removed = await writer.client.json<WrittenFile>(
      'DELETE',
      '/api/project/file?path=lib&recursive=true',
    );
    const unchanged = await writer.files.put('dist/out.js', 'built\n');
    expect(unchanged.receipt_id).toBeNull();

    const { receipts } = await reader.client.json<ReceiptPage>('GET', '/api/receipts');
    expect(receipts.map(({ receipt_id, run_id, tool }) => [receipt_id, run_id, tool])).toEqual(
      (
        [
          [removed, 'file.delete'],
          [ignored, 'file.write'],
          [moved, 'file.move'],
          [made, 'file.write'],
          [edited, 'file.edit'],
        ] as const
      ).map(([{ receipt_id, run_id }, tool]) => [receipt_id, run_id, tool]),
    );
    const receipt = await reader.client.json<Receipt>('GET', `/api/receipts/${edited.receipt_id}`);
    expect(receipt.files).toMatchObject([
      { path: 'src/app.ts', before_hash: etag.replaceAll('"', ''), after_hash: edited.etag },
    ]);
    expect(receipt.actor).toMatchObject({ type: 'key' });
    expect(execFileSync('sha256sum', [join(root, 'src/app.ts')], { encoding: 'utf8' })).toContain(
      edited.etag.slice(7),
    );
    expect(readdirSync(root).sort()).toEqual(['.git', '.gitignore', '.service', 'dist', 'src']);
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })).toBe(
      '?? .gitignore\n?? src/\n',
    );
  });

  test('a reader changes nothing, and nobody gets out of the workspace or into what is reserved, by any call', async () => {
    await using booted = await boot();
    const root = booted.projectDir;
    const outside = join(root, '../outside');
    for (const folder of [join(root, 'plain'), join(root, '.git'), outside]) mkdirSync(folder);
    for (const file of [join(root, 'file'), join(root, '.git/config'), join(outside, 'file')])
      writeFileSync(file, 'old');
    symlinkSync(outside, join(root, 'out'));
    symlinkSync('.git', join(root, 'gitlink'));
    const { project } = await booted.agent();
    const reader = await callerOf(booted, 'read', project);
    const writer = await callerOf(booted, 'write', project);
    const headers = { 'content-type': 'text/plain' };
    const calls = (path: string): [string, string, unknown?][] => [
      ['PUT', writer.files.url('file', { path })],
      ['DELETE', writer.files.url('file', { path, recursive: true })],
      ['POST', '/api/project/edit', { path, edits: [{ old_text: 'old', new_text: 'new' }] }],
      ['POST', '/api/project/move', { from: path, to: 'moved' }],
      ['POST', '/api/project/move', { from: 'file', to: path, overwrite: true }],
    ];
    const looks = (path: string): [string, string][] => [
      ['GET', reader.files.url('file', { path })],
      ['GET', reader.files.url('files', { path })],
      ['GET', reader.files.url('search', { path, q: 'old' })],
    ];
    const forbidden = {
      path_outside_workspace: [
        '../outside/file',
        join(outside, 'file'),
        'out/file',
        'plain/../file',
        'out/../../outside',
      ],
      path_reserved: [
        '.git/config',
        'gitlink/config',
        '.git',
        '.GIT/config',
        '.service',
        '.service/settings.json',
        'plain/.git/x',
      ],
    };
    let refused = 0;
    for (const [code, paths] of Object.entries(forbidden))
      for (const path of paths) {
        for (const [method, target, body] of calls(path)) {
          const options = body === undefined && method === 'PUT' ? { rawBody: 'new', headers } : {};
          const answer = await writer.client.problem(method, target, body, options);
          expect([method, path, answer.httpStatus, answer.code]).toEqual([method, path, 403, code]);
          refused += 1;
        }
        for (const [method, target] of looks(path)) {
          const answer = await reader.client.problem(method, target);
          expect([target, answer.httpStatus, answer.code]).toEqual([target, 403, code]);
          refused += 1;
        }
      }
    for (const [method, target, body] of calls('file')) {
      const options = body === undefined && method === 'PUT' ? { rawBody: 'new', headers } : {};
      expect(await reader.client.problem(method, target, body, options)).toMatchObject({
        code: 'insufficient_scope',
      });
    }
    console.log(`${refused} calls were refused`);
    expect(readdirSync(outside)).toEqual(['file']);
    for (const file of [join(root, 'file'), join(root, '.git/config'), join(outside, 'file')])
      expect(readFileSync(file, 'utf8')).toBe('old');
    expect((await reader.client.json<ReceiptPage>('GET', '/api/receipts')).receipts).toEqual([]);
  });
});
