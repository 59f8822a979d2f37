import { expect, test } from 'vitest';
import { boundedKeychain, type Keychain, KeychainError, proveUnlocked } from './keychain.ts';

const silent = () => new Promise<never>(() => undefined);
const fault = (name: string) => expect.objectContaining({ fault: name });

function memoryKeychain(): Keychain & { stored: string | null } {
  const keychain = {
    stored: null as string | null,
    get: async () => keychain.stored,
    set: async (secret: string) => {
      keychain.stored = secret;
    },
    remove: async () => {
      keychain.stored = null;
    },
  };
  return keychain;
}

test('a keychain that does not answer is silent, and is not asked again while it is at it', async () => {
  const answer = Promise.withResolvers<void>();
  const asked: string[] = [];
  const keychain = boundedKeychain(
    {
      get: async () => {
        asked.push('get');
        return null;
      },
      set: async (secret) => {
        asked.push(secret);
        await answer.promise;
      },
      remove: silent,
    },
    30,
  );
  await expect(keychain.set('first')).rejects.toEqual(fault('silent'));
  await expect(keychain.set('second')).rejects.toEqual(fault('silent'));
  await expect(keychain.get()).rejects.toEqual(fault('silent'));
  expect(asked).toEqual(['first']);
  // Once its dialog is answered, what nobody waits for any more is left out.
  const next = keychain.get();
  answer.resolve();
  expect(await next).toBeNull();
  expect(asked).toEqual(['first', 'get']);
});

test('a failure of one call is its caller’s alone', async () => {
  const keychain = memoryKeychain();
  const bounded = boundedKeychain({
    ...keychain,
    set: () => Promise.reject(new KeychainError('locked', 'it is locked')),
  });
  const [set, get] = await Promise.allSettled([bounded.set('value'), bounded.get()]);
  expect(set).toMatchObject({ status: 'rejected', reason: { fault: 'locked' } });
  expect(get).toEqual({ status: 'fulfilled', value: null });
});

test('a keychain is unlocked that takes, keeps and gives up a value', async () => {
  const keychain = memoryKeychain();
  await proveUnlocked(keychain, 'probe');
  expect(keychain.stored).toBeNull();
  await expect(proveUnlocked({ ...keychain, set: async () => undefined }, 'probe')).rejects.toEqual(
    fault('unreachable'),
  );
  const locked = () => Promise.reject(new KeychainError('locked', 'it is locked'));
  await expect(proveUnlocked({ ...keychain, set: locked }, 'probe')).rejects.toEqual(fault('locked'));
});
