import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test as base, expect as baseExpect, type TestInfo } from 'playwright/test';
import { findElectron } from '../../../scripts/electron-binary.ts';
import type { DesktopApp, Ending } from './desktop-app.ts';
import { launchOnDouble } from './double-app.ts';
import { launchOnElectron, startElectronAgain } from './electron-app.ts';

const root = resolve(process.env.TALLYSTICK_APP_ROOT ?? join(import.meta.dirname, '..', '..', '..'));
const binary = findElectron();

/** An app is a browser and two processes, so on a busy machine each answer may take its time. */
export const expect = baseExpect.configure({ timeout: 20_000 });

/** One user's machine: a home, a data folder, and a desktop that has a tray or has none. */
export type Machine = {
  readonly root: string;
  readonly dataDir: string;
  readonly home: string;
  /** What a program of this user finds in its environment. */
  readonly env: Record<string, string>;
  /** Starts the app; what is still running when the test is over is killed. */
  start(changed?: { env?: Record<string, string> }): Promise<DesktopApp>;
  /** Starts the app once more while it runs. Settles when that second process has ended. */
  startAgain(): Promise<Ending>;
};

export const test = base.extend<{ machine: Machine }, { announced: undefined }>({
  announced: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern.
    async ({}, use) => {
      console.log(`desktop: ${binary === undefined ? 'the double of Electron' : `Electron, ${binary}`}`);
      await use(undefined);
    },
    { scope: 'worker', auto: true },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  machine: async ({}, use, testInfo) => {
    const home = mkdtempSync(join(tmpdir(), 'tallystick-desktop-'));
    const env = environment(home);
    const apps: DesktopApp[] = [];
    await use({
      root,
      home,
      env,
      dataDir: env.TALLYSTICK_DATA_DIR ?? '',
      start: async (changed = {}) => {
        const options = { root, env: { ...env, ...changed.env } };
        const app = await (binary === undefined
          ? launchOnDouble(options)
          : launchOnElectron(binary, options));
        apps.push(app);
        return app;
      },
      startAgain: async () => {
        if (binary !== undefined) return await startElectronAgain(binary, { root, env });
        return await (await launchOnDouble({ root, env })).ended;
      },
    });
    await Promise.all(apps.map((app) => app.kill()));
    if (testInfo.status !== testInfo.expectedStatus) await attachLogs(testInfo, home, apps);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  },
});

/** What the daemon and the main process printed, beside the failure it may explain. */
async function attachLogs(testInfo: TestInfo, home: string, apps: readonly DesktopApp[]): Promise<void> {
  for (const app of apps) await testInfo.attach('main process', { body: app.output() });
  const logs = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.log'),
  );
  for (const log of logs) await testInfo.attach(log, { path: join(home, log) });
}

function environment(home: string): Record<string, string> {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  mkdirSync(join(home, 'tmp'));
  writeSessionBus(bin, true);
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return {
    ...Object.fromEntries(
      inherited.filter(([name]) => !name.startsWith('TALLYSTICK_') && name !== 'NODE_OPTIONS'),
    ),
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    XDG_CONFIG_HOME: join(home, 'config'),
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    TALLYSTICK_DATA_DIR: join(home, 'data'),
    TALLYSTICK_PORT: '0',
  };
}

/** Puts a session bus in place that says whether something on it shows tray icons. */
export function writeSessionBus(bin: string, hasTray: boolean): void {
  const path = join(bin, 'gdbus');
  writeFileSync(path, `#!/bin/sh\necho "(${hasTray},)"\n`);
  chmodSync(path, 0o755);
}
