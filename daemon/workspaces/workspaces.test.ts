import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LoadedProject, RecentProject } from '../contract/projects.ts';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { type BootedDaemon, boot } from '../testing/boot.ts';
import type { Client } from '../testing/client.ts';
import { testClock } from '../testing/test-clock.ts';

const load = '/api/project/load';
const recent = '/api/project/recent';

describe('loading a folder', () => {
  test('answers its workspace, and makes nothing in the folder', async () => {
    await using booted = await boot();
    await writeFile(join(booted.projectDir, 'file.txt'), 'x');
    const loaded = await loadOf(booted.panel, booted.projectDir);
    expect(loaded).toEqual({
      ws_id: expect.stringMatching(/^ws_[0-9a-hjkmnp-tv-z]{16}$/),
      slug: expect.stringMatching(/^project-/),
      name: basename(booted.projectDir),
      path: booted.projectDir,
      analysis: { status: 'pending' },
    });
    expect(await readdir(booted.projectDir)).toEqual(['file.txt']);
    const file = join(booted.dataDir, 'workspaces', loaded.slug, 'workspace.json');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      version: 1,
      ws_id: loaded.ws_id,
      slug: loaded.slug,
      path: booted.projectDir,
    });
  });

  test('makes nothing in it when commands run there, either', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    await agent.run({ cmd: 'true' });
    await agent.json('GET', '/api/shell/recent');
    expect(await readdir(booted.projectDir)).toEqual([]);
  });

  test('answers the same workspace through a link, another spelling, and for another caller', async () => {
    await using booted = await boot();
    const { ws_id } = await loadOf(booted.panel, booted.projectDir);
    const link = `${booted.projectDir}-link`;
    await symlink(booted.projectDir, link);
    const agent = await booted.keyed('agent');
    for (const path of [
      link,
      `${booted.projectDir}/`,
      `${booted.projectDir}/../${basename(booted.projectDir)}`,
    ])
      expect((await loadOf(agent, path)).ws_id).toBe(ws_id);
    expect(await recents(booted.panel)).toHaveLength(1);
  });

  test('at the same time from many callers makes one workspace', async () => {
    await using booted = await boot();
    const loaded = await Promise.all(
      Array.from({ length: 20 }, () => loadOf(booted.panel, booted.projectDir)),
    );
    expect(new Set(loaded.map(({ ws_id }) => ws_id)).size).toBe(1);
  });

  test('refuses with a precise code, and changes nothing', async () => {
    await using booted = await boot();
    await writeFile(join(booted.projectDir, 'file'), '');
    for (const [path, status, code] of [
      ['relative', 422, 'invalid_request'],
      [`${booted.projectDir}\0`, 422, 'invalid_request'],
      ['x'.repeat(4097), 422, 'invalid_request'],
      ['', 422, 'invalid_request'],
      [5, 422, 'invalid_request'],
      [join(booted.projectDir, 'missing'), 422, 'project_path_missing'],
      [join(booted.projectDir, 'file'), 422, 'project_path_unreadable'],
      ['/etc', 422, 'project_path_system'],
      [booted.dataDir, 422, 'project_path_system'],
      [join(booted.dataDir, '..'), 422, 'project_path_system'],
    ] as const) {
      const refused = await booted.panel.problem('POST', load, { path });
      expect([path, refused.httpStatus, refused.code]).toEqual([path, status, code]);
    }
    expect(await recents(booted.panel)).toEqual([]);
  });

  test('tells the panel', async () => {
    await using booted = await boot();
    const events = await booted.panel.send('GET', '/api/events');
    const loaded = await loadOf(booted.panel, booted.projectDir);
    let text = '';
    for await (const chunk of events.body ?? []) {
      text += new TextDecoder().decode(chunk);
      if (text.includes('workspace.loaded')) break;
    }
    expect(text).toContain(loaded.ws_id);
  });
});

