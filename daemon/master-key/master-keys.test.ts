import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { masterKeyText, newMasterKey } from './key-format.ts';
import { KeyWorld, type Lock, ws } from './testing/key-world.ts';

const code = (name: string) => expect.objectContaining({ code: name });

test('the first key is made where a store is to be sealed, and nowhere before', async () => {
  const world = new KeyWorld();
  const keys = world.keys();
  expect(await keys.status()).toEqual({
    state: 'ready',
    source: 'keychain',
    key_id: null,
    detail: null,
    managed: true,
    rotation: null,
    retired: [],
  });
  expect(await keys.ring()).toBeNull();
  await expect(keys.exportKey()).rejects.toEqual(code('conflict'));
  expect([...world.entries]).toEqual([]);

  const made: string[] = [];
  const { sealing, opening } = await keys.ringForWriting(async (keyId) => made.push(keyId));
  expect([...world.entries]).toEqual([['master-key', masterKeyText(sealing)]]);
  expect(opening).toEqual([sealing]);
  expect(made).toEqual([sealing.keyId]);
  expect(world.record.key_id).toBe(sealing.keyId);
  for (const again of [keys, world.keys()]) {
    expect(await again.ring()).toEqual({ sealing, opening });
    expect(await again.ringForWriting(() => Promise.reject(new Error('made twice')))).toEqual({
      sealing,
      opening,
    });
    expect(await again.status()).toMatchObject({ state: 'ready', key_id: sealing.keyId, detail: null });
    expect(await again.exportKey()).toEqual(sealing);
  }
});

test('many first stores at once make one key', async () => {
  const world = new KeyWorld();
  const keys = world.keys();
  const rings = await Promise.all(Array.from({ length: 20 }, () => keys.ringForWriting()));
  expect(new Set(rings.map(({ sealing }) => sealing.keyId)).size).toBe(1);
  expect(world.steps.filter((step) => step === 'set master-key')).toHaveLength(1);
});

test('many who ask for the state while the first key is made do not disturb it, nor each other', async () => {
  const world = new KeyWorld();
  const keys = world.keys();
  const states = Array.from({ length: 20 }, async () => (await keys.status()).state);
  const rings = Array.from({ length: 5 }, () => keys.ringForWriting());
  expect(new Set(await Promise.all(states))).toEqual(new Set(['ready']));
  await Promise.all(rings);
  expect([...world.entries.keys()]).toEqual(['master-key']);
});

const locks: readonly Lock[] = ['rejects', 'hides', 'silent'];

test.each(locks)(
  'a keychain whose lock %s takes no key on the first run: unlocking is enough',
  async (lock) => {
    const world = new KeyWorld();
    world.lock = lock;
    const keys = world.keys();
    expect(await keys.status()).toMatchObject({ state: 'locked', source: 'keychain', key_id: null });
    await expect(keys.ringForWriting()).rejects.toEqual(code('master_key_locked'));
    expect([...world.entries]).toEqual([]);
    expect(world.record.key_id).toBeNull();
    world.lock = 'open';
    expect(await keys.status()).toMatchObject({ state: 'ready', detail: null });
    await keys.ringForWriting();
    expect(world.entries.size).toBe(1);
  },
);

test.each(locks)(
  'a keychain whose lock %s keeps the key that is in it: unlocking is enough',
  async (lock) => {
    const world = new KeyWorld();
    await world.seal(world.keys(), ws(1));
    const before = [...world.entries];
    world.lock = lock;
    const keys = world.keys();
    for (const call of [() => keys.ring(), () => keys.ringForWriting(), () => keys.exportKey()])
      await expect(call()).rejects.toEqual(code('master_key_locked'));
    expect((await keys.status()).state).toBe('locked');
    world.lock = 'open';
    expect((await keys.ring())?.sealing.keyId).toBe(world.record.key_id);
    expect([...world.entries]).toEqual(before);
  },
);

test('a keychain that hides a key, and is unlocked by the write, keeps it', async () => {
  const world = new KeyWorld();
  const old = newMasterKey();
  world.entries.set('master-key', masterKeyText(old));
  world.lock = 'hides';
  const keys = world.keys({
    keychain: (account) => {
      const entry = world.keychainEntry(account);
      return {
        ...entry,
        set: (secret) => {
          world.lock = 'open';
          return entry.set(secret);
        },
      };
    },
  });
  expect((await keys.ringForWriting()).sealing).toEqual(old);
  expect([...world.entries]).toEqual([['master-key', masterKeyText(old)]]);
});

