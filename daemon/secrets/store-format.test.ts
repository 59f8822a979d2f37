import { describe, expect, test } from 'vitest';
import { WorkspaceId } from '../contract/ids.ts';
import { maxSecretBytes } from '../contract/secrets.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { openToken, sealToken } from '../lib/fernet.ts';
import { masterKeyId, parseMasterKey } from '../master-key/key-format.ts';
import { openStore, type StoreContents, StoreFormatError, sealStore, workspaceKey } from './store-format.ts';

const master = Buffer.from(Array.from({ length: 32 }, (_, at) => at));
const wsId = WorkspaceId.parse('ws_0123456789abcdef');
const otherWsId = WorkspaceId.parse('ws_fedcba9876543210');
const key = workspaceKey(master, wsId);
const at = '2026-03-10T12:00:00.000Z';

const contents: StoreContents = {
  generation: 7,
  secrets: new Map([
    ['TOKEN', { value: 'hunter2', updated_at: at }],
    ['API_KEY', { value: 'a "b" \\ c\nd\u0001 é 😀', updated_at: at }],
  ]),
};
const secret = (name: string, value: string) => `"${name}":{"updated_at":"${at}","value":${value}}`;
const text = (secrets: string, head = '"generation":7,', tail = `,"version":1,"ws_id":"${wsId}"`) =>
  `{${head}"secrets":{${secrets}}${tail}}`;

describe('keys', () => {
  test('are derived as docs/secrets.md says', () => {
    // By the HKDF of python3-cryptography.
    expect(key.toString('hex')).toBe('0496028be5f556d18bcd6bdc3371661b0ff81c3d16c69278287415268e589557');
    expect(masterKeyId(master)).toBe('mk_b0224dc4249a6cfd');
  });

  test('differ from one workspace to another, and from one master key to another', () => {
    const other = Buffer.from(master.toReversed());
    const keys = [master, other].flatMap((from) => [workspaceKey(from, wsId), workspaceKey(from, otherWsId)]);
    expect(new Set(keys.map((each) => each.toString('hex'))).size).toBe(4);
    expect(masterKeyId(other)).not.toBe(masterKeyId(master));
    expect(() => workspaceKey(master.subarray(1), wsId)).toThrow(RangeError);
  });

  test('are read from 43 characters of base64url, padded or not, with white space around', () => {
    const written = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
    for (const good of [written, `${written}=`, ` ${written}\n`, `\t${written}=\r\n`])
      expect(parseMasterKey(good)).toEqual(master);
  });

  test('are read from nothing else', () => {
    const written = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
    const bad = [
      '',
      '=',
      written.slice(1),
      `${written}A`,
      `${written}==`,
      `${written} =`,
      `=${written}`,
      `${written.slice(0, 20)} ${written.slice(20)}`,
      `${written.slice(0, -1)}9`, // an unused bit is set
      written.replace('A', '+'),
      written.replace('A', '/'),
      written.replace('A', '\u00c1'),
      `"${written}"`,
      master.toString('hex'),
      Buffer.alloc(31).toString('base64url'),
      Buffer.alloc(33).toString('base64url'),
    ];
    for (const each of bad) expect([each, parseMasterKey(each)]).toEqual([each, undefined]);
  });
});

