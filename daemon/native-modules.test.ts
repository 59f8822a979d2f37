import { expect, test } from 'vitest';

test('the tests, as everything that npm runs, have Node 24', () => {
  expect(process.versions.node).toMatch(/^24\./);
});

test('node-pty was built for this Node and opens a terminal', async () => {
  const { spawn } = await import('node-pty');
  const terminal = spawn('sh', ['-c', 'test -t 0 && echo terminal; exit 3'], {});
  let output = '';
  terminal.onData((data) => {
    output += data;
  });
  const { exitCode } = await new Promise<{ exitCode: number }>((resolve) => terminal.onExit(resolve));
  expect(exitCode).toBe(3);
  expect(output).toContain('terminal');
});

test('the keychain binding loads', async () => {
  const { Entry } = await import('keytar');
  expect(typeof Entry).toBe('function');
});

test('ssh2 loads and makes a key, with its native ciphers or without', async () => {
  const { utils } = await import('ssh2');
  expect(utils.parseKey(utils.generateKeyPairSync('ed25519').private)).not.toBeInstanceOf(Error);
});