describe('a slug', () => {
  test('is the folder’s name, numbered where it is taken', async () => {
    await using booted = await boot();
    const slugs = [];
    for (const parent of ['a', 'b', 'c'])
      slugs.push((await loadOf(booted.panel, await folder(booted, `${parent}/My App`))).slug);
    expect(slugs).toEqual(['my-app', 'my-app-2', 'my-app-3']);
    expect((await loadOf(booted.panel, await folder(booted, '日本語'))).slug).toBe('project');
    expect((await loadOf(booted.panel, await folder(booted, 'x'.repeat(200)))).slug).toBe('x'.repeat(64));
  });

  test('can be chosen for a new folder, and is kept', async () => {
    await using booted = await boot();
    const slug = 'y'.repeat(64);
    expect(
      (await booted.panel.json<LoadedProject>('POST', load, { path: booted.projectDir, slug })).slug,
    ).toBe(slug);
    expect((await loadOf(booted.panel, booted.projectDir)).slug).toBe(slug);
    expect(
      (await booted.panel.json<LoadedProject>('POST', load, { path: booted.projectDir, slug })).slug,
    ).toBe(slug);
  });

  test('of another folder is a conflict, and so is another one for a folder that has one', async () => {
    await using booted = await boot();
    await booted.panel.json('POST', load, { path: booted.projectDir, slug: 'mine' });
    const other = await folder(booted, 'other');
    for (const request of [
      { path: other, slug: 'mine' },
      { path: booted.projectDir, slug: 'yours' },
    ]) {
      const refused = await booted.panel.problem('POST', load, request);
      expect([refused.httpStatus, refused.code]).toEqual([409, 'conflict']);
    }
    expect(await recents(booted.panel)).toHaveLength(1);
  });

  test('is refused where it is none', async () => {
    await using booted = await boot();
    for (const slug of [
      '',
      '-',
      'a-',
      '-a',
      'a--b',
      'A',
      'a b',
      '../x',
      'a/b',
      'ü',
      'a\0',
      'a\n',
      'z'.repeat(65),
      5,
      null,
    ])
      expect([
        slug,
        (await booted.panel.problem('POST', load, { path: booted.projectDir, slug })).httpStatus,
      ]).toEqual([slug, 422]);
  });
});

describe('the recent list', () => {
  test('holds the last twenty, newest first, each once', async () => {
    const { clock, advance } = testClock();
    await using booted = await boot({ overrides: { clock } });
    const paths = [];
    for (let count = 0; count < 22; count += 1) {
      paths.push(await folder(booted, `p${count}`));
      advance(1000);
      await loadOf(booted.panel, paths[count] ?? '');
    }
    advance(1000);
    await loadOf(booted.panel, paths[5] ?? '');
    const names = (await recents(booted.panel)).map(({ name }) => name);
    const expected = [
      'p5',
      ...Array.from({ length: 20 }, (_, index) => `p${21 - index}`).filter((name) => name !== 'p5'),
    ];
    expect(names).toEqual(expected.slice(0, 20));
    expect((await recents(booted.panel))[0]?.last_opened_at).toBe(new Date(clock()).toISOString());
  });

  test('leaves out what was forgotten, until it is loaded again with the same workspace', async () => {
    await using booted = await boot();
    const { ws_id } = await loadOf(booted.panel, booted.projectDir);
    expect((await booted.panel.send('DELETE', `${recent}/${ws_id}`)).status).toBe(204);
    expect(await recents(booted.panel)).toEqual([]);
    expect((await booted.panel.send('GET', '/api/shell/jobs')).status).toBe(200);
    expect((await loadOf(booted.panel, booted.projectDir)).ws_id).toBe(ws_id);
    expect(await recents(booted.panel)).toHaveLength(1);
    expect((await booted.panel.problem('DELETE', `${recent}/ws_0123456789abcdef`)).code).toBe(
      'unknown_workspace',
    );
  });

  test('marks a folder that is not there now, and one that has become a file, within a second', async () => {
    const { clock, advance } = testClock();
    await using booted = await boot({ overrides: { clock } });
    const path = await folder(booted, 'moving');
    await loadOf(booted.panel, path);
    const available = async () => {
      advance(1000);
      return (await recents(booted.panel)).map((entry) => entry.available);
    };
    expect(await available()).toEqual([true]);
    await rename(path, `${path}-away`);
    expect(await available()).toEqual([false]);
    expect((await booted.panel.problem('POST', '/api/shell/run', { cmd: 'true' })).code).toBe(
      'folder_not_found',
    );
    await writeFile(path, '');
    expect(await available()).toEqual([false]);
    await rm(path);
    await rename(`${path}-away`, path);
    expect(await available()).toEqual([true]);
  });
});

/** What the schemas of these routes ask for. */
const queries: Record<string, string> = {
  '/api/project/file': '?path=a.txt',
  '/api/project/search': '?q=a',
};
const bodies: Record<string, unknown> = {
  '/api/shell/run': { cmd: 'true' },
  '/api/project/move': { from: 'a', to: 'b' },
  '/api/project/edit': { path: 'a', edits: [{ old_text: 'a', new_text: 'b' }] },
  '/api/shell/ssh-run': { host: 'box', cmd: 'true' },
  '/api/shell/ssh-pull': { host: 'box', remote_path: 'a' },
  '/api/secrets': { env: 'A=b' },
  '/api/secrets/:name': { value: 'b' },
  '/api/secrets/recover-store': { use: 'copy' },
};

