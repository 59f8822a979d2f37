import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LoadedProject } from '../contract/projects.ts';
import type { ReceiptPage } from '../contract/receipts.ts';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { boot } from '../testing/boot.ts';
import { until } from '../testing/processes.ts';

test('a command that is ended by the end of the daemon has its receipt, with its exit code', async () => {
  await using base = await tempFolder();
  const dataDir = join(base.path, 'data');
  const project = join(base.path, 'project');
  await mkdir(project);
  {
    await using booted = await boot({ dataDir });
    const agent = await booted.keyed('agent');
    await agent.json<LoadedProject>('POST', '/api/project/load', { path: project });
    await agent.send('POST', '/api/shell/run', { cmd: 'echo made > file.txt; exec sleep 1000' });
    await until('the command has made its file', () => existsSync(join(project, 'file.txt')));
  }
  await using next = await boot({ dataDir });
  await next.panel.json<LoadedProject>('POST', '/api/project/load', { path: project });
  const { receipts } = await next.panel.json<ReceiptPage>('GET', '/api/receipts');
  expect(receipts).toMatchObject([
    { tool: 'shell.run', command: { exit_code: 143 }, files: [{ path: 'file.txt' }] },
  ]);
});
