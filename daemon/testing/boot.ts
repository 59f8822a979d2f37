import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreatedKey } from '../contract/api-keys.ts';
import type { LoadedProject } from '../contract/projects.ts';
import type { Scope } from '../contract/scopes.ts';
import type { CreatedSession } from '../contract/session.ts';
import { createDaemon, type Daemon, type Overrides } from '../daemon.ts';
import { createLogger } from '../lib/logger.ts';
import { type Client, client } from './client.ts';

export interface BootOptions {
  readonly overrides?: Overrides;
  readonly requestsPerMinute?: number;
  readonly env?: 'live' | 'test';
  /** Kept when the daemon ends; without it a temporary one is made, and removed. */
  readonly dataDir?: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** Absolute path of an SSH client configuration. */
  readonly sshConfig?: string;
}

export interface BootedDaemon extends AsyncDisposable {
  readonly daemon: Daemon;
  readonly dataDir: string;
  /** An empty folder that can be loaded, and is removed with the daemon. */
  readonly projectDir: string;
  /** Speaks with no credential. */
  readonly stranger: Client;
  /** Speaks as a signed-in person. */
  readonly panel: Client;
  readonly session: CreatedSession;
  /** Makes a key, and a client that uses it. */
  keyed(scopes: Scope): Promise<Client & { readonly key: CreatedKey }>;
  /** A client whose key has loaded `projectDir`. */
  agent(): Promise<Client & { readonly key: CreatedKey; readonly project: LoadedProject }>;
}

/** A real daemon on a free port, with folders of its own. */
export async function boot(options: BootOptions = {}): Promise<BootedDaemon> {
  const base = await mkdtemp(join(tmpdir(), 'tallystick-test-'));
  const dataDir = options.dataDir ?? join(base, 'data');
  const projectDir = await mkdtemp(join(base, 'project-'));
  const daemon = await createDaemon(
    {
      dataDir,
      port: 0,
      env: options.env ?? 'live',
      requestsPerMinute: options.requestsPerMinute ?? 1_000_000,
      logLevel: 'silent',
      keyFile: undefined,
      // Not the one of who runs the tests.
      sshConfig: options.sshConfig ?? join(base, 'no-ssh-config'),
      useKeychain: false,
      environment: options.environment ?? process.env,
    },
    { logger: createLogger('silent'), ...options.overrides },
  );
  const stranger = client(daemon.url);
  const session = await stranger.json<CreatedSession>('POST', '/api/session', {
    token: daemon.mintLoginToken(),
  });
  const panel = client(daemon.url, session.session_token);
  const keyed = async (scopes: Scope) => {
    const key = await panel.json<CreatedKey>('POST', '/api/account/api-keys', {
      name: scopes,
      scopes,
      expiry: '1d',
    });
    return { ...client(daemon.url, key.key), key };
  };
  const agent = async () => {
    const keyedAgent = await keyed('agent');
    const project = await keyedAgent.json<LoadedProject>('POST', '/api/project/load', { path: projectDir });
    return { ...keyedAgent, project };
  };
  const end = async () => {
    await daemon[Symbol.asyncDispose]();
    // On a busy machine the daemon may leave the last of its writing to the journal, and be at it still.
    await rm(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  return { daemon, dataDir, projectDir, stranger, panel, session, keyed, agent, [Symbol.asyncDispose]: end };
}
