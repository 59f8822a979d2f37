import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { keyringMissing, startKeyring } from '../../daemon/testing/keyring.ts';

const asker = join(import.meta.dirname, '../../daemon/lib/testing/ask-keychain.ts');

test('what a real keyring answers: no bus, no provider, never set up, locked, unlocked, restarted', {
  timeout: 120_000,
}, async ({ skip }) => {
  const missing = keyringMissing();
  if (missing !== undefined) {
    console.info(`skipped: ${missing}`);
    return skip(missing);
  }
  await using keyring = await startKeyring();
  const ask = async (env: NodeJS.ProcessEnv, ...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [asker, ...args], {
      env: { ...process.env, ...env },
    });
    return JSON.parse(stdout);
  };
  const here = (...args: string[]) => ask(keyring.environment, ...args);
  const fault = (name: string) => expect.objectContaining({ fault: name });
  expect(await ask(keyring.withoutBus, 'get', 'a')).toEqual(fault('unreachable'));
  expect(await here('get', 'a')).toEqual(fault('unreachable'));

  await keyring.startProvider();
  expect(await here('get', 'a')).toBeNull();
  expect(await here('set', 'a', 'one')).toEqual(fault('locked'));

  await keyring.unlock();
  expect(await here('get', 'a')).toBeNull();
  expect(await here('set', 'a', 'one')).toBeNull();
  expect(await here('get', 'a')).toBe('one');
  expect(await keyring.accounts()).toEqual(['a']);

  for (const lock of [
    () => keyring.lock(),
    async () => {
      await keyring.stopProvider();
      await keyring.startProvider();
    },
  ]) {
    await lock();
    for (const call of [
      ['get', 'a'],
      ['set', 'a', 'two'],
      ['remove', 'a'],
      ['set', 'b', 'two'],
    ])
      expect(await here(...call), call.join(' ')).toEqual(fault('locked'));
    // The trap: of what is not there, a locked keyring says so as an unlocked one does.
    expect(await here('get', 'b')).toBeNull();
    await keyring.unlock();
    expect(await here('get', 'a')).toBe('one');
    expect(await keyring.accounts()).toEqual(['a']);
  }
  expect(await here('remove', 'a')).toBeNull();
  expect(await here('remove', 'a')).toBeNull();
  expect(await keyring.accounts()).toEqual([]);
});
