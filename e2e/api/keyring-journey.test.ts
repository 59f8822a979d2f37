import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CreatedKey } from '../../daemon/contract/api-keys.ts';
import type { AuditPage } from '../../daemon/contract/audit-log.ts';
import type { ExportedMasterKey, MasterKeyStatus } from '../../daemon/contract/master-key.ts';
import type { RevealedSecret, RotatedMaster } from '../../daemon/contract/secrets.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { type Client, client } from '../../daemon/testing/client.ts';
import { keyringMissing, startKeyring } from '../../daemon/testing/keyring.ts';
import { buildOnce, serveDaemon } from './served-daemon.ts';

const value = 'the value of the secret';
const statusOf = (panel: Client) => panel.json<MasterKeyStatus>('GET', '/api/account/master-key');
const exported = (panel: Client) =>
  panel.json<ExportedMasterKey>('POST', '/api/account/master-key/export', { confirm: true });
const importing = (key: string) => ['POST', '/api/account/master-key/import', { key }] as const;
const rotate = ['POST', '/api/secrets/rotate-master'] as const;
const revealed = async (panel: Client) =>
  (await panel.json<RevealedSecret>('GET', '/api/secrets/NAME')).value;

test('with a real keyring a key is made, rotated, lost, and put back', { timeout: 120_000 }, async ({
  skip,
}) => {
  const missing = keyringMissing();
  if (missing !== undefined) {
    console.info(`skipped: ${missing}`);
    return skip(missing);
  }
  await using keyring = await startKeyring();
  await keyring.startProvider();
  await keyring.unlock();
  await using world = await daemonWorld({ TALLYSTICK_KEYCHAIN: 'on', ...keyring.environment });
  const [first, second] = await world.serve(async (panel) => {
    await panel.json('POST', '/api/secrets/NAME', { value });
    const before = await exported(panel);
    expect(await keyring.get('master-key')).toBe(before.key);
    const { rotated, key_id, pending } = await panel.json<RotatedMaster>(...rotate);
    expect([rotated, pending]).toEqual([1, []]);
    const after = await exported(panel);
    expect([after.key_id, before.key_id === key_id]).toEqual([key_id, false]);
    expect(await keyring.get('master-key')).toBe(after.key);
    expect(await revealed(panel)).toBe(value);
    return [before, after];
  });
  const ours = async () => (await keyring.accounts()).filter((account) => account.startsWith('master-key'));
  expect(await ours()).toEqual(['master-key']);
  await keyring.set('master-key', randomBytes(32).toString('base64url'));
  await world.serve(async (panel) => {
    expect((await statusOf(panel)).state).toBe('missing');
    expect(await panel.problem('GET', '/api/secrets/NAME')).toMatchObject({ code: 'master_key_unavailable' });
    expect(await panel.problem(...importing(first?.key ?? ''))).toMatchObject({
      httpStatus: 409,
      code: 'master_key_mismatch',
    });
    expect(await panel.json(...importing(second?.key ?? ''))).toMatchObject({ state: 'ready' });
    expect(await revealed(panel)).toBe(value);
  });
  // The key that stood in its place may be somebody's, too.
  expect(await ours()).toHaveLength(2);
});

test('with a key file, what is done to the key is in the audit log, and only a person can take it away', async () => {
  await using world = await daemonWorld({ TALLYSTICK_KEYCHAIN: 'off' });
  await world.serve(async (panel, url) => {
    await panel.json('POST', '/api/secrets/NAME', { value });
    const { key: credential } = await panel.json<CreatedKey>('POST', '/api/account/api-keys', {
      name: 'admin',
      scopes: 'admin',
      expiry: '1d',
    });
    const admin = client(url, credential);
    expect(await statusOf(admin)).toMatchObject({ state: 'ready', source: 'file', managed: true });
    for (const [path, body] of [
      ['export', { confirm: true }],
      ['import', { key: 'A'.repeat(43) }],
    ] as const)
      expect((await admin.problem('POST', `/api/account/master-key/${path}`, body)).httpStatus).toBe(403);
    expect((await panel.problem('POST', '/api/account/master-key/export', {})).httpStatus).toBe(422);

    const response = await panel.send('POST', '/api/account/master-key/export', { confirm: true });
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { key, key_id }: ExportedMasterKey = await response.json();
    expect(readFileSync(world.keyFile, 'utf8').trim().replace(/=$/, '')).toBe(key.replace(/=$/, ''));
    expect(await panel.json(...importing(` ${key}\n`))).toMatchObject({ state: 'ready', key_id });
    expect(await panel.problem(...importing('no key'))).toMatchObject({
      httpStatus: 422,
      code: 'invalid_request',
    });
    const rotated = await admin.json<RotatedMaster>(...rotate);

    const { entries } = await panel.json<AuditPage>('GET', '/api/account/audit-log');
    const ofKeys = entries
      .filter(({ event }) => event.startsWith('master_key'))
      .map((entry) => [entry.event, entry.key_id]);
    expect(ofKeys).toEqual([
      ['master_key.rotate', rotated.key_id],
      ['master_key.import', key_id],
      ['master_key.export', key_id],
    ]);
    expect(JSON.stringify(entries)).not.toContain(key.slice(0, 43));
  });
  expect(await world.serve((panel) => revealed(panel))).toBe(value);
});