describe('a store', () => {
  test('holds the canonical JSON that docs/secrets.md shows', () => {
    const plaintext = openToken(key, sealStore(key, wsId, contents)).toString();
    expect(plaintext).toBe(
      text(`${secret('API_KEY', '"a \\"b\\" \\\\ c\\nd\\u0001 é 😀"')},${secret('TOKEN', '"hunter2"')}`),
    );
  });

  test('opens as what was sealed, empty, with many secrets, and with the longest names and values', () => {
    const many = Array.from({ length: 1000 }, (_, count) => [
      `N${count}`,
      { value: `${count}`, updated_at: at },
    ]);
    const longest = [['_'.repeat(128), { value: '\\'.repeat(maxSecretBytes), updated_at: at }]];
    for (const secrets of [[], many, longest] as [string, { value: string; updated_at: string }][][]) {
      const sealed = { generation: Number.MAX_SAFE_INTEGER, secrets: new Map(secrets) };
      const token = sealStore(key, wsId, sealed);
      expect(openStore(key, wsId, token)).toEqual(sealed);
      const whole = { ...sealed, secrets: Object.fromEntries(secrets), version: 1, ws_id: wsId };
      expect(openToken(key, token).toString()).toBe(canonicalJson(whole));
    }
    expect(openStore(key, wsId, sealStore(key, wsId, contents))).toEqual(contents);
  });

  test('takes a name that JavaScript has a meaning for like any other', () => {
    const secrets = new Map(
      ['__proto__', 'constructor', 'toString'].map((name) => [name, { value: name, updated_at: at }]),
    );
    const opened = openStore(key, wsId, sealStore(key, wsId, { generation: 1, secrets }));
    expect([...opened.secrets.keys()]).toEqual(['__proto__', 'constructor', 'toString']);
    expect(opened.secrets).toEqual(secrets);
  });

  test('is not sealed where it could not be opened again', () => {
    const fine = { value: 'fine', updated_at: at };
    const bad: StoreContents[] = [
      ...[0, -1, 1.5, Number.NaN, 2 ** 53].map((generation) => ({ generation, secrets: new Map() })),
      ...['', '1A', 'A-B', 'A'.repeat(129), 'É'].map((name) => ({
        generation: 1,
        secrets: new Map([[name, fine]]),
      })),
      ...['', 'a\0b', '\ud800', 'a'.repeat(maxSecretBytes + 1)].map((value) => ({
        generation: 1,
        secrets: new Map([['A', { value, updated_at: at }]]),
      })),
      ...['', 'now', '2026-03-10T12:00:00Z', '2026-02-30T12:00:00.000Z'].map((updated_at) => ({
        generation: 1,
        secrets: new Map([['A', { value: 'fine', updated_at }]]),
      })),
    ];
    for (const each of bad) expect(() => sealStore(key, wsId, each)).toThrow(RangeError);
  });

  test('of another key, or altered, or with anything beside the token, is refused as that', () => {
    const token = sealStore(key, wsId, contents);
    expect(reasonOf(workspaceKey(master, otherWsId), token)).toBe('wrong_key_or_altered');
    const altered = [
      '',
      `${token}\n`,
      ` ${token}`,
      `${token}${token}`,
      `\ufeff${token}`,
      token.slice(0, -1),
      'text',
    ];
    for (const each of altered) expect([each, reasonOf(key, each)]).toEqual([each, 'wrong_key_or_altered']);
  });

  test('that was sealed for another workspace is refused as that', () => {
    expect(reasonOf(key, sealStore(key, otherWsId, contents))).toBe('other_workspace');
  });

  test('that a later version made is refused, and says so', () => {
    const later = sealed(text('', '"generation":7,', `,"version":2,"ws_id":"${wsId}"`));
    expect(reasonOf(key, later)).toBe('unreadable');
    expect(() => openStore(key, wsId, later)).toThrow('another version');
  });

  const a = secret('A', '"one"');
  const b = secret('B', '"two"');
  const value = (written: string) => text(secret('A', written));
  test.for([
    ['nothing', ''],
    ['a newline at the end', `${text(a)}\n`],
    ['a space at the start', ` ${text(a)}`],
    ['a byte order mark', `\ufeff${text(a)}`],
    ['white space within', text(a).replace(',"version"', ', "version"')],
    ['white space in secrets', text(`${a}, ${b}`)],
    ['an array', '[]'],
    ['a string', '"text"'],
    ['null', 'null'],
    ['names out of order', text(`${b},${a}`)],
    ['a name that stands twice', text(`${a},${a}`)],
    ['members out of order', `{"secrets":{},"generation":7,"version":1,"ws_id":"${wsId}"}`],
    ['a member too many', text(a, '"extra":1,"generation":7,')],
    ['a member too many at the end', text(a, undefined, `,"version":1,"ws_id":"${wsId}","x":1`)],
    ['a member that stands twice', text(a, '"generation":7,"generation":7,')],
    ['secrets that stand twice', text(`${a}},"secrets":{${b}`)],
    ['a second tail', text(`${a}},"version":1,"ws_id":"${wsId}","x":{`)],
    ['no generation', text(a, '')],
    ['generation 0', text(a, '"generation":0,')],
    ['generation -1', text(a, '"generation":-1,')],
    ['generation 1.0', text(a, '"generation":1.0,')],
    ['generation 1e0', text(a, '"generation":1e0,')],
    ['generation 01', text(a, '"generation":01,')],
    ['a generation that is text', text(a, '"generation":"7",')],
    ['a generation over 2^53 - 1', text(a, '"generation":9007199254740992,')],
    ['no version', text(a, undefined, `,"ws_id":"${wsId}"`)],
    ['version 01', text(a, undefined, `,"version":01,"ws_id":"${wsId}"`)],
    ['a version that is text', text(a, undefined, `,"version":"1","ws_id":"${wsId}"`)],
    ['no ws_id', text(a, undefined, ',"version":1')],
    ['a ws_id that is no text', text(a, undefined, ',"version":1,"ws_id":7')],
    ['secrets that are an array', text(a).replace('"secrets":{', '"secrets":[').replace('}},', '}],')],
    ['a comma at the start', text(`,${a}`)],
    ['a comma at the end', text(`${a},`)],
    ['two commas', text(`${a},,${b}`)],
    ['no comma', text(`${a}${b}`)],
    ['a secret that is text', text('"A":"one"')],
    ['a secret without a time', text('"A":{"value":"one"}')],
    ['a secret without a value', text(`"A":{"updated_at":"${at}"}`)],
    ['a secret with a member too many', text(`"A":{"updated_at":"${at}","value":"one","x":1}`)],
    ['a secret with members out of order', text(`"A":{"value":"one","updated_at":"${at}"}`)],
    ['a time with an escape', text(a).replace('2026', '\\u0032026')],
    ['a time without milliseconds', text(a).replace('.000Z', 'Z')],
    ['a day that is none', text(a).replace('03-10', '02-30')],
    ['a name with an escape', text(secret('\\u0041', '"one"'))],
    ['a name that can not be one', text(secret('1A', '"one"'))],
    ['an empty name', text(secret('', '"one"'))],
    ['a name of 129 characters', text(secret('A'.repeat(129), '"one"'))],
    ['a value that is a number', value('1')],
    ['a value that is null', value('null')],
    ['an empty value', value('""')],
    ['a value with NUL', value('"a\\u0000b"')],
    ['a value over the limit', value(`"${'a'.repeat(maxSecretBytes + 1)}"`)],
    ['a raw newline', value('"a\nb"')],
    ['a needless escape', value('"\\u0061"')],
    ['an escaped slash', value('"a\\/b"')],
    ['a long form of \\n', value('"a\\u000ab"')],
    ['an escape in capitals', value('"a\\u001Fb"')],
    ['an escape that is none', value('"a\\x41"')],
    ['a lone surrogate', value('"\\ud800"')],
    ['an escaped pair', value('"\\ud83d\\ude00"')],
    ['a value that does not end', `{"generation":7,"secrets":{"A":{"updated_at":"${at}","value":"one`],
  ] as const)('with %s is unreadable, and the message holds nothing of it', ([, plaintext]) => {
    expect(reasonOf(key, sealed(plaintext))).toBe('unreadable');
    expect(() => openStore(key, wsId, sealed(plaintext))).toThrow(
      /^The secrets were decrypted, but can not be read\. [ \w.,:’]+$/,
    );
  });

  test('with bytes that are not UTF-8 is unreadable', () => {
    const bytes = Buffer.from(text(a));
    bytes[bytes.indexOf('one')] = 0xff;
    expect(reasonOf(key, sealToken(key, bytes))).toBe('unreadable');
  });

  test('with any single byte of its JSON changed, taken out or put in twice opens as what it says, or not at all', () => {
    const plaintext = Buffer.from(openToken(key, sealStore(key, wsId, contents)));
    let opened = 0;
    for (let place = 0; place < plaintext.length; place += 1) {
      const [before, after] = [plaintext.subarray(0, place), plaintext.subarray(place + 1)];
      const others = [
        '',
        '"',
        '\\',
        ',',
        '}',
        '0',
        'A',
        ' ',
        plaintext.toString('latin1', place, place + 1).repeat(2),
      ];
      for (const other of others) {
        const token = sealToken(key, Buffer.concat([before, Buffer.from(other, 'latin1'), after]));
        const again = openedOrUndefined(token);
        if (again === undefined) continue;
        opened += 1;
        // What opens is canonical: it would be written just so again.
        expect(openToken(key, sealStore(key, wsId, again))).toEqual(openToken(key, token));
      }
    }
    expect(opened).toBeGreaterThan(100);
  });
});

function sealed(plaintext: string): string {
  return sealToken(key, Buffer.from(plaintext));
}

function openedOrUndefined(token: string): StoreContents | undefined {
  try {
    return openStore(key, wsId, token);
  } catch (error) {
    expect(error).toBeInstanceOf(StoreFormatError);
    return undefined;
  }
}

function reasonOf(withKey: Buffer, token: string): string {
  try {
    openStore(withKey, wsId, token);
    return 'opened';
  } catch (error) {
    return error instanceof StoreFormatError ? error.reason : String(error);
  }
}
