import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maxFileBytes, type TreeEntry, type TreePage } from '../contract/files.ts';
import { type BootedDaemon, boot } from '../testing/boot.ts';
import { type Client, rawRequest } from '../testing/client.ts';
import { until } from '../testing/processes.ts';
import { fileClient } from './testing/file-client.ts';

let booted: BootedDaemon;
let reader: Client & { readonly key: { readonly key: string } };
let files: ReturnType<typeof fileClient>;
let root: string;
let headers: Record<string, string>;

beforeAll(async () => {
  booted = await boot();
  const { project } = await booted.agent();
  root = booted.projectDir;
  headers = { 'x-workspace-id': project.ws_id };
  const plain = await booted.keyed('read');
  const send: Client['send'] = (method, path, body, options = {}) =>
    plain.send(method, path, body, { ...options, headers: { ...headers, ...options.headers } });
  reader = { ...plain, send };
  files = fileClient(reader);
  mkdirSync(join(root, '../outside'));
  writeFileSync(join(root, '../outside/file'), 'OUTSIDE');
});
afterAll(() => booted[Symbol.asyncDispose]());

const sha256 = (path: string) =>
  `"sha256:${execFileSync('sha256sum', ['--', path], { encoding: 'utf8' }).slice(0, 64)}"`;
const codeOf = async (answer: Response) => [answer.status, ((await answer.json()) as { code: string }).code];

