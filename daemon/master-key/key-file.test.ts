import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KeyId } from '../contract/ids.ts';
import type { Actor } from '../contract/receipts.ts';
import { newId } from '../lib/ids.ts';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { masterKeyText, newMasterKey } from './key-format.ts';
import { KeyWorld, ws } from './testing/key-world.ts';

const actor: Actor = { type: 'key', key_id: KeyId.parse(newId('key')) };

test.each<[string, (path: string) => void, string]>([
  ['can be read by its group', (path) => chmodSync(path, 0o640), 'Set its mode to 600'],
  ['can be read by others', (path) => chmodSync(path, 0o604), 'Set its mode to 600'],
  ['holds no key', (path) => writeFileSync(path, 'garbage'), 'not a master key'],
  ['is too large', (path) => writeFileSync(path, 'A'.repeat(4097)), 'too large'],
])('a key file that %s is refused, and no other source takes its place', async (_, spoil, detail) => {
  await using folder = await tempFolder();
  const keyFile = join(folder.path, 'key');
  writeFileSync(keyFile, masterKeyText(newMasterKey()), { mode: 0o600 });
  spoil(keyFile);
  const before = readFileSync(keyFile);
  const world = new KeyWorld();
  const keys = world.keys({ keyFile, keyFileMayBeMissing: true });
  expect(await keys.status()).toMatchObject({ state: 'missing', source: 'file' });
  await expect(keys.ringForWriting()).rejects.toThrow(detail);
  expect(readFileSync(keyFile)).toEqual(before);
  expect(world.steps).toEqual([]);
});

test('a key file that is a folder, or another user’s, is refused; a link to a proper one is followed', async ({
  skip,
}) => {
  await using folder = await tempFolder();
  const world = new KeyWorld();
  const path = (name: string) => join(folder.path, name);
  mkdirSync(path('folder'));
  await expect(world.keys({ keyFile: path('folder') }).ringForWriting()).rejects.toThrow(
    'not a regular file',
  );
  const key = newMasterKey();
  writeFileSync(path('own'), masterKeyText(key), { mode: 0o600 });
  symlinkSync('own', path('link'));
  expect((await world.keys({ keyFile: path('link') }).ringForWriting()).sealing).toEqual(key);
  if (process.geteuid?.() !== 0) return skip('only root can give a file to another user');
  chownSync(path('own'), 12345, 12345);
  world.record = { ...world.record, key_id: null };
  await expect(world.keys({ keyFile: path('own') }).ringForWriting()).rejects.toThrow(
    'belongs to another user',
  );
});

test('a key file that was named and is not there is not made, and the keychain not asked', async () => {
  await using folder = await tempFolder();
  const world = new KeyWorld();
  const keyFile = join(folder.path, 'key');
  const keys = world.keys({ keyFile, keyFileMayBeMissing: false });
  expect(await keys.status()).toMatchObject({ state: 'missing', source: 'file' });
  await expect(keys.ringForWriting()).rejects.toThrow('is not there');
  expect(world.steps).toEqual([]);
  const key = newMasterKey();
  await keys.importKey(masterKeyText(key));
  expect(readFileSync(keyFile, 'utf8')).toBe(`${masterKeyText(key)}\n`);
  expect((await keys.ringForWriting()).sealing).toEqual(key);
});

test('a key file is exchanged whole, and keeps its old keys beside it where they are needed', async () => {
  await using folder = await tempFolder();
  const keyFile = join(folder.path, 'secret_key');
  const old = newMasterKey();
  writeFileSync(keyFile, masterKeyText(old), { mode: 0o600 });
  const options = { keyFile, keychain: undefined };
  const world = new KeyWorld();
  for (const wsId of [ws(1), ws(2)]) await world.seal(world.keys(options), wsId);
  world.unreachable.add(ws(2));
  const { key_id } = await world.rotation(world.keys(options)).rotate(actor);
  expect(readdirSync(folder.path).sort()).toEqual(['secret_key', `secret_key.${old.keyId}`]);
  expect(readFileSync(keyFile, 'utf8')).not.toContain(masterKeyText(old));
  const ids = (await world.keys(options).ring())?.opening.map(({ keyId }) => keyId);
  expect(ids).toEqual([key_id, old.keyId]);
  world.unreachable.clear();
  const second = await world.rotation(world.keys(options)).rotate(actor);
  expect(second.key_id).not.toBe(key_id);
  const keys = world.keys(options);
  await keys.workspaceDone(ws(2));
  expect(readdirSync(folder.path)).toEqual(['secret_key']);
  expect((await keys.ring())?.opening.map(({ keyId }) => keyId)).toEqual([second.key_id]);
});

test('a key that a crash left in a temporary file is removed with the next rotation, and nothing of others', async () => {
  await using folder = await tempFolder();
  const keyFile = join(folder.path, 'secret_key');
  writeFileSync(keyFile, masterKeyText(newMasterKey()), { mode: 0o600 });
  const temp = (digit: string) => `.durable-${digit.repeat(32)}.tmp`;
  writeFileSync(join(folder.path, temp('0')), `${masterKeyText(newMasterKey())}\n`);
  const others = [temp('1'), temp('2'), 'key-of-others'];
  for (const name of others)
    writeFileSync(join(folder.path, name), name === temp('2') ? '' : '{"version":1}');
  writeFileSync(join(folder.path, 'key-of-others'), masterKeyText(newMasterKey()));
  const options = { keyFile, keychain: undefined };
  const world = new KeyWorld();
  await world.seal(world.keys(options), ws(1));
  await world.rotation(world.keys(options)).rotate(actor);
  expect(readdirSync(folder.path).sort()).toEqual([...others, 'secret_key'].sort());
  expect(world.notices).toEqual([]);
});
