import { expect, test } from 'vitest';
import type { PanelEvent } from '../contract/events.ts';
import { KeyId } from '../contract/ids.ts';
import type { Actor } from '../contract/receipts.ts';
import { newId } from '../lib/ids.ts';
import { masterKeyText, newMasterKey } from './key-format.ts';
import type { MasterKeysOptions } from './master-keys.ts';
import { Rotation } from './rotation.ts';
import { KeyWorld, ws } from './testing/key-world.ts';

const actor: Actor = { type: 'key', key_id: KeyId.parse(newId('key')) };
const code = (name: string) => expect.objectContaining({ code: name });

async function worldWithStores(count: number, options: Partial<MasterKeysOptions> = {}) {
  const world = new KeyWorld();
  const keys = world.keys(options);
  for (let n = 1; n <= count; n += 1) await world.seal(keys, ws(n));
  world.steps.length = 0;
  return world;
}

/** After a restart, every store can be opened with a key that is found. */
async function expectAllOpen(world: KeyWorld, at = '', options: Partial<MasterKeysOptions> = {}) {
  const ring = await world.keys(options).ring();
  const ids = ring?.opening.map(({ keyId }) => keyId) ?? [];
  for (const [wsId, keyId] of world.sealedWith) expect(ids, `${wsId} ${at}`).toContain(keyId);
}

test('all stores are sealed anew, and the old key is gone', async () => {
  const world = await worldWithStores(3);
  const old = world.record.key_id;
  const keys = world.keys();
  const { rotated, key_id, pending } = await world.rotation(keys).rotate(actor);
  expect([rotated, pending]).toEqual([3, []]);
  expect(key_id).not.toBe(old);
  expect(new Set(world.sealedWith.values())).toEqual(new Set([key_id]));
  expect(world.record).toEqual({ key_id, rotation: null, retired: [] });
  expect([...world.entries]).toEqual([['master-key', masterKeyText(await keys.exportKey())]]);
  expect((await world.keys().exportKey()).keyId).toBe(key_id);
  expect(world.audited).toEqual([`master_key.rotate ${key_id}`]);
  expect(world.notices).toEqual([]);
});

test('a failure at any step loses no store, and a rerun completes', async () => {
  const start = async () => {
    const world = await worldWithStores(3);
    world.unreachable.add(ws(2));
    return world;
  };
  const calm = await start();
  await calm.rotation(calm.keys()).rotate(actor);
  const { steps } = calm;
  expect(steps).toEqual(expect.arrayContaining(['set master-key-next', 'state', 'set master-key']));
  for (const persisted of [false, true])
    for (let step = 1; step <= steps.length; step += 1) {
      const world = await start();
      const at = `${step} ${steps[step - 1]} ${persisted}`;
      world.fault = { step, persisted };
      const keys = world.keys();
      const failure = await world
        .rotation(keys)
        .rotate(actor)
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      // What could not be removed is the one thing that a rotation does without.
      if (steps[step - 1] !== 'remove master-key-next') expect(failure, at).toBeInstanceOf(Error);
      world.fault = undefined;
      await expectAllOpen(world, at);
      // The process that failed goes on as well as one that starts anew.
      const rerun = step % 2 === 0 ? keys : world.keys();
      const wasComplete = failure === undefined ? world.record.key_id : null;
      const { key_id, pending } = await world.rotation(rerun).rotate(actor);
      expect(key_id, at).not.toBe(wasComplete);
      expect(pending, at).toEqual([{ ws_id: ws(2), slug: ws(2) }]);
      expect([world.sealedWith.get(ws(1)), world.sealedWith.get(ws(3))], at).toEqual([key_id, key_id]);
      expect(world.record, at).toMatchObject({ key_id, rotation: null });
      await expectAllOpen(world, at);
      world.unreachable.clear();
      const last = world.keys();
      for (const wsId of [ws(1), ws(2), ws(3)]) {
        await world.seal(last, wsId);
        await last.workspaceDone(wsId);
      }
      expect(world.record, at).toEqual({ key_id, rotation: null, retired: [] });
      expect([...world.entries.keys()], at).toEqual(['master-key']);
    }
  console.info(`failed ${2 * steps.length} times: ${steps.join(', ')}`);
});

test('a workspace that is away over two rotations keeps its key until it is back', async () => {
  const world = await worldWithStores(2);
  world.unreachable.add(ws(2));
  const first = world.sealedWith.get(ws(2));
  await world.rotation(world.keys()).rotate(actor);
  await expectAllOpen(world);
  await world.rotation(world.keys()).rotate(actor);
  await expectAllOpen(world);
  const keys = world.keys();
  const { retired } = await keys.status();
  expect(retired.map(({ key_id }) => key_id)).toContain(first);
  expect(retired[0]?.workspaces).toEqual([{ ws_id: ws(2), slug: 'slug-2' }]);
  expect(world.entries.has(`master-key-${first}`)).toBe(true);

  world.unreachable.clear();
  await world.seal(keys, ws(2));
  await keys.workspaceDone(ws(2));
  await keys.workspaceDone(ws(2));
  expect((await keys.status()).retired).toEqual([]);
  expect([...world.entries.keys()]).toEqual(['master-key']);
});