describe('GET /api/project/file', () => {
  test('gives the bytes, with headers that keep a browser from showing them as a page', async () => {
    writeFileSync(join(root, "it's (1).html"), '<script>alert(1)</script>');
    const answer = await files.get("it's (1).html");
    expect(await answer.text()).toBe('<script>alert(1)</script>');
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '25',
      'content-disposition': "attachment; filename*=UTF-8''it%27s%20%281%29.html",
      'content-location': '/api/project/file?path=it%27s%20%281%29.html',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'accept-ranges': 'bytes',
      etag: sha256(join(root, "it's (1).html")),
    });
  });

  test('tells text from other bytes, also where the first 64 KiB end inside a character', async () => {
    const contents: [string, Buffer, string][] = [
      ['empty', Buffer.alloc(0), 'text/plain; charset=utf-8'],
      ['cut', Buffer.from(`${'a'.repeat(65_535)}é`), 'text/plain; charset=utf-8'],
      ['nul', Buffer.from('a\0b'), 'application/octet-stream'],
      ['latin1', Buffer.from('caf\xe9', 'latin1'), 'application/octet-stream'],
      ['half', Buffer.from('é').subarray(0, 1), 'application/octet-stream'],
    ];
    for (const [name, content, type] of contents) {
      writeFileSync(join(root, name), content);
      const answer = await files.get(name);
      expect([name, answer.headers.get('content-type')]).toEqual([name, type]);
      expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true);
    }
  });

  test('answers HEAD with the same headers and no body', async () => {
    writeFileSync(join(root, 'head'), 'content');
    const answer = await rawRequest(booted.daemon.url, {
      method: 'HEAD',
      path: files.url('file', { path: 'head' }),
      headers: { ...headers, authorization: `Bearer ${reader.key.key}` },
    });
    expect([answer.status, answer.headers['content-length'], answer.body]).toEqual([200, '7', '']);
  });

  test('answers 304 where the caller has the content, and the content where it has another', async () => {
    writeFileSync(join(root, 'cached'), 'one');
    const etag = sha256(join(root, 'cached'));
    for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await files.get('cached', { 'if-none-match': tags });
      expect([answer.status, await answer.text(), answer.headers.get('etag')]).toEqual([304, '', etag]);
    }
    writeFileSync(join(root, 'cached'), 'two');
    expect(await (await files.get('cached', { 'if-none-match': etag })).text()).toBe('two');
  });

  test('gives one range; takes no notice of several, or of one for an older content', async () => {
    writeFileSync(join(root, 'ranged'), '0123456789');
    const range = async (value: string, more: Record<string, string> = {}) => {
      const answer = await files.get('ranged', { range: value, ...more });
      return [answer.status, await answer.text(), answer.headers.get('content-range')];
    };
    expect(await range('bytes=2-4')).toEqual([206, '234', 'bytes 2-4/10']);
    expect(await range('bytes=-3')).toEqual([206, '789', 'bytes 7-9/10']);
    expect(await range('bytes=0-1,4-5')).toEqual([200, '0123456789', null]);
    expect(await range('bytes=2-4', { 'if-range': sha256(join(root, 'ranged')) })).toEqual([
      206,
      '234',
      'bytes 2-4/10',
    ]);
    expect(await range('bytes=2-4', { 'if-range': '"other"' })).toEqual([200, '0123456789', null]);
    const over = await files.get('ranged', { range: 'bytes=10-' });
    expect(over.headers.get('content-range')).toBe('bytes */10');
    expect(await codeOf(over)).toEqual([416, 'range_not_satisfiable']);
  });

  test('gives a file of 50 MiB whole, in parts and by the hash of what it is now; not one a byte over', async () => {
    const path = join(root, 'large');
    writeFileSync(path, Buffer.alloc(maxFileBytes, 'tally-stick'));
    // Long ago: then its hash is remembered, and must be forgotten when it changes.
    utimesSync(path, 1_700_000_000, 1_700_000_000);
    const whole = await files.get('large');
    expect((await whole.arrayBuffer()).byteLength).toBe(maxFileBytes);
    expect(whole.headers.get('etag')).toBe(sha256(path));
    const part = await files.get('large', { range: `bytes=${maxFileBytes - 5}-` });
    expect([part.status, await part.text()]).toEqual([
      206,
      'tally-stick'.repeat(5_000_000).slice(maxFileBytes - 5, maxFileBytes),
    ]);
    writeFileSync(path, 'X', { flag: 'r+' });
    utimesSync(path, 1_700_000_000, 1_700_000_000);
    const changed = await files.get('large', { range: 'bytes=0-1' });
    expect([await changed.text(), changed.headers.get('etag')]).toEqual(['Xa', sha256(path)]);
    truncateSync(path, maxFileBytes + 1);
    expect(await codeOf(await files.get('large'))).toEqual([413, 'file_too_large']);
  });

  test('cuts the connection where a file is written while it is sent, rather than mix two contents', async () => {
    const path = join(root, 'moving');
    writeFileSync(path, Buffer.alloc(maxFileBytes, 'a'));
    const answer = await files.get('moving');
    const body = answer.body?.getReader();
    await body?.read();
    writeFileSync(path, 'b', { flag: 'r+' });
    const rest = async () => {
      for (let part = await body?.read(); part?.done === false; part = await body?.read());
    };
    await expect(rest()).rejects.toThrow();
  });

  test('a client that goes away in the middle leaves no open file behind', async ({ skip }) => {
    if (process.platform !== 'linux') skip('open files are counted in /proc');
    writeFileSync(join(root, 'left'), Buffer.alloc(maxFileBytes, 'a'));
    const once = async () => {
      const gone = new AbortController();
      const answer = await reader.send('GET', files.url('file', { path: 'left' }), undefined, {
        signal: gone.signal,
      });
      await answer.body?.getReader().read();
      gone.abort();
    };
    for (let count = 0; count < 5; count += 1) await once();
    await until(
      'the daemon, which is this process, has closed them',
      () => timesOpen(join(root, 'left')) === 0,
    );
  });

  test('follows links inside and names the real path; what leads out, or is no file, it refuses', async () => {
    mkdirSync(join(root, 'real'));
    writeFileSync(join(root, 'real/file'), 'real');
    mkdirSync(join(root, '.git'), { recursive: true });
    writeFileSync(join(root, '.git/config'), 'secret');
    const links: Record<string, string> = {
      link: 'real/file',
      linked: 'real',
      out: '../outside/file',
      'out-folder': '../outside',
      dangling: 'missing',
      loop: 'loop',
      'to-git': '.git',
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    symlinkSync('/dev/zero', join(root, 'zero'));
    for (const path of ['link', 'linked/file']) {
      const answer = await files.get(path);
      expect([await answer.text(), answer.headers.get('content-location')]).toEqual([
        'real',
        '/api/project/file?path=real%2Ffile',
      ]);
    }
    const refusals: [string, number, string][] = [
      ['out', 403, 'path_outside_workspace'],
      ['out-folder/file', 403, 'path_outside_workspace'],
      ['zero', 403, 'path_outside_workspace'],
      ['../outside/file', 403, 'path_outside_workspace'],
      ['/etc/passwd', 403, 'path_outside_workspace'],
      ['.git/config', 403, 'path_reserved'],
      ['to-git/config', 403, 'path_reserved'],
      ['.service/settings.json', 403, 'path_reserved'],
      ['dangling', 404, 'file_not_found'],
      ['loop', 404, 'file_not_found'],
      ['missing/below', 404, 'file_not_found'],
      ['real/file/below', 404, 'file_not_found'],
      ['pipe', 422, 'not_a_file'],
      ['real', 422, 'not_a_file'],
      ['real/file/', 422, 'not_a_file'],
      ['.', 422, 'not_a_file'],
    ];
    for (const [path, status, code] of refusals)
      expect([path, ...(await codeOf(await files.get(path)))]).toEqual([path, status, code]);
  });
});

function timesOpen(path: string): number {
  const links = readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return ''; // closed since, as that of the listing itself
    }
  });
  return links.filter((target) => target === path).length;
}

