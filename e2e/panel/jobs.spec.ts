import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CreatedKey } from '../../daemon/contract/api-keys.ts';
import { api, expect, footer, job, rows, run, test } from './fixtures.ts';

test('a command shows its output, its exit code and its place in the list', async ({ panel, project }) => {
  await run(panel, 'echo out; echo err >&2; exit 3');
  await expect(footer(panel)).toContainText('Exited with code 3');
  await expect(rows(panel).filter({ hasText: /^out$/ })).toHaveAttribute('data-kind', 'stdout');
  await expect(rows(panel).filter({ hasText: /^err$/ })).toHaveAttribute('data-kind', 'stderr');
  await expect(panel.getByRole('navigation', { name: 'Jobs' }).getByRole('button')).toContainText(['Exit 3']);
  expect(project.name).toBe('acme');
});

test('a command that an agent runs appears by itself and is marked as the API’s', async ({
  panel,
  project,
  daemon,
}) => {
  await expect(panel.getByText('Nothing has run in acme yet')).toBeVisible();
  const key = await api<CreatedKey>(panel, 'POST', '/api/account/api-keys', {
    name: 'a',
    scopes: 'agent',
    expiry: '1d',
  });
  const response = await fetch(`${daemon.url}/api/shell/run`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key.key}`,
      'Content-Type': 'application/json',
      'X-Workspace-Id': project.ws_id,
    },
    body: JSON.stringify({ cmd: 'echo from the agent; sleep 1000' }),
  });
  await expect(rows(panel).filter({ hasText: 'from the agent' })).toBeVisible();
  await expect(job(panel)).toContainText('from the API');
  await expect(panel.getByText('1 job running')).toBeVisible();
  await job(panel).getByRole('button', { name: 'Stop' }).click();
  await expect(footer(panel)).toContainText('Stopped');
  await expect(panel.getByText('1 job running')).toBeHidden();
  await response.body?.cancel();
});

test('stopping answers at once and then says how the command ended', async ({ panel, project }) => {
  await run(panel, `trap '' TERM; echo deaf; while :; do sleep 0.2; done`);
  await expect(rows(panel).filter({ hasText: 'deaf' })).toBeVisible();
  await job(panel).getByRole('button', { name: 'Stop' }).click();
  await expect(job(panel).getByRole('button', { name: 'Stopping…' })).toBeDisabled();
  await expect(footer(panel)).toContainText('Stopped (SIGKILL), exit code 137', { timeout: 15_000 });
  await expect(panel.getByRole('navigation', { name: 'Jobs' })).toContainText('Stopped');
  expect(project.name).toBe('acme');
});

test('a command can be run again, and arrow up brings it back to be changed', async ({ panel, project }) => {
  await run(panel, 'echo first >> runs; wc -l < runs');
  await expect(footer(panel)).toContainText('Exited with code 0');
  await job(panel).getByRole('button', { name: 'Run again' }).click();
  await expect(rows(panel).filter({ hasText: /^\s*2$/ })).toBeVisible();
  await run(panel, 'echo other');
  await expect(footer(panel)).toContainText('Exited with code 0');
  const field = panel.getByLabel('Command to run in acme');
  await field.focus();
  await panel.keyboard.press('ArrowUp');
  await expect(field).toHaveValue('echo other');
  await panel.keyboard.press('ArrowUp');
  await expect(field).toHaveValue('echo first >> runs; wc -l < runs');
  await panel.keyboard.press('ArrowDown');
  await panel.keyboard.press('ArrowDown');
  await expect(field).toHaveValue('');
  expect(project.name).toBe('acme');
});

test('a folder in the workspace and a timeout can be given, and wrong ones are told', async ({
  panel,
  project,
}) => {
  await mkdir(join(project.path, 'inner'));
  await panel.getByRole('button', { name: 'Folder, timeout and secrets' }).click();
  const field = panel.getByLabel('Command to run in acme');
  const place = panel.getByLabel('In folder');
  await field.fill('pwd');
  await place.fill('nowhere');
  await field.press('Enter');
  await expect(panel.getByRole('alert')).toContainText('no such folder in this workspace');
  await place.fill('../..');
  await field.press('Enter');
  await expect(panel.getByRole('alert')).toContainText('has to be inside the workspace');
  await place.fill('inner');
  await panel.getByRole('textbox', { name: /^Timeout/ }).fill('301');
  await expect(panel.getByRole('alert')).toContainText('from 1 to 300');
  await panel.getByRole('textbox', { name: /^Timeout/ }).fill('1');
  await field.press('Enter');
  await expect(rows(panel).filter({ hasText: join(project.path, 'inner') })).toBeVisible();
  await field.fill('sleep 60');
  await field.press('Enter');
  await expect(footer(panel)).toContainText('Timed out', { timeout: 15_000 });
});

test('output that the daemon no longer has says so and offers to run the command again', async ({
  panel,
  project,
}) => {
  await run(panel, 'echo kept');
  await expect(footer(panel)).toContainText('Exited with code 0');
  await panel.route('**/api/shell/jobs/*/stream*', (route) =>
    route.fulfill({
      status: 404,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        type: 'about:blank',
        title: 'Not found',
        status: 404,
        detail: 'gone',
        code: 'unknown_job',
      }),
    }),
  );
  await panel.reload();
  await expect(job(panel).getByText('Output no longer kept').first()).toBeVisible();
  await panel.unroute('**/api/shell/jobs/*/stream*');
  await job(panel)
    .getByRole('region', { name: 'Output' })
    .locator('..')
    .getByRole('button', { name: 'Run again' })
    .click();
  await expect(rows(panel).filter({ hasText: 'kept' })).toBeVisible();
  expect(project.name).toBe('acme');
});
