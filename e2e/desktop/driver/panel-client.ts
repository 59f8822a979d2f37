/// <reference lib="dom" />
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import type { DesktopApi } from '../../../main/preload.ts';
import type { DesktopApp } from './desktop-app.ts';
import { expect } from './test.ts';

declare global {
  interface Window {
    tallystick: DesktopApi;
  }
}

/** The panel's page once it has signed in. */
export async function signedIn(app: DesktopApp): Promise<Page> {
  const page = await app.page();
  await expect.poll(() => hasSession(page)).toBe(true);
  return page;
}

/** Whether this page holds a session token that the daemon takes. */
export async function hasSession(page: Page): Promise<boolean> {
  return await page
    .evaluate(async () => {
      if (!location.protocol.startsWith('http')) return false;
      const [token] = JSON.stringify({ ...sessionStorage }).match(/tls_[\w-]+/) ?? [];
      if (token === undefined) return false;
      const answer = await fetch('/api/session', { headers: { authorization: `Bearer ${token}` } });
      return answer.status === 200;
    })
    .catch(() => false); // between two documents there is nothing to ask
}

/** Loads a folder and runs a command in it, as the panel would. Settles once it runs, with its pid. */
export async function runCommand(page: Page, folder: string, command: string): Promise<number> {
  return await page.evaluate(
    async ([path, cmd]) => {
      const token = await window.tallystick.requestLoginToken();
      const call = (route: string, body: object, headers: Record<string, string> = {}) =>
        fetch(route, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        });
      const session = await (await call('/api/session', { token })).json();
      const headers = { authorization: `Bearer ${session.session_token}` };
      const loaded = await call('/api/project/load', { path }, headers);
      if (!loaded.ok) throw new Error(await loaded.text());
      const run = await call('/api/shell/run', { cmd }, headers);
      if (!run.ok) throw new Error(await run.text());
      const jobs = await (await fetch('/api/shell/jobs', { headers })).json();
      return jobs.find((job: { cmd: string; pid: number }) => job.cmd === cmd).pid;
    },
    [folder, command] as const,
  );
}

/** What the daemon wrote down about itself. */
export function readLock(dataDir: string): {
  pid: number;
  url: string;
  version: string;
  process_started_at: string;
} {
  return JSON.parse(readFileSync(join(dataDir, 'daemon.lock'), 'utf8'));
}
