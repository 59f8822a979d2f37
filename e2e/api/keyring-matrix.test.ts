import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { MasterKeyStatus } from '../../daemon/contract/master-key.ts';
import type { RevealedSecret } from '../../daemon/contract/secrets.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import type { Client } from '../../daemon/testing/client.ts';
import { type Keyring, keyringMissing, startKeyring } from '../../daemon/testing/keyring.ts';
import { buildOnce, serveDaemon } from './served-daemon.ts';

type Condition = 'no bus' | 'no provider' | 'locked' | 'unlocked' | 'wrong key';
type Run = 'first run' | 'existing stores';

interface Cell {
  readonly condition: Condition;
  readonly run: Run;
  readonly state: MasterKeyStatus['state'];
  /** Of setting a secret. */
  readonly status: number;
  readonly code?: string;
}

const cells: readonly Cell[] = [
  { condition: 'no bus', run: 'first run', state: 'missing', status: 503, code: 'master_key_unavailable' },
  {
    condition: 'no bus',
    run: 'existing stores',
    state: 'missing',
    status: 503,
    code: 'master_key_unavailable',
  },
  {
    condition: 'no provider',
    run: 'first run',
    state: 'missing',
    status: 503,
    code: 'master_key_unavailable',
  },
  {
    condition: 'no provider',
    run: 'existing stores',
    state: 'missing',
    status: 503,
    code: 'master_key_unavailable',
  },
  { condition: 'locked', run: 'first run', state: 'locked', status: 503, code: 'master_key_locked' },
  { condition: 'locked', run: 'existing stores', state: 'locked', status: 503, code: 'master_key_locked' },
  { condition: 'unlocked', run: 'first run', state: 'ready', status: 201 },
  { condition: 'unlocked', run: 'existing stores', state: 'ready', status: 201 },
  { condition: 'wrong key', run: 'first run', state: 'missing', status: 503, code: 'master_key_unavailable' },
  {
    condition: 'wrong key',
    run: 'existing stores',
    state: 'missing',
    status: 503,
    code: 'master_key_unavailable',
  },
];

test('on a real keyring no key is made silently, and what is wrong is said', {
  timeout: 240_000,
}, async ({ skip }) => {
  const missing = keyringMissing();
  if (missing !== undefined) {
    console.info(`skipped: ${missing}`);
    return skip(missing);
  }
  await buildOnce();
  for (const cell of cells) console.info(await tryCell(cell));
});

async function tryCell(cell: Cell): Promise<string> {
  const { condition, run, state, status, code } = cell;
  const name = `${condition} × ${run}`;
  await using folder = await tempFolder();
  await using keyring = await startKeyring();
  const world = new World(folder.path, keyring);
  await keyring.startProvider();
  await keyring.unlock();
  if (run === 'existing stores')
    await world.serve(keyring.environment, (panel) => set(panel, 'EARLIER', 'value-from-before'));
  if (condition === 'wrong key')
    await keyring.set(
      'master-key',
      run === 'first run' ? 'no key at all' : randomBytes(32).toString('base64url'),
    );
  const before = await world.contents();
  if (condition === 'locked') await keyring.lock();
  if (condition === 'no provider') await keyring.stopProvider();
  const env = condition === 'no bus' ? keyring.withoutBus : keyring.environment;

  const line = await world.serve(env, async (panel) => {
    const key = await statusOf(panel);
    const answer = await set(panel, 'NAME', 'value-of-the-cell');
    expect([key.state, answer.status, answer.code], name).toEqual([state, status, code]);
    if (state !== 'ready') expect(key.detail, name).toBeTruthy();
    if (condition === 'wrong key' && run === 'existing stores') expect(key.detail).toContain(key.key_id);
    const revealed = await panel.send('GET', '/api/secrets/EARLIER');
    expect(revealed.status, name).toBe(run === 'first run' ? 404 : state === 'ready' ? 200 : 503);
    if (condition === 'locked') await expectUnlockingIsEnough(panel, keyring, run);
    return `${name}: ${key.state} (${key.source}), ${answer.status} ${answer.code ?? ''} ${key.detail ?? ''}`;
  });
  if (condition === 'no provider') await keyring.startProvider();
  if (condition !== 'unlocked' || run !== 'first run') {
    if (condition !== 'no bus') await keyring.unlock();
    const madeAfterUnlocking = condition === 'locked' && run === 'first run';
    if (!madeAfterUnlocking) expect(await world.contents(), name).toEqual(before);
  } else expect((await world.contents()).map(([account]) => account)).toEqual(['master-key']);
  // Whatever was wrong: once it is not any more, the secrets from before are there.
  if (run === 'existing stores' && condition !== 'wrong key')
    await world.serve(keyring.environment, async (panel) => {
      const { value } = await panel.json<RevealedSecret>('GET', '/api/secrets/EARLIER');
      expect(value, name).toBe('value-from-before');
    });
  return line;
}

async function expectUnlockingIsEnough(panel: Client, keyring: Keyring, run: Run): Promise<void> {
  expect(await keyring.get('master-key')).toEqual(
    run === 'first run' ? null : expect.objectContaining({ fault: 'locked' }),
  );
  await keyring.unlock();
  expect((await statusOf(panel)).state).toBe('ready');
  expect((await set(panel, 'NAME', 'value-of-the-cell')).status).toBe(201);
}

const statusOf = (panel: Client) => panel.json<MasterKeyStatus>('GET', '/api/account/master-key');

async function set(panel: Client, name: string, value: string) {
  const response = await panel.send('POST', `/api/secrets/${name}`, { value });
  const { code } = await response.json();
  return { status: response.status, code: typeof code === 'string' ? code : undefined };
}

/** One data folder and one project, with a keyring. */
class World {
  readonly #folder: string;
  readonly #keyring: Keyring;

  constructor(folder: string, keyring: Keyring) {
    this.#folder = folder;
    this.#keyring = keyring;
  }

  /** What the keyring has of ours but for the key that signs receipts, which has tests of its own. */
  async contents(): Promise<(readonly [string, string | null])[]> {
    const accounts = (await this.#keyring.accounts()).filter((account) => account !== 'checkpoint-key');
    return Promise.all(accounts.map(async (account) => [account, await this.#keyring.get(account)] as const));
  }

  /** A daemon for the time of `work`, with the project loaded. */
  async serve<T>(env: NodeJS.ProcessEnv, work: (panel: Client) => Promise<T>): Promise<T> {
    const path = join(this.#folder, 'project');
    await mkdir(path, { recursive: true });
    await using daemon = await serveDaemon(join(this.#folder, 'data'), {
      env: { SERVICE_SECRET_KEY: undefined, TALLYSTICK_KEYCHAIN: 'on', ...env },
    });
    await daemon.panel.json('POST', '/api/project/load', { path });
    return await work(daemon.panel);
  }
}
