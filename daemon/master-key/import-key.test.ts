import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { masterKeyText, newMasterKey } from './key-format.ts';
import { KeyWorld, ws } from './testing/key-world.ts';

const code = (name: string) => expect.objectContaining({ code: name });

async function worldWithStore() {
  const world = new KeyWorld();
  await world.seal(world.keys(), ws(1));
  const exported = await world.keys().exportKey();
  return { world, exported };
}

test('a key that was exported is put back where the keychain has lost it', async () => {
  const { world, exported } = await worldWithStore();
  world.entries.clear();
  const keys = world.keys();
  expect((await keys.status()).state).toBe('missing');
  expect(await keys.importKey(` ${masterKeyText(exported)}\n`)).toEqual(exported);
  expect((await keys.status()).state).toBe('ready');
  expect((await keys.ring())?.sealing).toEqual(exported);
});

test('what is no key, or not the key of the stores, is refused and changes nothing', async () => {
  const { world, exported } = await worldWithStore();
  const other = newMasterKey();
  const before = [...world.entries];
  const keys = world.keys();
  await expect(keys.importKey('garbage')).rejects.toEqual(code('invalid_request'));
  await expect(keys.importKey(masterKeyText(other))).rejects.toMatchObject({
    code: 'master_key_mismatch',
    members: { key_id: other.keyId, expected: exported.keyId },
  });
  expect([...world.entries]).toEqual(before);
});

test('a key, or what else stood in its place, is kept beside the one that is imported', async () => {
  const { world, exported } = await worldWithStore();
  const other = newMasterKey();
  for (const [stood, account] of [
    [masterKeyText(other), `master-key-${other.keyId}`],
    ['garbage', 'master-key-set-aside'],
  ] as const) {
    world.entries.set('master-key', stood);
    const keys = world.keys();
    expect((await keys.status()).state).toBe('missing');
    await keys.importKey(masterKeyText(exported));
    expect(world.entries.get(account)).toBe(stood);
    expect((await keys.status()).state).toBe('ready');
  }
});

test('a key that another data folder has put in the place of ours is found under its id', async () => {
  const { world, exported } = await worldWithStore();
  const elsewhere = new KeyWorld();
  const theirs = elsewhere.keys({ keychain: (account) => world.keychainEntry(account) });
  await theirs.importKey(masterKeyText(newMasterKey()));
  expect(world.entries.get('master-key')).not.toBe(masterKeyText(exported));
  expect((await world.keys().ring())?.sealing).toEqual(exported);
});

test('from the environment a key goes into the keychain, so that it can be rotated there', async () => {
  const key = newMasterKey();
  const world = new KeyWorld();
  const environment = world.keys({ environmentKey: masterKeyText(key) });
  await world.seal(environment, ws(1));
  await environment.importKey(masterKeyText(await environment.exportKey()));
  const keys = world.keys();
  expect(await keys.status()).toMatchObject({ state: 'ready', source: 'keychain', key_id: key.keyId });
});

test('into a key file a key is written with mode 0600, and what was there is kept', async () => {
  await using folder = await tempFolder();
  const keyFile = join(folder.path, 'key');
  const { world, exported } = await worldWithStore();
  const other = newMasterKey();
  for (const stood of [masterKeyText(other), 'garbage']) {
    writeFileSync(keyFile, stood, { mode: 0o600 });
    const keys = world.keys({ keyFile });
    await keys.importKey(masterKeyText(exported));
    expect(readFileSync(keyFile, 'utf8')).toBe(`${masterKeyText(exported)}\n`);
    expect((await keys.status()).state).toBe('ready');
  }
  expect(readdirSync(folder.path).sort()).toEqual(['key', `key.${other.keyId}`, 'key.set-aside']);
});

test('a failure at any step of an import loses no key, and the next one makes it good', async () => {
  const start = async () => {
    const { world, exported } = await worldWithStore();
    const other = newMasterKey();
    world.entries.set('master-key', masterKeyText(other));
    world.steps.length = 0;
    return { world, exported, other };
  };
  const calm = await start();
  await calm.world.keys().importKey(masterKeyText(calm.exported));
  const { steps } = calm.world;
  for (const persisted of [false, true])
    for (let step = 1; step <= steps.length; step += 1) {
      const { world, exported, other } = await start();
      world.fault = { step, persisted };
      const at = `${steps[step - 1]} ${persisted}`;
      await expect(world.keys().importKey(masterKeyText(exported)), at).rejects.toThrow();
      expect([...world.entries.values()], at).toContain(masterKeyText(other));
      world.fault = undefined;
      const keys = world.keys();
      await keys.importKey(masterKeyText(exported));
      expect((await keys.ring())?.sealing).toEqual(exported);
      expect([...world.entries.values()], at).toContain(masterKeyText(other));
    }
});
