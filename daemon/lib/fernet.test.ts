import { createCipheriv, createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { InvalidTokenError, openToken, sealToken } from './fernet.ts';

/** Key, token and text of the vectors that the Fernet specification publishes. */
const secret = Buffer.from('cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=', 'base64url');
const helloToken =
  'gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA==';
const sealedAtMs = Date.parse('1985-10-26T01:20:00-07:00');

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('the published vectors', () => {
  test('generate: the token is made to the byte', () => {
    const iv = Uint8Array.from({ length: 16 }, (_, at) => at);
    expect(sealToken(secret, Buffer.from('hello'), { atMs: sealedAtMs, iv })).toBe(helloToken);
  });

  test('verify: the token is opened', () => {
    const nowMs = Date.parse('1985-10-26T01:20:01-07:00');
    expect(openToken(secret, helloToken, { ttlSeconds: 60, nowMs }).toString()).toBe('hello');
  });

  test.for([
    [
      'incorrect mac',
      'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAl1-szkFVzXTuGb4hR8AKtwcaX1YdykQUFBQUFBQUFBQQ==',
      '1985-10-26T01:20:01-07:00',
    ],
    ['too short', 'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPA==', '1985-10-26T01:20:01-07:00'],
    [
      'invalid base64',
      '%%%%%%%%%%%%%AECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAl1-szkFVzXTuGb4hR8AKtwcaX1YdykRtfsH-p1YsUD2Q==',
      '1985-10-26T01:20:01-07:00',
    ],
    [
      'payload size not multiple of block size',
      'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPOm73QeoCk9uGib28Xe5vz6oxq5nmxbx_v7mrfyudzUm',
      '1985-10-26T01:20:01-07:00',
    ],
    [
      'payload padding error',
      'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0ODz4LEpdELGQAad7aNEHbf-JkLPIpuiYRLQ3RtXatOYREu2FWke6CnJNYIbkuKNqOhw==',
      '1985-10-26T01:20:01-07:00',
    ],
    [
      'far-future TS (unacceptable clock skew)',
      'gAAAAAAdwStRAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAnja1xKYyhd-Y6mSkTOyTGJmw2Xc2a6kBd-iX9b_qXQcw==',
      '1985-10-26T01:20:01-07:00',
    ],
    [
      'expired TTL',
      'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAl1-szkFVzXTuGb4hR8AKtwcaX1YdykRtfsH-p1YsUD2Q==',
      '1985-10-26T01:21:31-07:00',
    ],
    [
      'incorrect IV (causes padding error)',
      'gAAAAAAdwJ6xBQECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAkLhFLHpGtDBRLRTZeUfWgHSv49TF2AUEZ1TIvcZjK1zQ==',
      '1985-10-26T01:20:01-07:00',
    ],
  ] as const)('invalid: %s', ([, token, now]) => {
    expect(() => openToken(secret, token, { ttlSeconds: 60, nowMs: Date.parse(now) })).toThrow(
      InvalidTokenError,
    );
  });
});

describe('a token', () => {
  test('comes back as what was sealed, for texts of 0 to 100 bytes and of a megabyte', () => {
    const key = randomBytes(32);
    const lengths = [...Array.from({ length: 101 }, (_, length) => length), 1_000_000];
    for (const length of lengths) {
      const text = randomBytes(length);
      const token = sealToken(key, text);
      expect(token).toMatch(/^gAAAA[\w-]+={0,2}$/);
      expect([length, token.length % 4, openToken(key, token).equals(text)]).toEqual([length, 0, true]);
    }
  });

  test('is another one each time', () => {
    const tokens = Array.from({ length: 100 }, () => sealToken(secret, Buffer.from('hello'), { atMs: 0 }));
    expect(new Set(tokens).size).toBe(100);
  });

  test('does not open with another key, whichever bit is another', () => {
    for (let bit = 0; bit < 256; bit += 1) {
      const other = Buffer.from(secret);
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      let opened: string | undefined;
      try {
        opened = openToken(other, helloToken).toString();
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidTokenError);
      }
      // The second half only encrypts: the signature can't tell, and by chance a padding may come out right.
      expect([bit, opened]).not.toEqual([bit, 'hello']);
      if (bit < 128) expect([bit, opened]).toEqual([bit, undefined]);
    }
  });

  test('does not open with any bit of it flipped, nor cut short, nor with anything added', () => {
    const bytes = Buffer.from(helloToken, 'base64url');
    const refused = new Set<string>();
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const mutated = Buffer.from(bytes);
      mutated[bit >> 3] = (mutated[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      refused.add(`${mutated.toString('base64url')}==`);
    }
    for (let bit = 0; bit < helloToken.length * 8; bit += 1) {
      const mutated = Buffer.from(helloToken);
      mutated[bit >> 3] = (mutated[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      refused.add(mutated.toString('latin1'));
    }
    for (let length = 0; length < helloToken.length; length += 1) refused.add(helloToken.slice(0, length));
    for (let length = 0; length < bytes.length; length += 1)
      refused.add(`${bytes.toString('base64url', 0, length)}${['', '==', '='][length % 3]}`);
    refused.add(helloToken + helloToken);
    for (const token of refused) expectRefused(token);
    process.stdout.write(`fernet: ${refused.size} mutated tokens, none opened\n`);
  });

  test('has one spelling: what a lenient decoder takes for the same bytes is refused', () => {
    const texts = ['hello', 'hello, world: 17+', 'h'.repeat(40)];
    const lenient = texts.flatMap((text) => otherSpellings(sealToken(secret, Buffer.from(text))));
    const decoded = (token: string) => Buffer.from(token, 'base64');
    const same = lenient.filter(({ of, token }) => decoded(token).equals(decoded(of)));
    for (const { token } of lenient) expectRefused(token);
    process.stdout.write(
      `fernet: ${lenient.length} other spellings, ${same.length} of the same bytes to Node; none opened\n`,
    );
    expect(same.length).toBeGreaterThan(100);
  });

  test('signed well, but of another version or too short for a block, is refused', () => {
    expect(openToken(secret, signed(0x80, Buffer.from('hello'))).toString()).toBe('hello');
    for (const version of [0, 0x7f, 0x81, 0xff]) expectRefused(signed(version, Buffer.from('hello')));
    expectRefused(signed(0x80, undefined));
  });

  test('has no age limit unless one is asked for', () => {
    expect(openToken(secret, helloToken, { nowMs: 0 }).toString()).toBe('hello');
    expect(openToken(secret, helloToken).toString()).toBe('hello');
  });

  test('is good to the second of its age limit, and from a minute of clock skew', () => {
    const open = (secondsLater: number) => () =>
      openToken(secret, helloToken, { ttlSeconds: 60, nowMs: sealedAtMs + secondsLater * 1000 });
    for (const seconds of [-60, 0, 60]) expect(open(seconds)().toString()).toBe('hello');
    for (const seconds of [-61, 61]) expect(open(seconds)).toThrow(InvalidTokenError);
  });

  test('gives one answer to all that is wrong with it', () => {
    const errors = ['', 'x', helloToken.slice(1), signed(0, Buffer.from('hello')), `${helloToken}\n`].map(
      thrown,
    );
    for (const error of errors) {
      expect(error).toBeInstanceOf(InvalidTokenError);
      expect([error?.message, error?.cause]).toEqual(['This is not a valid token of this key.', undefined]);
    }
  });
});

test('a key of another length is a mistake of the caller, not of the token', () => {
  for (const length of [0, 16, 31, 33]) {
    expect(() => sealToken(Buffer.alloc(length), Buffer.of(1))).toThrow(RangeError);
    expect(() => openToken(Buffer.alloc(length), helloToken)).toThrow(RangeError);
  }
});

/** Made by hand, so that version and content can be what `sealToken` never makes. */
function signed(version: number, text: Buffer | undefined): string {
  const head = Buffer.alloc(25);
  head[0] = version;
  const cipher = createCipheriv('aes-128-cbc', secret.subarray(16), head.subarray(9));
  const content = text === undefined ? Buffer.alloc(0) : Buffer.concat([cipher.update(text), cipher.final()]);
  const whole = Buffer.concat([head, content]);
  const mac = createHmac('sha256', secret.subarray(0, 16)).update(whole).digest();
  return Buffer.concat([whole, mac]).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}

function otherSpellings(token: string): { of: string; token: string }[] {
  const bare = token.replace(/=+$/, '');
  const variants = new Set([
    bare,
    `${bare}=`,
    `${bare}==`,
    `${bare}===`,
    `=${token}`,
    token.replaceAll('-', '+').replaceAll('_', '/'),
    token.replaceAll('-', '+'),
    token.replaceAll('_', '/'),
    ...[' ', '\n', '\r\n', '\t', '\0', '\ufeff', '\u00a0', '.', '%', '='].flatMap((odd) => [
      odd + token,
      token + odd,
      ...[1, 4, 50].map((at) => token.slice(0, at) + odd + token.slice(at)),
    ]),
  ]);
  // The last character carries unused bits where there is padding.
  for (const last of alphabet) variants.add(bare.slice(0, -1) + last + token.slice(bare.length));
  variants.delete(token);
  return [...variants].map((variant) => ({ of: token, token: variant }));
}

function expectRefused(token: string): void {
  expect([token, thrown(token)?.name]).toEqual([token, 'InvalidTokenError']);
}

function thrown(token: string): Error | undefined {
  try {
    openToken(secret, token);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
