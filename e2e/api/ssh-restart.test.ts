import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LoadedProject } from '../../daemon/contract/projects.ts';
import type { ChainVerdict, ReceiptPage, VerifyFrame } from '../../daemon/contract/receipts.ts';
import type { JobFrame } from '../../daemon/contract/shell.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { type Client, collectFrames, firstFrame } from '../../daemon/testing/client.ts';
import { until } from '../../daemon/testing/processes.ts';
import { startSshd, whyNoSshd } from '../../daemon/testing/sshd.ts';
import { buildOnce, serveDaemon } from './served-daemon.ts';

test('a daemon that is killed with four commands on a host has room for four again, and a receipt for each', async ({
  skip,
}) => {
  const missing = whyNoSshd();
  if (missing !== undefined) {
    console.info(`skipped: ${missing}`);
    return skip(missing);
  }
  await buildOnce();
  await using sshd = await startSshd();
  await using folder = await tempFolder();
  const project = join(folder.path, 'project');
  mkdirSync(project);
  const config = join(folder.path, 'ssh_config');
  writeFileSync(config, sshd.configEntry('box'));
  const dataDir = join(folder.path, 'data');
  const options = { args: ['--ssh-config', config], env: { TALLYSTICK_KEYCHAIN: 'off' } };
  {
    await using first = await serveDaemon(dataDir, options);
    await first.panel.json<LoadedProject>('POST', '/api/project/load', { path: project });
    for (let job = 0; job < 4; job += 1) {
      const cmd = `echo up; sleep 60 # ${job}`;
      const response = await first.panel.send('POST', '/api/shell/ssh-run', { host: 'box', cmd });
      await firstFrame(response, (frame) => frame.type === 'stdout');
    }
    expect((await first.panel.send('POST', '/api/shell/ssh-run', { host: 'box', cmd: 'true' })).status).toBe(
      429,
    );
    first.process.child.kill('SIGKILL');
    await first.process.finished;
  }
  await using second = await serveDaemon(dataDir, options);
  const { ws_id } = await second.panel.json<LoadedProject>('POST', '/api/project/load', { path: project });
  const ran = await Promise.all(Array.from({ length: 4 }, () => runOn(second.panel)));
  for (const { frames } of ran) expect(frames.at(-1)).toMatchObject({ type: 'exit', code: 0 });
  await until('every command has its receipt', async () => {
    const page = await second.panel.json<ReceiptPage>('GET', `/api/receipts?ws_id=${ws_id}&tool=ssh.run`);
    return page.receipts.length === 8;
  });
  const { receipts } = await second.panel.json<ReceiptPage>(
    'GET',
    `/api/receipts?ws_id=${ws_id}&tool=ssh.run`,
  );
  const codes = receipts.map(({ command }) => command?.exit_code);
  expect(codes).toEqual([0, 0, 0, 0, null, null, null, null]);
  const response = await second.panel.send('POST', `/api/receipts/verify?ws_id=${ws_id}`);
  const frames = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
  const verdict = frames.map((line) => JSON.parse(line.slice(6)) as VerifyFrame).at(-1) as ChainVerdict;
  expect(verdict.valid).toBe(true);
});

async function runOn(panel: Client): Promise<{ readonly frames: JobFrame[] }> {
  const response = await panel.send('POST', '/api/shell/ssh-run', { host: 'box', cmd: 'echo again' });
  if (!response.ok) throw new Error(await response.text());
  return { frames: await collectFrames(response) };
}
