import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type ChildServer, startServer } from './child-server.ts';

export interface DaemonUnderTest extends AsyncDisposable {
  pid: number;
  url: string;
  /** An API key of scope `agent`, with a project loaded and active. */
  key: string;
  projectDir: string;
}

export interface DaemonLauncher {
  /** Arguments for Node that start the daemon on a port of its own over `dataDir`. */
  args(dataDir: string): string[];
  /** A fresh daemon on a fresh data folder, signed in, with a key and an empty project that has these secrets. */
  launch(secrets?: Readonly<Record<string, string>>, flags?: readonly string[]): Promise<DaemonUnderTest>;
}

/** More keyed requests than any row makes: the daemon allows 600 a minute unless told otherwise. */
export const noRateLimit = { TALLYSTICK_RATE_LIMIT: '1000000000' };

export function daemonLauncher(entry: string, tempDir: string, nodeFlags: readonly string[]): DaemonLauncher {
  const args = (dataDir: string) => [
    ...nodeFlags,
    entry,
    'serve',
    '--json',
    '--port',
    '0',
    '--data-dir',
    dataDir,
  ];
  return {
    args,
    async launch(secrets = {}, flags = []) {
      const SERVICE_SECRET_KEY = randomBytes(32).toString('base64url');
      const server = await startServer([...args(mkdtempSync(join(tempDir, 'data-'))), ...flags], {
        ...noRateLimit,
        SERVICE_SECRET_KEY,
      });
      try {
        return await prepare(server, mkdtempSync(join(tempDir, 'project-')), secrets);
      } catch (cause) {
        await server[Symbol.asyncDispose]();
        throw cause;
      }
    },
  };
}

async function prepare(
  server: ChildServer,
  projectDir: string,
  secrets: Readonly<Record<string, string>>,
): Promise<DaemonUnderTest> {
  const { url, login_token } = server.ready;
  const session = await post(`${url}/api/session`, undefined, { token: login_token });
  const token = String(session.session_token);
  const created = await post(`${url}/api/account/api-keys`, token, {
    name: 'bench',
    scopes: 'agent',
    expiry: '1d',
  });
  const key = String(created.key);
  await post(`${url}/api/project/load`, key, { path: projectDir });
  const env = Object.entries(secrets).map(([name, value]) => `${name}='${value}'\n`);
  if (env.length > 0) {
    await post(`${url}/api/project/load`, token, { path: projectDir });
    await post(`${url}/api/secrets`, token, { env: env.join('') });
  }
  return {
    pid: server.pid,
    url,
    key,
    projectDir,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function post(url: string, token: string | undefined, body: unknown): Promise<Record<string, unknown>> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (token !== undefined) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${new URL(url).pathname} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