test('a key of the environment is used as it is, and rotated once it is in another place', async () => {
  const key = randomBytes(32).toString('base64url');
  await using world = await daemonWorld({ TALLYSTICK_KEYCHAIN: 'off', SERVICE_SECRET_KEY: key });
  await world.serve(async (panel) => {
    await panel.json('POST', '/api/secrets/NAME', { value });
    expect(await statusOf(panel)).toMatchObject({ state: 'ready', source: 'environment', managed: false });
    expect((await exported(panel)).key.replace(/=$/, '')).toBe(key);
    expect(await panel.problem(...rotate)).toMatchObject({
      httpStatus: 409,
      code: 'master_key_not_managed',
      detail: expect.stringContaining('SERVICE_SECRET_KEY'),
    });
    // There is no keychain here that it could go to.
    expect(await panel.problem(...importing(key))).toMatchObject({ code: 'master_key_not_managed' });
  });
  writeFileSync(world.keyFile, key, { mode: 0o600 });
  await world.serve(
    async (panel) => {
      expect(await statusOf(panel)).toMatchObject({ state: 'ready', source: 'file', managed: true });
      await panel.json(...rotate);
      expect(await revealed(panel)).toBe(value);
    },
    { SERVICE_SECRET_KEY: undefined },
  );
  await world.serve(async (panel) => {
    const { state, detail } = await statusOf(panel);
    expect([state, detail]).toEqual(['missing', expect.stringContaining('SERVICE_SECRET_KEY has the key')]);
  });
});

test('a key file in a folder that the service may not write is used, and left as it is', async ({ skip }) => {
  if (process.geteuid?.() !== 0) {
    console.info('skipped: only root can start the service as another user');
    return skip('only root can start the service as another user');
  }
  await buildOnce();
  await using folder = await tempFolder();
  const nobody = 65_534;
  const [data, keys, key] = ['data', 'keys', 'keys/key'].map((name) => join(folder.path, name));
  if (data === undefined || keys === undefined || key === undefined) throw new Error('no paths');
  for (const path of [folder.path, data, keys]) {
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
  }
  const text = randomBytes(32).toString('base64url');
  writeFileSync(key, text, { mode: 0o600 });
  for (const path of [data, key]) chownSync(path, nobody, nobody);
  const env = { SERVICE_SECRET_KEY: undefined, TALLYSTICK_KEYCHAIN: 'off', HOME: data };
  await using daemon = await serveDaemon(data, { env, uid: nobody, args: ['--key-file', key] });
  expect(await statusOf(daemon.panel)).toMatchObject({ state: 'ready', source: 'file', managed: false });
  const refused = { httpStatus: 409, code: 'master_key_not_managed' };
  expect(await daemon.panel.problem(...rotate)).toMatchObject(refused);
  expect(await daemon.panel.problem(...importing(text))).toMatchObject(refused);
  expect(readFileSync(key, 'utf8')).toBe(text);
});

/** A data folder, a project and a key file, with a daemon whenever one is asked for. */
async function daemonWorld(environment: NodeJS.ProcessEnv) {
  await buildOnce();
  const folder = await tempFolder();
  const path = (name: string) => join(folder.path, name);
  mkdirSync(path('project'));
  const isInKeychain = environment.TALLYSTICK_KEYCHAIN === 'on';
  if (!isInKeychain)
    writeFileSync(path('key'), `${randomBytes(32).toString('base64url')}=\n`, { mode: 0o600 });
  const serve = async <T>(
    work: (panel: Client, url: string) => Promise<T>,
    more: NodeJS.ProcessEnv = {},
  ): Promise<T> => {
    await using daemon = await serveDaemon(path('data'), {
      env: { SERVICE_SECRET_KEY: undefined, ...environment, ...more },
      args: isInKeychain ? [] : ['--key-file', path('key')],
    });
    await daemon.panel.json('POST', '/api/project/load', { path: path('project') });
    return await work(daemon.panel, daemon.listening.url);
  };
  return { serve, keyFile: path('key'), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}
