import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { PatternSet } from './pattern-set.ts';
import { formsOf } from './secret-forms.ts';
import { StreamMasker } from './stream-masker.ts';
import { seededRandom } from './testing/seeded-random.ts';

const random = seededRandom(11);
const ascii = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at));
const others = [
  'é',
  'ß',
  '進',
  '😀',
  '\t',
  '\u001b',
  '\u007f',
  '\n',
  "'",
  '"',
  '\\',
  '/',
  '!',
  '$',
  ' ',
  '~',
  '#',
];

const secrets = [
  ...["it's", "''two''", '"quoted"', '~/home=~', '#a#b', '-n -e', 'a+b/c=d', '%41%zz'].map(
    (text) => `${text}..`,
  ),
  "'''''''",
  'naïve café 😀',
  'tab\there\u001b[0m',
  'two\nlines of text',
  ...Array.from({ length: 60 }, (_, at) => randomText(ascii, 6 + at)),
  ...Array.from({ length: 40 }, (_, at) => randomText([...ascii, ...others], 6 + 5 * at)),
  randomText(ascii, 5000),
];

describe('the forms of a secret', () => {
  it('are none under 6 characters, and all of 6 bytes or more from there on', () => {
    expect(formsOf('12345')).toEqual([]);
    expect(formsOf('éééé😀')).toEqual([]);
    expect(formsOf('')).toEqual([]);
    for (const secret of [
      '123456',
      'ééééé😀',
      '1234567\n',
      '      ',
      '😀🧮'.repeat(40),
      'ab\ncd\nef\n',
      ...secrets,
    ]) {
      const forms = formsOf(secret);
      if (secret.length <= 64) expect(forms.map(String)).toContain(secret.replace(/\n$/, ''));
      expect(Math.min(...forms.map(({ length }) => length))).toBeGreaterThanOrEqual(6);
      expect(Math.max(...forms.map(({ length }) => length))).toBeLessThanOrEqual(1024);
      expect(new Set(forms.map((form) => form.toString('latin1'))).size).toBe(forms.length);
    }
  });

  it('cover what Node, Python, coreutils, openssl and xxd print of the value itself', async () => {
    let checked = 0;
    for (const [at, outputs] of [...fromPython(), ...(await fromPrograms()), ...fromNode()].entries()) {
      const secret = secrets[at % secrets.length] ?? '';
      for (const output of outputs) {
        checked += 1;
        expect({ secret, output, masked: masked(secret, output) }).toMatchObject({
          masked: expect.stringMatching(/^(?:["']?\*\*\*\n*["']?)+$/),
        });
      }
    }
    expect(checked).toBe(secrets.length * (17 + 6 + 6));
    console.log(`${checked} encodings by other programs are all ***`);
  });

  it('cover the base64 of a text that holds the value, but for the characters it shares with its surroundings', () => {
    for (const secret of secrets)
      for (const before of ['', 'a', 'ab', 'user:'])
        for (const after of ['', '\n', 'xy'])
          for (const alphabet of ['base64', 'base64url'] as const) {
            const output = Buffer.from(before + secret + after).toString(alphabet);
            const left = masked(secret, output).split('***');
            expect(left).toHaveLength(2);
            expect(left[0]).toHaveLength(Math.ceil((8 * before.length) / 6));
            const shared = output.slice(Math.floor((8 * Buffer.byteLength(before + secret)) / 6));
            expect(shared.endsWith(left[1] ?? 'none')).toBe(true);
          }
  });

  it.each(['C', 'C.UTF-8'])('cover what bash and dash print of it in locale %s', (locale) => {
    const trace = `"$( (set -x; : "$V") 2>&1 )" "$( (set -x; W="$V") 2>&1 )"`;
    const exported = `"$( (unset PATH PWD OLDPWD SHLVL _ LC_ALL PS4; export V; export -p) )"`;
    const quoted = `"$(printf %q "$V")" "\${V@Q}" "$(declare -p V)"`;
    const printed = [
      ...shellOutput('bash', `${trace} ${exported} ${quoted}`, locale),
      ...shellOutput('dash', `${trace} ${exported}`, locale),
    ];
    for (const { secret, output } of printed) {
      const left = masked(secret, output);
      expect({ secret, output: output.toString(), left }).toMatchObject({
        left: expect.stringMatching(
          /^(?:\++ : |\++ W=|declare -\S+ V=|(?:export \w+\n)*export V=)?\$?["']*\*\*\*["']*$/,
        ),
      });
    }
    expect(printed).toHaveLength(9 * secrets.length);
  });

  it('cover the lines of a value that has several, with LF and CRLF, and as they are escaped', () => {
    const key = execFileSync('openssl', ['genrsa', '2048'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString();
    expect(masked(key, `before\n${key}after`)).toBe('before\n***\nafter');
    const lines = key.trimEnd().split('\n').length;
    expect(masked(key, key.replaceAll('\n', '\r\n'))).toBe('***\r\n'.repeat(lines));
    expect(masked(key, key.replace(/^/gm, '  > '))).toBe(`${'  > ***\n'.repeat(lines)}  > `);
    expect(masked(key, JSON.stringify({ key }))).toBe('{"key":"***\\n"}');
    expect(masked(key, encodeURIComponent(key.replaceAll('\n', '\r\n')))).toBe('***%0D%0A'.repeat(lines));
    const crlf = key.replaceAll('\n', '\r\n');
    expect(masked(crlf, key)).toBe('***\n'.repeat(lines));
    const quoted = 'one "quoted" line\n  two\\lines\nshort';
    expect(masked(quoted, JSON.stringify(['x', 'one "quoted" line', 'two\\lines', 'short']))).toBe(
      '["x","***","***","short"]',
    );
  });

  it('have at most 50 times the bytes of a long value of ASCII, and 200 times those of any', () => {
    for (const [alphabet, times] of [
      [ascii, 50],
      [others, 200],
      [[...ascii, ...others], 200],
    ] as const) {
      const secret = randomText(alphabet, 20_000);
      const bytes = formsOf(secret).reduce((sum, form) => sum + form.length, 0);
      expect(bytes / Buffer.byteLength(secret)).toBeLessThan(times);
    }
    // Segments that are alike are one.
    expect(formsOf('a'.repeat(65_536)).length).toBeLessThan(40);
  });
});

function masked(secret: string, output: string | Buffer): string {
  const masker = new StreamMasker({ patterns: patternsOf(secret) });
  return Buffer.concat([masker.push(Buffer.from(output)), masker.end()]).toString();
}

const sets = new Map<string, PatternSet>();
function patternsOf(secret: string): PatternSet {
  const known = sets.get(secret) ?? PatternSet.of(formsOf(secret));
  sets.set(secret, known);
  return known;
}

function randomText(alphabet: readonly string[], length: number): string {
  const text = Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
  // White space at the ends is not always masked; and some programs end with the first line break.
  return text.replace(/^\s|\s$/g, 'x');
}

function fromNode(): string[][] {
  return secrets.map((secret) => [
    encodeURIComponent(secret),
    encodeURI(secret),
    new URLSearchParams({ a: secret }).toString().slice(2),
    JSON.stringify(secret),
    JSON.stringify(secret).replaceAll('/', '\\/'),
    inspect(secret, { maxStringLength: null, breakLength: Number.POSITIVE_INFINITY }).replace(/^`|`$/g, ''),
  ]);
}

/** The words that a shell prints for each secret in its variable V. */
function shellOutput(shell: string, words: string, locale: string): { secret: string; output: Buffer }[] {
  const script = `for V; do printf '%s\\0' ${words}; done`;
  const env = { PATH: process.env.PATH, LC_ALL: locale, PS4: '+ ' };
  // With a socket as its input bash takes itself to be run by rshd and reads .bashrc.
  const stdout = execFileSync(shell, ['-c', script, shell, ...secrets], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1e8,
  });
  const outputs = stdout.toString('latin1').split('\0').slice(0, -1);
  return outputs.map((output, at) => ({
    secret: secrets[Math.floor((at * secrets.length) / outputs.length)] ?? '',
    output: Buffer.from(output, 'latin1'),
  }));
}

const python = `
import base64, json, shlex, sys
from urllib.parse import quote, quote_plus, urlencode
def lower(text):
    import re
    return re.sub('%[0-9A-F]{2}', lambda m: m.group().lower(), text)
out = []
for s in json.load(sys.stdin):
    b = s.encode()
    urls = [quote(s), quote(s, safe=''), quote_plus(s), urlencode({'a': s})[2:]]
    out.append(urls + [lower(u) for u in urls] + [
        base64.b64encode(b).decode(), base64.urlsafe_b64encode(b).decode(), base64.encodebytes(b).decode(),
        json.dumps(s), json.dumps(s, ensure_ascii=False),
        b.hex(), b.hex().upper(), shlex.quote(s), repr(s)])
json.dump(out, sys.stdout)
`;

function fromPython(): string[][] {
  return JSON.parse(execFileSync('python3', ['-c', python], { input: JSON.stringify(secrets) }).toString());
}

/** One shell for all: starting a program for each would take most of the time. */
async function fromPrograms(): Promise<string[][]> {
  const commands = ['base64', 'base64 -w64', 'base64 -w0', 'openssl base64', 'xxd -p', 'xxd -p -u'];
  await using folder = await tempFolder();
  const files = secrets.map((secret, at) => {
    const file = join(folder.path, String(at));
    writeFileSync(file, secret);
    return file;
  });
  const script = `for f; do ${commands.map((command) => `${command} <"$f"; printf '\\0'`).join(';')}; done`;
  const printed = execFileSync('sh', ['-c', script, 'sh', ...files], { maxBuffer: 1e8 })
    .toString()
    .split('\0');
  return secrets.map((_, at) => printed.slice(at * commands.length, (at + 1) * commands.length));
}
