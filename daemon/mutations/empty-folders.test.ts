import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { boot } from '../testing/boot.ts';

test('a folder that a call of the API empties or fills is not held to be the doing of the next command', async () => {
  await using booted = await boot({ overrides: { settleMs: 20_000 } });
  const agent = await booted.agent();
  const at = (path: string) => join(booted.projectDir, path);
  mkdirSync(at('emptied'));
  mkdirSync(at('filled'));
  writeFileSync(at('emptied/last.txt'), 'last\n');
  expect((await agent.run({ cmd: 'true' })).frames.at(-1)).toMatchObject({ files_changed: 0 });
  await agent.json('DELETE', '/api/project/file?path=emptied/last.txt');
  await agent.json('PUT', '/api/project/file?path=filled/first.txt', undefined, {
    rawBody: 'first\n',
    headers: { 'content-type': 'text/plain' },
  });
  await agent.json('POST', '/api/project/move', { from: 'filled/first.txt', to: 'new/place.txt' });
  expect((await agent.run({ cmd: 'true' })).frames.at(-1)).toMatchObject({ files_changed: 0 });
});
