import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { formatCheckpoint, parseCheckpoint, verifierKeyOf, verifyCheckpoint } from './checkpoint-note.ts';

const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const checkpoint = {
  wsId: 'ws_0123456789abcdef',
  count: 42,
  head: sha256('head'),
  indexHash: sha256('index'),
};
// Key (the seed is the bytes 0 to 31), note and verifier key were made with openssl and Python's hashlib.
const seed = Buffer.from(Array.from({ length: 32 }, (_, byte) => byte));
const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
const signer = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
const key = 'tallystick+307dbae8+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4';
const note = `tallystick/ws_0123456789abcdef
42
ny5tM6NxfugmNTpAS6RhjRrutoea15Nrzo7V9GgUkk0=
index sha256:1bc04b5291c26a46d918139138b992d2de976d6851d0893b0476b85bfbdfc6e6

— tallystick MH266PKtozDoigsr3/ByFpS7K6csrb29IvF+Bj2IqJRFvXYyLPX6sz3Ppf2phRC9bXF0g2EqUiWHuVAlVnoYgfmk5Ak=
`;

describe('a checkpoint', () => {
  test('is the note that openssl signs', () => {
    expect(formatCheckpoint(checkpoint, signer)).toBe(note);
    expect(verifierKeyOf(signer)).toBe(key);
    expect(verifierKeyOf(createPublicKey(signer))).toBe(key);
  });

  test('says again what it was made of', () => {
    expect(parseCheckpoint(note)).toMatchObject({ ...checkpoint, signatures: [{ name: 'tallystick' }] });
    expect(parseCheckpoint(formatCheckpoint({ ...checkpoint, count: 0 }, null))).toMatchObject({
      count: 0,
      signatures: [],
    });
  });

  test('is verified by its key, and by no other', () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    expect(verifyCheckpoint(note, key)).toBe('verified');
    expect(verifyCheckpoint(note, verifierKeyOf(other))).toBe('missing');
    expect(verifyCheckpoint(formatCheckpoint(checkpoint, other), key)).toBe('missing');
    expect(verifyCheckpoint(formatCheckpoint(checkpoint, null), key)).toBe('missing');
  });

  test('may bear signatures of others beside', () => {
    const [text, signature] = note.split('\n\n');
    const witness = '— witness.example/w MTIzNDU2Nzg=\n';
    expect(verifyCheckpoint(`${text}\n\n${witness}${signature}${witness}`, key)).toBe('verified');
  });

  test('is not verified after any bit of it was flipped', () => {
    const bytes = Buffer.from(note);
    for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect([bit, verifyCheckpoint(flipped.toString(), key)]).not.toEqual([bit, 'verified']);
    }
  });

  test.for([
    ['a line feed less', note.slice(0, -1)],
    ['a line more', `${note}\n`],
    ['white space', note.replace('\n42\n', '\n 42\n')],
    ['a leading zero', note.replace('\n42\n', '\n042\n')],
    ['CR LF', note.replaceAll('\n', '\r\n')],
    ['another origin', note.replace('tallystick/', 'other/')],
    ['unused bits in the head', note.replace('Ukk0=', 'Ukk1=')],
    ['no padding', note.replace('Ukk0=', 'Ukk0')],
    ['a hash in capitals', note.replace('sha256:1bc04b', 'sha256:1BC04B')],
    ['a signature that is too short', note.replace(/tallystick MH.*/, 'tallystick MH26')],
    ['nothing', ''],
  ] as const)('is none with %s', ([, text]) => {
    expect(parseCheckpoint(text)).toBeUndefined();
    expect(verifyCheckpoint(text, key)).toBe('invalid');
  });
});

describe('a verifier key', () => {
  test.for([
    ['', 'verifier key of the form'],
    ['tallystick', 'verifier key of the form'],
    [key.replace('tallystick', 'other'), 'verifier key of the form'],
    [key.replace('+AQ', '+Ag'), 'verifier key of the form'],
    [`${key}AA`, 'verifier key of the form'],
    [key.replace('307dbae8', '307dbae9'), 'mistyped'],
    [key.replace('VTG4', 'VTG5'), 'mistyped'],
  ] as const)('is refused as %s', ([text, reason]) => {
    expect(() => verifyCheckpoint(note, text)).toThrow(reason);
  });

  test('is made of Ed25519 keys only', () => {
    expect(() => verifierKeyOf(generateKeyPairSync('x25519').publicKey)).toThrow('not an Ed25519 key');
  });
});
