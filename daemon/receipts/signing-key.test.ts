import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { boundedKeychain, type Keychain } from '../lib/keychain.ts';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { verifierKeyOf } from './checkpoint-note.ts';
import { openSigningKey } from './signing-key.ts';

interface FakeKeychain extends Keychain {
  stored: string | null;
}

function fakeKeychain(overrides: Partial<Keychain> = {}): FakeKeychain {
  const keychain: FakeKeychain = {
    stored: null,
    get: async () => keychain.stored,
    set: async (secret) => {
      keychain.stored = secret;
    },
    remove: async () => {
      keychain.stored = null;
    },
    ...overrides,
  };
  return keychain;
}

const locked = () => Promise.reject(new Error('the keyring is locked'));

async function fixture() {
  const temp = await tempFolder();
  const notices: string[] = [];
  const pem = join(temp.path, 'checkpoint-key.pem');
  const open = (keychain: Keychain | undefined, known: string | null) =>
    openSigningKey({
      dataDir: temp.path,
      known,
      onNotice: (message) => notices.push(message),
      ...(keychain === undefined ? {} : { keychain }),
    });
  return { pem, notices, open, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

const pemOf = () =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

test('the first key is made in the keychain and found there again; nothing of it is on disk', async () => {
  await using files = await fixture();
  const keychain = fakeKeychain();
  const made = await files.open(keychain, null);
  expect(made.source).toBe('keychain');
  expect(made.verifierKey).toMatch(/^tallystick\+[0-9a-f]{8}\+/);
  for (const known of [made.verifierKey, null])
    expect(await files.open(keychain, known)).toMatchObject({
      source: 'keychain',
      verifierKey: made.verifierKey,
    });
  expect(existsSync(files.pem)).toBe(false);
  expect(files.notices).toEqual([]);
});

test.each<[string, Partial<Keychain>]>([
  ['can not be reached', { get: locked, set: locked }],
  ['takes nothing', { set: locked }],
  ['forgets what it was given', { get: async () => null }],
  ['can not be read', { get: locked }],
])(
  'where the keychain %s, the first key is made in a file of mode 0600, and said so',
  async (_, overrides) => {
    await using files = await fixture();
    const keychain = fakeKeychain(overrides);
    const made = await files.open(keychain, null);
    expect(made.source).toBe('file');
    expect(statSync(files.pem).mode & 0o777).toBe(0o600);
    expect(files.notices.join()).toContain(files.pem);
    expect(await files.open(keychain, made.verifierKey)).toMatchObject({
      source: 'file',
      verifierKey: made.verifierKey,
    });
    if (made.signer === null) throw new Error('there is no signer');
    const text = Buffer.from('text');
    const again = (await files.open(keychain, made.verifierKey)).signer;
    if (again === null) throw new Error('there is no signer the second time');
    expect(sign(null, text, again)).toEqual(sign(null, text, made.signer));
  },
);

test.each<[string, Partial<Keychain>, string]>([
  ['is locked', { get: locked }, 'locked'],
  ['has lost it', {}, 'removed from the keychain'],
  ['holds another one', { get: async () => pemOf() }, 'another key'],
  ['holds garbage', { get: async () => 'garbage' }, 'The keychain says'],
])('a key that was known is never made anew: the keychain %s', async (_, overrides, reason) => {
  await using files = await fixture();
  const known = verifierKeyOf(generateKeyPairSync('ed25519').publicKey);
  const keychain = fakeKeychain(overrides);
  expect(await files.open(keychain, known)).toEqual({
    signer: null,
    verifierKey: known,
    source: 'unavailable',
  });
  expect(keychain.stored).toBeNull();
  expect(existsSync(files.pem)).toBe(false);
  expect(files.notices.join()).toContain(reason);
});

test('without a keychain the key is in the file, and only there', async () => {
  await using files = await fixture();
  const made = await files.open(undefined, null);
  expect(await files.open(undefined, made.verifierKey)).toMatchObject({
    source: 'file',
    verifierKey: made.verifierKey,
  });
  rmSync(files.pem);
  expect(await files.open(undefined, made.verifierKey)).toMatchObject({
    signer: null,
    source: 'unavailable',
  });
  expect(existsSync(files.pem)).toBe(false);
});

test('a key file that is no key is left alone', async () => {
  await using files = await fixture();
  writeFileSync(files.pem, 'garbage');
  const keychain = fakeKeychain();
  expect((await files.open(keychain, null)).source).toBe('unavailable');
  expect(readFileSync(files.pem, 'utf8')).toBe('garbage');
  expect(keychain.stored).toBeNull();
});

test('with the right key in the file the keychain is not asked', async () => {
  await using files = await fixture();
  const pem = pemOf();
  writeFileSync(files.pem, pem, { mode: 0o600 });
  let asked = 0;
  const keychain = fakeKeychain({
    get: async () => {
      asked += 1;
      return null;
    },
  });
  const found = await files.open(keychain, null);
  expect([found.source, asked]).toEqual(['file', 0]);
});

test('of two keys, the one that is known is taken', async () => {
  await using files = await fixture();
  const keychain = fakeKeychain();
  const made = await files.open(keychain, null);
  writeFileSync(files.pem, pemOf());
  expect(await files.open(keychain, made.verifierKey)).toMatchObject({
    source: 'keychain',
    verifierKey: made.verifierKey,
  });
});

test('a keychain that does not answer counts as one that can not be reached', async () => {
  await using files = await fixture();
  const silent = new Promise<never>(() => undefined);
  const keychain = boundedKeychain({ get: () => silent, set: () => silent, remove: () => silent }, 20);
  const made = await files.open(keychain, null);
  expect(made.source).toBe('file');
});

test('the key signs what the verifier key checks, as openssl sees them too', async () => {
  await using files = await fixture();
  const made = await files.open(fakeKeychain({ get: locked }), null);
  if (made.signer === null) throw new Error('there is no signer');
  const { execFileSync } = await import('node:child_process');
  const publicPem = execFileSync('openssl', ['pkey', '-in', files.pem, '-pubout'], { encoding: 'utf8' });
  const text = Buffer.from('tallystick');
  expect(verify(null, text, publicPem, sign(null, text, made.signer))).toBe(true);
  const raw = execFileSync('openssl', ['pkey', '-in', files.pem, '-pubout', '-outform', 'DER']).subarray(-32);
  const encoded = made.verifierKey?.split('+').slice(2).join('+') ?? '';
  expect(Buffer.from(encoded, 'base64').subarray(1)).toEqual(raw);
});
