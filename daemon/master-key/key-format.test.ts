import { expect, test } from 'vitest';
import { masterKeyId, masterKeyText, newMasterKey, readMasterKey } from './key-format.ts';

// python3-cryptography: HKDF(SHA256(), 8, salt=None, info=b'tallystick/master-key-id/v1').derive(key).hex()
test.each([
  ['AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=', 'mk_b0224dc4249a6cfd'],
  ['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'mk_013f29874b695789'],
])('the id of %s is what HKDF of another implementation makes of it', (text, keyId) => {
  expect(readMasterKey(text)?.keyId).toBe(keyId);
});

test('a key is read with or without padding, and with white space around', () => {
  const key = newMasterKey();
  const text = masterKeyText(key);
  expect(text).toMatch(/^[\w-]{43}=$/);
  for (const form of [text, text.slice(0, 43), `\n ${text}\r\n`]) expect(readMasterKey(form)).toEqual(key);
});

test.each([
  ['nothing', ''],
  ['31 bytes', Buffer.alloc(31).toString('base64url')],
  ['33 bytes', Buffer.alloc(33).toString('base64url')],
  ['unused bits that are set', `${'A'.repeat(42)}B`],
  ['two paddings', `${'A'.repeat(43)}==`],
  ['the other alphabet', `${'+'.repeat(42)}A=`],
  ['white space within', `${'A'.repeat(20)} ${'A'.repeat(23)}`],
  ['text', 'correct horse battery staple'],
])('%s is no key', (_, text) => {
  expect(readMasterKey(text)).toBeUndefined();
});

test('an id is made of 32 bytes only', () => {
  expect(() => masterKeyId(Buffer.alloc(31))).toThrow(RangeError);
});
