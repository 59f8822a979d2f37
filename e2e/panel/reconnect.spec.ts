import { join } from 'node:path';
import { startDaemon } from './daemon-process.ts';
import { expect, footer, rows, run, test } from './fixtures.ts';

test('the panel says that the daemon is away, and is up to date again once it is back', async ({
  panel,
  project,
  daemon,
  folder,
}) => {
  await run(panel, 'echo before; sleep 1000');
  await expect(rows(panel).filter({ hasText: 'before' })).toBeVisible();
  await daemon.stop();
  await expect(panel.getByRole('alert')).toContainText('The daemon does not answer');
  await expect(panel.getByText('Reconnecting…')).toBeVisible();
  await expect(footer(panel)).toContainText('daemon shut down');

  const restarted = await startDaemon({ dataDir: join(folder, 'data'), port: daemon.port });
  try {
    await panel.getByRole('button', { name: 'Try now' }).click();
    await expect(panel.getByText('Connected', { exact: true })).toBeVisible();
    await expect(panel.getByRole('alert')).toBeHidden();
    await expect(panel.getByRole('navigation', { name: 'Jobs' })).toContainText('Daemon stopped');
    await run(panel, 'echo after');
    await expect(rows(panel).filter({ hasText: /^after$/ })).toBeVisible();
    expect(project.name).toBe('acme');
  } finally {
    await restarted.stop();
  }
});
