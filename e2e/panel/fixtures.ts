import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, type Page } from 'playwright/test';
import type { LoadedProject } from '../../daemon/contract/projects.ts';
import { type DaemonOptions, type DaemonProcess, startDaemon } from './daemon-process.ts';

export { expect };

type Fixtures = {
  /** A folder of the test's own, with `data` for the daemon in it. Removed afterwards. */
  folder: string;
  /** What the daemon is started with beyond the usual. */
  daemonOptions: Omit<DaemonOptions, 'dataDir'>;
  /** A daemon of the test's own. Its one login token is unused. */
  daemon: DaemonProcess;
  /** The panel, signed in, at the Workspaces view. */
  panel: Page;
  /** An empty project folder that is open in the panel, which shows its jobs. */
  project: LoadedProject;
};

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright wants a destructured first argument
  folder: async ({}, use) => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'tallystick-panel-')));
    await use(folder);
    await rm(folder, { recursive: true, force: true });
  },
  daemonOptions: [{}, { option: true }],
  daemon: async ({ folder, daemonOptions }, use) => {
    const daemon = await startDaemon({ ...daemonOptions, dataDir: join(folder, 'data') });
    await use(daemon);
    await daemon.stop();
  },
  panel: async ({ daemon, page, context }, use) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: daemon.url });
    await page.goto(`${daemon.url}/#token=${daemon.loginToken}`);
    await page.getByRole('heading', { name: 'Workspaces', level: 1 }).waitFor();
    await use(page);
  },
  project: async ({ panel, folder }, use) => {
    const path = join(folder, 'acme');
    await mkdir(path);
    const project = await api<LoadedProject>(panel, 'POST', '/api/project/load', { path });
    await panel.reload();
    await panel.getByRole('link', { name: 'Jobs', exact: true }).click();
    await panel.getByLabel('Command to run in acme').waitFor();
    await use(project);
  },
});

/** Calls the daemon with the panel's own session. */
export function api<Answer>(panel: Page, method: string, path: string, body?: object): Promise<Answer> {
  return panel.evaluate(
    async (call) => {
      const response = await fetch(call.path, {
        method: call.method,
        headers: {
          Authorization: `Bearer ${sessionStorage.getItem('tallystick.session')}`,
          ...(call.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      });
      if (!response.ok) throw new Error(`${call.path}: ${response.status} ${await response.text()}`);
      return response.status === 204 ? null : response.json();
    },
    { method, path, body },
  );
}

/** Goes to a view by its name in the sidebar. */
export async function view(panel: Page, name: string): Promise<void> {
  const link = panel.getByRole('navigation', { name: 'Views' }).getByRole('link', { name, exact: true });
  await link.click();
  await expect(link).toHaveAttribute('aria-current', 'page');
}

/** Types a command into the run bar, starts it, and waits until its output is shown. */
export async function run(panel: Page, cmd: string): Promise<void> {
  await panel.getByLabel('Command to run in acme').fill(cmd);
  await panel.keyboard.press('Enter');
  await job(panel).getByRole('heading', { name: cmd, exact: true }).waitFor();
}

/** Writes a script into the project and answers the command that runs it. */
export async function script(project: LoadedProject, name: string, source: string): Promise<string> {
  await writeFile(join(project.path, name), source);
  return `'${process.execPath}' ${name}`;
}

export function job(panel: Page) {
  return panel.getByRole('region', { name: 'Job', exact: true });
}

/** The rows of output that are in the document now. */
export function rows(panel: Page) {
  return panel.locator('.log-row');
}

export function output(panel: Page) {
  return panel.getByRole('region', { name: 'Output', exact: true });
}

/** The line under the output: how the job stands or how it ended. */
export function footer(panel: Page) {
  return job(panel).locator('footer');
}