test('where there are stores and no key, none is made, and it is said how to put it back', async () => {
  for (const checkValue of [true, false]) {
    const world = new KeyWorld();
    await world.seal(world.keys(), ws(1));
    world.entries.clear();
    if (!checkValue) world.record = { ...world.record, key_id: null };
    const keys = world.keys();
    const { state, detail } = await keys.status();
    expect([state, detail]).toEqual(['missing', expect.stringContaining('Import the exported key')]);
    await expect(keys.ring()).rejects.toEqual(code('master_key_unavailable'));
    await expect(keys.ringForWriting()).rejects.toEqual(code('master_key_unavailable'));
    expect([...world.entries]).toEqual([]);
  }
});

test('another key than that of the stores is not used; both are named', async () => {
  const world = new KeyWorld();
  await world.seal(world.keys(), ws(1));
  const other = newMasterKey();
  world.entries.set('master-key', masterKeyText(other));
  const keys = world.keys();
  const { state, detail, key_id } = await keys.status();
  expect([state, key_id]).toEqual(['missing', world.record.key_id]);
  expect(detail).toContain(other.keyId);
  expect(detail).toContain(world.record.key_id);
  await expect(keys.ring()).rejects.toEqual(code('master_key_unavailable'));
  await expect(keys.ringForWriting()).rejects.toEqual(code('master_key_unavailable'));
});

test('without a keychain and a key, all calls say what to do', async () => {
  const world = new KeyWorld();
  const keys = world.keys({ keychain: undefined });
  expect(await keys.status()).toMatchObject({ state: 'missing', source: null, managed: false });
  expect(await keys.ring()).toBeNull();
  await expect(keys.ringForWriting()).rejects.toThrow('SERVICE_SECRET_KEY');
  await expect(keys.importKey(masterKeyText(newMasterKey()))).rejects.toEqual(code('master_key_not_managed'));
});

test('the environment comes before the file, the file before the keychain', async () => {
  await using folder = await tempFolder();
  const [inEnvironment, inFile, inKeychain] = [newMasterKey(), newMasterKey(), newMasterKey()];
  const keyFile = join(folder.path, 'key');
  writeFileSync(keyFile, masterKeyText(inFile), { mode: 0o600 });
  const world = new KeyWorld();
  world.entries.set('master-key', masterKeyText(inKeychain));
  const environmentKey = masterKeyText(inEnvironment);
  const sources = [
    [world.keys({ environmentKey, keyFile }), inEnvironment, 'environment', false],
    [world.keys({ keyFile }), inFile, 'file', true],
    [world.keys(), inKeychain, 'keychain', true],
  ] as const;
  for (const [keys, key, source, managed] of sources) {
    world.record = { ...world.record, key_id: null };
    expect((await keys.ringForWriting()).sealing).toEqual(key);
    expect(await keys.status()).toMatchObject({ state: 'ready', source, managed, key_id: key.keyId });
  }
});

test.each(['', 'garbage', Buffer.alloc(31).toString('base64url')])(
  'SERVICE_SECRET_KEY=%j is a fault, and no other source takes its place',
  async (environmentKey) => {
    const world = new KeyWorld();
    const keys = world.keys({ environmentKey });
    expect(await keys.status()).toMatchObject({ state: 'missing', source: 'environment', managed: false });
    await expect(keys.ringForWriting()).rejects.toThrow('SERVICE_SECRET_KEY is set, but is not a master key');
    expect(world.steps).toEqual([]);
  },
);

test('a failure at any step of making the first key leaves one key or none, and the next call makes it good', async () => {
  const calm = new KeyWorld();
  await calm.keys().ringForWriting();
  const steps = calm.steps.length;
  expect(calm.steps).toContain('set master-key');
  for (const persisted of [false, true])
    for (let step = 1; step <= steps; step += 1) {
      const world = new KeyWorld();
      world.fault = { step, persisted };
      const at = `${calm.steps[step - 1]} ${persisted}`;
      await expect(world.keys().ringForWriting(), at).rejects.toThrow();
      const kept = world.entries.get('master-key');
      world.fault = undefined;
      const { sealing } = await world.keys().ringForWriting();
      if (kept !== undefined) expect(masterKeyText(sealing), at).toBe(kept);
      expect(world.record.key_id).toBe(sealing.keyId);
      expect([...world.entries], at).toEqual([['master-key', masterKeyText(sealing)]]);
    }
});

test('a key that the keychain does not keep is not used', async () => {
  const world = new KeyWorld();
  const forgetful = (account: string) => ({ ...world.keychainEntry(account), set: async () => undefined });
  await expect(world.keys({ keychain: forgetful }).ringForWriting()).rejects.toEqual(
    code('master_key_unavailable'),
  );
  const other = masterKeyText(newMasterKey());
  const exchanged = (account: string) => ({
    ...world.keychainEntry(account),
    set: (secret: string) => world.keychainEntry(account).set(account === 'master-key' ? other : secret),
  });
  await expect(world.keys({ keychain: exchanged }).ringForWriting()).rejects.toEqual(
    code('master_key_unavailable'),
  );
  expect(world.record.key_id).toBeNull();
});