test('a key that was to be kept for a workspace is dropped where the rerun reaches it', async () => {
  const world = await worldWithStores(2);
  const old = `master-key-${world.record.key_id}`;
  world.unreachable.add(ws(2));
  const keys = world.keys();
  await keys.beginRotation();
  world.fault = { step: world.steps.length + 4, persisted: true };
  await expect(keys.finishRotation([ws(2)])).rejects.toThrow();
  expect([...world.entries.keys()]).toContain(old);
  world.fault = undefined;
  world.unreachable.clear();
  await world.rotation(world.keys()).rotate(actor);
  expect([...world.entries.keys()]).toEqual(['master-key']);
  await expectAllOpen(world);
});

test('a rotation that reaches a workspace again drops what was kept for it', async () => {
  const world = await worldWithStores(2);
  world.unreachable.add(ws(2));
  await world.rotation(world.keys()).rotate(actor);
  expect(world.record.retired).toHaveLength(1);
  world.unreachable.clear();
  await world.rotation(world.keys()).rotate(actor);
  expect(world.record.retired).toEqual([]);
  expect([...world.entries.keys()]).toEqual(['master-key']);
  await expectAllOpen(world);
});

test('an old key that is kept for a workspace and is gone is reported, the others work, and it can be imported', async () => {
  const world = await worldWithStores(2);
  world.unreachable.add(ws(2));
  const old = world.record.key_id;
  const oldKey = masterKeyText(await world.keys().exportKey());
  await world.rotation(world.keys()).rotate(actor);
  world.entries.delete(`master-key-${old}`);
  const keys = world.keys();
  expect((await keys.ring())?.opening.map(({ keyId }) => keyId)).toEqual([world.record.key_id]);
  await keys.ring();
  expect(world.notices).toEqual([expect.stringContaining(`${old}`)]);
  await keys.importKey(oldKey);
  await expectAllOpen(world);
  expect((await keys.ring())?.opening.map(({ keyId }) => keyId)).toEqual([world.record.key_id, old]);
});

test('two rotations at once: the second is refused, and progress is told', async () => {
  const world = await worldWithStores(2);
  const keys = world.keys();
  const events: PanelEvent[] = [];
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const rotation = new Rotation({
    keys,
    audit: { append: async () => undefined },
    publish: (event) => events.push(event),
    stores: {
      list: async () => [1, 2, 3].map((n) => ({ wsId: ws(n), slug: `slug-${n}` })),
      reseal: async (wsId) => {
        if (wsId === ws(2)) {
          reached.resolve();
          await held.promise;
        }
        return wsId === ws(3) ? 'none' : 'done';
      },
    },
  });
  const first = rotation.rotate(actor);
  await reached.promise;
  await expect(rotation.rotate(actor)).rejects.toEqual(code('rotation_in_progress'));
  expect((await keys.status()).rotation).toMatchObject({ done: 1, total: 3, running: true });
  held.resolve();
  expect(await first).toMatchObject({ rotated: 2, pending: [] });
  expect((await keys.status()).rotation).toBeNull();
  const progress = (done: number, ended = false) => ({ type: 'rotation.progress', done, total: 3, ended });
  expect(events).toEqual([
    ...[0, 1, 2, 3].map((done) => progress(done)),
    progress(3, true),
    { type: 'master-key.changed' },
  ]);
});

test('a rotation that was cut short shows in the status until it is finished', async () => {
  const world = await worldWithStores(1);
  const before = world.record.key_id;
  const { sealing } = await world.keys().beginRotation();
  const status = await world.keys().status();
  expect(status).toMatchObject({
    state: 'ready',
    key_id: sealing.keyId,
    rotation: { started_at: '2026-01-01T00:00:00.000Z', done: 0, total: 0, running: false },
  });
  expect(sealing.keyId).not.toBe(before);
  expect((await world.keys().beginRotation()).sealing).toEqual(sealing);
  await world.rotation(world.keys()).rotate(actor);
  expect((await world.keys().status()).rotation).toBeNull();
});

test('there is nothing to rotate before the first key, with a locked keychain, or with a key of the environment', async () => {
  const world = new KeyWorld();
  const refused = (options: Partial<MasterKeysOptions> = {}) =>
    world.rotation(world.keys(options)).rotate(actor);
  await expect(refused()).rejects.toEqual(code('conflict'));
  await expect(refused({ environmentKey: masterKeyText(newMasterKey()) })).rejects.toEqual(
    code('master_key_not_managed'),
  );
  await expect(refused({ keychain: undefined })).rejects.toEqual(code('master_key_unavailable'));
  await world.seal(world.keys(), ws(1));
  const before = [...world.entries];
  world.lock = 'rejects';
  await expect(refused()).rejects.toEqual(code('master_key_locked'));
  expect([...world.entries]).toEqual(before);
});

test('a state file that is lost in the midst of a rotation loses no key', async () => {
  const world = await worldWithStores(2);
  const keys = world.keys();
  await keys.beginRotation();
  await world.seal(keys, ws(1));
  world.record = { key_id: null, rotation: null, retired: [] };
  await expectAllOpen(world);
  const { key_id } = await world.rotation(world.keys()).rotate(actor);
  expect(new Set(world.sealedWith.values())).toEqual(new Set([key_id]));
  expect([...world.entries.keys()]).toEqual(['master-key']);
});

test('who asks while a rotation begins gets the key that seals from then on', async () => {
  const world = await worldWithStores(1);
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = world.keys({
    keychain: (account) => {
      const entry = world.keychainEntry(account);
      const get = async () => {
        const answer = await entry.get();
        asked.resolve();
        await held.promise;
        return answer;
      };
      return { ...entry, get };
    },
  });
  const ring = slow.ringForWriting();
  await asked.promise;
  const { sealing } = await world.keys().beginRotation();
  held.resolve();
  expect((await ring).sealing).toEqual(sealing);
});