describe('which workspace a call means', () => {
  test('is the one its credential loaded last, each its own', async () => {
    await using booted = await boot();
    const [one, two] = [await booted.keyed('agent'), await booted.keyed('agent')];
    const [pathOne, pathTwo] = [await folder(booted, 'one'), await folder(booted, 'two')];
    await loadOf(one, pathOne);
    await loadOf(two, pathTwo);
    const where = async (caller: Client) => (await caller.run({ cmd: 'pwd' })).frames[0];
    expect(await where(one)).toMatchObject({ line: pathOne });
    expect(await where(two)).toMatchObject({ line: pathTwo });
    await loadOf(one, pathTwo);
    expect(await where(one)).toMatchObject({ line: pathTwo });
  });

  test('is the one that X-Workspace-Id names, by id or by slug', async () => {
    await using booted = await boot();
    const agent = await booted.keyed('agent');
    const named = await loadOf(agent, await folder(booted, 'named'));
    await loadOf(agent, await folder(booted, 'active'));
    for (const name of [named.ws_id, named.slug]) {
      const { frames } = await agent.run({ cmd: 'pwd' }, { headers: { 'x-workspace-id': name } });
      expect(frames[0]).toMatchObject({ line: named.path });
    }
  });

  test('is 409 where none is loaded and none named, and 404 for a name that is none’s', async () => {
    await using booted = await boot();
    const agent = await booted.keyed('admin');
    const calls = booted.daemon.routes.filter((route) => route.workspace === true);
    expect(calls.length).toBeGreaterThan(4);
    for (const { method, path } of calls) {
      const target = path
        .replace(':job_id', 'j_0123456789abcdef')
        .replace(':run_id', 'run_0123456789abcdef')
        .replace(':receipt_id', 'rcpt_20260101_000000010000')
        .replace(':name', 'A')
        .concat(queries[path] ?? '');
      const body = method === 'post' ? bodies[path] : undefined;
      const none = await agent.problem(method, target, body);
      expect([target, none.httpStatus, none.code]).toEqual([target, 409, 'no_active_workspace']);
      for (const name of [
        '',
        'ws_0123456789abcdef',
        'nothing',
        '../..',
        '__proto__',
        'constructor',
        'x'.repeat(5000),
      ]) {
        const unknown = await agent.problem(method, target, body, { headers: { 'x-workspace-id': name } });
        expect([target, name, unknown.httpStatus, unknown.code]).toEqual([
          target,
          name,
          404,
          'unknown_workspace',
        ]);
      }
    }
  });

  test('never reaches a job of another workspace', async () => {
    await using booted = await boot();
    const agent = await booted.agent();
    const { jobId } = await agent.run({ cmd: 'echo secret' });
    const other = await booted.keyed('agent');
    await loadOf(other, await folder(booted, 'other'));
    expect((await other.problem('GET', `/api/shell/jobs/${jobId}/stream`)).code).toBe('unknown_job');
    expect((await other.problem('POST', `/api/shell/cancel/${jobId}`)).code).toBe('unknown_job');
    expect(await other.json('GET', '/api/shell/recent')).toEqual([]);
  });
});

describe('the service’s own folder for a workspace', () => {
  test('gives a folder its workspace back where the state was lost', async () => {
    await using base = await tempFolder();
    const dataDir = join(base.path, 'data');
    const project = join(base.path, 'app');
    const other = join(base.path, 'elsewhere/app');
    for (const path of [project, other]) await mkdir(path, { recursive: true });
    let before: LoadedProject;
    {
      await using booted = await boot({ dataDir });
      before = await loadOf(booted.panel, project);
    }
    await writeFile(join(dataDir, 'state.json'), '{ broken');
    await using booted = await boot({ dataDir });
    // A stranger of the same name comes first, and does not get what is another's.
    const stranger = await loadOf(booted.panel, other);
    expect([stranger.slug, stranger.ws_id === before.ws_id]).toEqual(['app-2', false]);
    const taken = await booted.panel.problem('POST', load, {
      path: await folder(booted, 'new'),
      slug: 'app',
    });
    expect(taken.code).toBe('conflict');
    expect(await loadOf(booted.panel, project)).toEqual(before);
  });

  test('is made again where it is gone', async () => {
    await using booted = await boot();
    const { slug, ws_id } = await loadOf(booted.panel, booted.projectDir);
    const own = join(booted.dataDir, 'workspaces', slug);
    await rm(own, { recursive: true });
    await loadOf(booted.panel, booted.projectDir);
    expect(JSON.parse(await readFile(join(own, 'workspace.json'), 'utf8'))).toMatchObject({ ws_id });
  });
});

async function folder({ projectDir }: BootedDaemon, name: string): Promise<string> {
  const path = join(projectDir, 'folders', name);
  await mkdir(path, { recursive: true });
  return path;
}

function loadOf(caller: Client, path: string): Promise<LoadedProject> {
  return caller.json('POST', load, { path });
}

function recents(caller: Client): Promise<RecentProject[]> {
  return caller.json('GET', recent);
}
