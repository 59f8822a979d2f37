import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DaemonStatus } from './contract/daemon.ts';
import { tempFolder } from './lib/testing/temp-folder.ts';
import { boot } from './testing/boot.ts';
import { client } from './testing/client.ts';

describe('the state file', () => {
  test('is there from the first start on, and the account keeps its id', async () => {
    await using folder = await tempFolder();
    const dataDir = join(folder.path, 'data');
    const ids = [];
    for (let count = 0; count < 2; count += 1) {
      await using booted = await boot({ dataDir });
      ids.push(booted.session.user_id);
      expect(JSON.parse(await readFile(join(dataDir, 'state.json'), 'utf8')).account.user_id).toBe(ids[0]);
    }
    expect(new Set(ids).size).toBe(1);
  });

  const broken = {
    'half of it': '{"version":1,"acco',
    'nothing in it': '',
    'not JSON': 'hello',
    'not an object': '[]',
    'a version from the future': '{"version":2}',
    'a member of another kind': '{"version":1,"account":{},"sessions":5,"keys":[],"workspaces":{}}',
    'bytes that are no UTF-8': Buffer.from([0xff, 0xfe, 0x00]),
  };
  test.for(Object.entries(broken))(
    'that does not parse is set aside and told of, and the daemon works: %s',
    async ([, content]) => {
      await using folder = await tempFolder();
      const dataDir = join(folder.path, 'data');
      let oldKey: string;
      {
        await using booted = await boot({ dataDir });
        oldKey = (await booted.keyed('read')).key.key;
      }
      await writeFile(join(dataDir, 'state.json'), content);
      await using booted = await boot({ dataDir });
      const kept = (await readdir(dataDir)).filter((name) => name.startsWith('state.json.broken-'));
      expect(kept).toHaveLength(1);
      expect(await readFile(join(dataDir, kept[0] ?? ''))).toEqual(Buffer.from(content));
      const { notices } = await booted.panel.json<DaemonStatus>('GET', '/api/status');
      expect(notices).toEqual([expect.stringContaining(kept[0] ?? 'no file was kept')]);
      expect((await client(booted.daemon.url, oldKey).problem('GET', '/api/project/recent')).code).toBe(
        'invalid_key',
      );
      const agent = await booted.agent();
      expect((await agent.run({ cmd: 'echo works' })).frames[0]).toEqual({ type: 'stdout', line: 'works' });
      expect((await stat(join(dataDir, 'state.json'))).mode & 0o777).toBe(0o600);
    },
  );

  test('that was mended and put back has everything again', async () => {
    await using folder = await tempFolder();
    const dataDir = join(folder.path, 'data');
    const path = join(dataDir, 'state.json');
    let key: string;
    {
      await using booted = await boot({ dataDir });
      key = (await booted.keyed('read')).key.key;
    }
    const good = await readFile(path);
    await writeFile(path, good.subarray(0, good.length - 5));
    {
      await using booted = await boot({ dataDir });
      expect((await booted.stranger.send('GET', '/healthz')).status).toBe(200);
    }
    await writeFile(path, good);
    await using booted = await boot({ dataDir });
    expect((await client(booted.daemon.url, key).send('GET', '/api/project/recent')).status).toBe(200);
    expect((await booted.panel.json<DaemonStatus>('GET', '/api/status')).notices).toEqual([]);
  });
});

test('GET /api/status tells where and what the daemon is', async () => {
  await using booted = await boot({ env: 'test' });
  const agent = await booted.agent();
  const stream = await agent.send('POST', '/api/shell/run', { cmd: 'exec sleep 60' });
  const status = await booted.panel.json<DaemonStatus>('GET', '/api/status');
  expect(status).toEqual({
    version: booted.daemon.version,
    env: 'test',
    url: booted.daemon.url,
    pid: process.pid,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    data_dir: booted.dataDir,
    started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    memory_bytes: expect.any(Number),
    running_jobs: 1,
    open_streams: 1,
    notices: [],
  });
  await agent.json('POST', `/api/shell/cancel/${stream.headers.get('x-job-id')}`);
  await stream.text();
});

test('what a credential had active is forgotten at the start when the credential is gone', async () => {
  await using folder = await tempFolder();
  const dataDir = join(folder.path, 'data');
  const path = join(dataDir, 'state.json');
  const read = async () => JSON.parse(await readFile(path, 'utf8'));
  let active: object;
  {
    await using booted = await boot({ dataDir });
    const agent = await booted.agent();
    active = { [agent.key.key_id]: agent.project.ws_id };
  }
  const state = await read();
  expect(state.workspaces.active).toEqual(active);
  await writeFile(path, JSON.stringify({ ...state, keys: [] }));
  await (await boot({ dataDir }))[Symbol.asyncDispose]();
  expect((await read()).workspaces.active).toEqual({});
  expect((await read()).workspaces.list).toEqual(state.workspaces.list);
});
