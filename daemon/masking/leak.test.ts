import { describe, expect, it } from 'vitest';
import { PatternSet } from './pattern-set.ts';
import { formsOf } from './secret-forms.ts';
import { StreamMasker } from './stream-masker.ts';
import { seededRandom } from './testing/seeded-random.ts';

const deep = process.env.TALLYSTICK_DEEP === '1';
const random = seededRandom(2026);

// The control character is in no secret, so that nothing of the text around a form can be a part of one.
const before = Buffer.from('the output says: \u0002');
const after = Buffer.from('\u0002, and goes on\n');
const expected = Buffer.concat([before, Buffer.from('***'), after]);

const printable = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at));
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];
const secrets = Array.from({ length: 200 }, (_, at) => randomSecret(at));
const patterns = PatternSet.of(secrets.flatMap(formsOf));

describe('200 random secrets, all masked at once', () => {
  it('are found in no output, in any form, whichever two chunks the stream is cut into, or byte by byte', () => {
    let forms = 0;
    let streams = 0;
    const leaks: string[] = [];
    for (const secret of secrets) {
      for (const form of formsOf(secret)) {
        forms += 1;
        const text = Buffer.concat([before, form, after]);
        for (let cut = 0; cut <= text.length; cut += 1) {
          streams += 1;
          const output = masked([text.subarray(0, cut), text.subarray(cut)]);
          if (!output.equals(expected))
            leaks.push(`${JSON.stringify(secret)} as ${form} cut at ${cut}: ${output}`);
        }
        streams += 1;
        const output = masked(Array.from(text, (_, at) => text.subarray(at, at + 1)));
        if (!output.equals(expected))
          leaks.push(`${JSON.stringify(secret)} as ${form} byte by byte: ${output}`);
      }
    }
    console.log(`${secrets.length} secrets, ${forms} forms, ${streams} streams: ${leaks.length} leaks`);
    expect(leaks.slice(0, 5)).toEqual([]);
  });
});

describe('long secrets', () => {
  it('are found in no output of theirs, raw or encoded as a whole, whichever two chunks it is cut into', () => {
    const long = [randomText(3000, printable), randomText(3000, [...printable, 'é', '進', '😀']), lines(40)];
    const set = PatternSet.of(long.flatMap(formsOf));
    let streams = 0;
    // Every cut with TALLYSTICK_DEEP=1, one in 41 without.
    for (const secret of long)
      for (const form of wholeForms(secret)) {
        const text = Buffer.concat([before, form, after]);
        for (let cut = 0; cut <= text.length; cut += deep ? 1 : 41) {
          streams += 1;
          expect(masked([text.subarray(0, cut), text.subarray(cut)], set).toString()).toBe(
            expected.toString(),
          );
        }
      }
    console.log(`${long.length} long secrets, ${streams} streams: no leak`);
  });

  it('are masked as far as they were printed where the end is cut off, but for less than a segment', () => {
    const secret = randomText(3000, printable);
    const set = PatternSet.of(formsOf(secret));
    for (const printed of [100, 1000, 2999]) {
      const output = masked([before, Buffer.from(secret.slice(0, printed)), after], set);
      expect(output.length - before.length - after.length).toBeLessThan(3 + 64);
    }
  });
});

function masked(chunks: readonly Buffer[], set = patterns): Buffer {
  const masker = new StreamMasker({ patterns: set });
  return Buffer.concat([...chunks.map((chunk) => masker.push(chunk)), masker.end()]);
}

/** By Node's own encoders, each as one text. */
function wholeForms(secret: string): Buffer[] {
  const bytes = Buffer.from(secret);
  return [
    bytes,
    ...[encodeURIComponent(secret), new URLSearchParams([['', secret]]).toString().slice(1)].map((text) =>
      Buffer.from(text),
    ),
    ...(['base64', 'base64url', 'hex'] as const).map((encoding) => Buffer.from(bytes.toString(encoding))),
    Buffer.from(JSON.stringify(secret).slice(1, -1)),
  ];
}

/** Passwords, tokens, URLs, texts in other scripts and a few lines: from 6 characters to 120. */
function randomSecret(at: number): string {
  const length = 6 + Math.floor(random() * (at % 10 === 0 ? 115 : 40));
  switch (at % 5) {
    case 0:
      return randomText(length, printable);
    case 1:
      return randomText(length, letters);
    case 2:
      return `postgres://user:${randomText(length, printable)}@host/`;
    case 3:
      return randomText(length, [...letters, 'é', 'ü', '進', '捗', '😀', 'ключ']);
    default:
      return lines(1 + (at % 3));
  }
}

function lines(count: number): string {
  return Array.from({ length: count }, () => randomText(6 + Math.floor(random() * 60), letters)).join('\n');
}

function randomText(length: number, alphabet: readonly string[]): string {
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
}