describe('GET /api/project/files', () => {
  const list = async (query: Record<string, string | number>) => {
    const answer = await reader.send('GET', files.url('files', query));
    expect(answer.status).toBe(200);
    return (await answer.json()) as TreePage;
  };
  const all = async (query: Record<string, string | number>) => {
    const entries: TreeEntry[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await list(after === undefined ? query : { ...query, after });
      entries.push(...page.entries);
      after = page.next;
    }
    return entries;
  };

  beforeAll(() => {
    const tree = join(root, 'tree');
    for (const folder of ['b/deep', 'a', 'empty', 'ignored/deep', '.git', 'sub/.git', '.Service'])
      mkdirSync(join(tree, folder), { recursive: true });
    for (const file of [
      'z',
      'b/one',
      'b/deep/two',
      'a/three',
      'ignored/four',
      'B',
      'é',
      'new\nline',
      '.git/config',
    ])
      writeFileSync(join(tree, file), 'xyz');
    writeFileSync(join(tree, '.gitignore'), 'ignored/\n*.log\n');
    writeFileSync(join(tree, 'x.log'), '');
    writeFileSync(Buffer.from(`${tree}/\xff\xfe`, 'latin1'), '');
    writeFileSync(join(tree, '.tallystick-0123456789abcdef.tmp'), '');
    chmodSync(join(tree, 'z'), 0o755);
    symlinkSync('b', join(tree, 'link'));
    execFileSync('mkfifo', [join(tree, 'pipe')]);
  });

  test('lists folders first, then by name; what is git’s, the service’s or half written is left out', async () => {
    const page = await list({ path: 'tree' });
    expect(page).toMatchObject({ path: 'tree', next: null });
    expect(page.entries.map(({ name, type }) => `${type} ${name}`)).toEqual([
      'folder a',
      'folder b',
      'folder empty',
      'folder ignored',
      'folder sub',
      'file .gitignore',
      'file B',
      'link link',
      'file new\nline',
      'other pipe',
      'file x.log',
      'file z',
      'file é',
      'file \ufffd\ufffd',
    ]);
    const byName = Object.fromEntries(page.entries.map((entry) => [entry.name, entry]));
    expect(byName.z).toMatchObject({ path: 'tree/z', size: 3, executable: true, ignored: false });
    expect(byName.link).toMatchObject({ target: 'b', size: null });
    expect(byName['\ufffd\ufffd']).toMatchObject({ utf8: false });
    expect(byName.z).not.toHaveProperty('utf8');
    expect(page.entries.filter(({ ignored }) => ignored).map(({ name }) => name)).toEqual([
      'ignored',
      'x.log',
    ]);
  });

  test('lists all below a folder, each folder before what is in it, and does not enter an ignored one', async () => {
    const paths = (await list({ path: 'tree', recursive: 'true' })).entries.map(({ path }) => path.slice(5));
    expect(paths.slice(0, 9)).toEqual([
      'a',
      'a/three',
      'b',
      'b/deep',
      'b/deep/two',
      'b/one',
      'empty',
      'ignored',
      'sub',
    ]);
    const inside = await list({ path: 'tree/ignored', recursive: 'true' });
    expect(inside.entries.map(({ path, ignored }) => [path, ignored])).toEqual([
      ['tree/ignored/deep', true],
      ['tree/ignored/four', true],
    ]);
  });

  test('gives the same in pages of any size', async () => {
    for (const recursive of ['true', 'false']) {
      const whole = (await list({ path: 'tree', recursive })).entries;
      for (const limit of [1, 2, 3, 7, whole.length, 1000])
        expect(await all({ path: 'tree', recursive, limit })).toEqual(whole);
    }
    expect((await list({ path: 'tree/empty' })).entries).toEqual([]);
  });

  test('gives 1000 on a page and the rest on the next', async () => {
    mkdirSync(join(root, 'many'));
    for (let count = 0; count < 1001; count += 1) writeFileSync(join(root, `many/${count}`), '');
    const first = await list({ path: 'many' });
    expect([first.entries.length, first.next === null]).toEqual([1000, false]);
    const second = await list({ path: 'many', after: first.next ?? '' });
    expect([second.entries.length, second.next]).toEqual([1, null]);
  });

  test('follows a link to a folder inside, and names the real one', async () => {
    expect(await list({ path: 'tree/link/deep' })).toMatchObject({
      path: 'tree/b/deep',
      entries: [{ path: 'tree/b/deep/two' }],
    });
  });

  test('refuses what is no folder, not the caller’s, or no page', async () => {
    const refusals: [Record<string, string | number>, number, string][] = [
      [{ path: 'tree/z' }, 404, 'folder_not_found'],
      [{ path: 'missing' }, 404, 'folder_not_found'],
      [{ path: '.git' }, 403, 'path_reserved'],
      [{ path: 'tree/sub/.git' }, 403, 'path_reserved'],
      [{ path: '..' }, 403, 'path_outside_workspace'],
      [{ limit: 0 }, 422, 'invalid_request'],
      [{ limit: 1001 }, 422, 'invalid_request'],
      [{ limit: 'x' }, 422, 'invalid_request'],
      [{ after: '' }, 422, 'invalid_request'],
      [{ depth: 1 }, 422, 'invalid_request'],
    ];
    for (const [query, status, code] of refusals)
      expect([query, ...(await codeOf(await reader.send('GET', files.url('files', query))))]).toEqual([
        query,
        status,
        code,
      ]);
  });
});
