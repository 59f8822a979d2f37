import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { certificateAuthorities, checkHostKey, checkInBoth, knownKeyTypes } from './check-host-key.ts';
import { fingerprintOf } from './key-blob.ts';
import { parseKnownHosts } from './known-hosts.ts';

const folder = mkdtempSync(join(tmpdir(), 'tallystick-known-'));
afterAll(() => rm(folder, { recursive: true }));

let count = 0;
function newKey(type = 'ed25519') {
  const path = join(folder, `key${++count}`);
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', path]);
  const line = readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
  return { line, blob: Buffer.from(line.split(' ')[1] ?? '', 'base64'), path };
}

const host = (hostname: string, port = 22, hostKeyAlias: string | null = null) => ({
  hostname,
  port,
  hostKeyAlias,
});
const one = newKey();
const two = newKey();
const rsa = newKey('rsa');
const statusOf = (text: string, name: ReturnType<typeof host>, key = one) =>
  checkHostKey(parseKnownHosts(text), name, key.blob).status;

describe('a known_hosts file', () => {
  it.each([
    ['box', 'box', 22],
    ['box.example', '*.example', 22],
    ['box.example', 'b?x.*', 22],
    ['boox.example', 'b?x.*', 22],
    ['box', 'a,box,c', 22],
    ['box.example', '*.example,!box.example', 22],
    ['other.example', '*.example,!box.example', 22],
    ['box', '!other', 22],
    ['BOX', 'box', 22],
    ['box', 'BOX', 22],
    ['box', '[box]:22', 22],
    ['box', '[box]:2222', 2222],
    ['box', '[b*]:2222', 2222],
    ['box', '[b*]:*', 2222],
    ['::1', '::1', 22],
    ['fe80::1', '[fe80::1]:2222', 2222],
    ['box', 'box*', 22],
    ['box', '*****x', 22],
    ['box', 'bo', 22],
    ['box', 'boxx', 22],
    ['box', ',,box,', 22],
  ])('finds %s by %s (port %i) as ssh-keygen does', (name, pattern, port) => {
    const text = `${pattern} ${one.line} comment here\n`;
    const file = join(folder, `known${++count}`);
    writeFileSync(file, text);
    const wanted = port === 22 ? name : `[${name}]:${port}`;
    let found = '';
    try {
      found = execFileSync('ssh-keygen', ['-F', wanted.toLowerCase(), '-f', file], { encoding: 'utf8' });
    } catch {
      // It ends with 1 where it finds nothing.
    }
    expect(statusOf(text, host(name, port))).toBe(found === '' ? 'unknown' : 'known');
  });

  it('finds names that ssh-keygen hashed, and those only', () => {
    const file = join(folder, 'hashed');
    writeFileSync(file, `box,[box]:2222 ${one.line}\n`);
    execFileSync('ssh-keygen', ['-H', '-f', file], { stdio: 'ignore' });
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(/^\|1\|/);
    expect(statusOf(text, host('box'))).toBe('known');
    expect(statusOf(text, host('Box', 2222))).toBe('known');
    expect(statusOf(text, host('bo'))).toBe('unknown');
    expect(statusOf(text, host('box'), two)).toBe('changed');
  });

  it('passes over comments and lines that are broken', () => {
    const lines = [
      '# box is here',
      `#box ${one.line}`,
      'box',
      'box ssh-ed25519',
      'box ssh-ed25519 !!!!',
      `box ssh-rsa ${one.line.split(' ')[1]}`,
      `@unheard-of box ${one.line}`,
      `|1|c2FsdA==|dG9vIHNob3J0 ${one.line}`,
      `|2|c2FsdA==|c2FsdA== ${one.line}`,
      '@revoked box',
      '@cert-authority',
    ];
    expect(parseKnownHosts(lines.join('\n'))).toEqual([]);
  });

  it('reads tabs, Windows line ends, leading blanks and a last line without an end', () => {
    const text = `\r\n \tbox\t${one.line.replace(' ', '\t')}\tcomment\r\nother ${two.line}`;
    expect(statusOf(text, host('box'))).toBe('known');
    expect(statusOf(text, host('other'), two)).toBe('known');
  });

  it('knows a host by any of its keys, and calls every other one changed, whatever its type', () => {
    const text = `box ${one.line}\nbox ${two.line}\n`;
    expect(statusOf(text, host('box'), two)).toBe('known');
    expect(checkHostKey(parseKnownHosts(text), host('box'), rsa.blob)).toEqual({
      status: 'changed',
      knownFingerprints: [one, two].map(
        ({ path }) => execFileSync('ssh-keygen', ['-lf', `${path}.pub`], { encoding: 'utf8' }).split(' ')[1],
      ),
    });
  });

  it('looks up the alias alone, without a port', () => {
    const text = `vault ${one.line}\nbox ${two.line}\n[vault]:2222 ${two.line}\n`;
    expect(statusOf(text, host('box', 2222, 'vault'))).toBe('known');
  });

  it('knows a host on another port by its bare name only where the port has no key', () => {
    expect(statusOf(`box ${one.line}\n`, host('box', 2222))).toBe('known');
    expect(statusOf(`box ${two.line}\n`, host('box', 2222))).toBe('unknown');
    expect(statusOf(`box ${one.line}\n[box]:2222 ${two.line}\n`, host('box', 2222))).toBe('changed');
    expect(statusOf(`[box]:2222 ${one.line}\n`, host('box'))).toBe('unknown');
  });

  it('revokes a key for the hosts of the line, whatever else it says', () => {
    const text = `@revoked box* ${one.line}\n* ${one.line}\n`;
    expect(statusOf(text, host('box'))).toBe('revoked');
    expect(statusOf(text, host('box', 2222))).toBe('revoked');
    expect(statusOf(text, host('other'))).toBe('known');
    expect(statusOf(`@revoked * ${two.line}\n`, host('box'))).toBe('unknown');
  });

  it('takes the key of an authority for no host’s own', () => {
    const known = parseKnownHosts(`@cert-authority *.example ${one.line}\n`);
    expect(checkHostKey(known, host('box.example'), one.blob).status).toBe('unknown');
    expect(certificateAuthorities(known, host('box.example'))).toEqual([one.blob]);
    expect(certificateAuthorities(known, host('box'))).toEqual([]);
  });

  it('tells the types that are known, of the port before those of the bare name', () => {
    const known = parseKnownHosts(`box ${one.line}\n[box]:2222 ${rsa.line}\n@revoked box ${rsa.line}\n`);
    expect(knownKeyTypes(known, host('box'))).toEqual(['ssh-ed25519']);
    expect(knownKeyTypes(known, host('box', 2222))).toEqual(['ssh-rsa']);
    expect(knownKeyTypes(known, host('box', 3333))).toEqual(['ssh-ed25519']);
  });

  it('counts ours only where the user’s say nothing, but for what is revoked', () => {
    const [none, first, second] = ['', `box ${one.line}`, `box ${two.line}`].map(parseKnownHosts);
    const revoked = parseKnownHosts(`@revoked box ${one.line}`);
    const status = (theirs: typeof none, ours: typeof none) =>
      checkInBoth(theirs ?? [], ours ?? [], host('box'), one.blob).status;
    expect(status(none, none)).toBe('unknown');
    expect(status(none, first)).toBe('known');
    expect(status(none, second)).toBe('changed');
    expect(status(first, second)).toBe('known');
    expect(status(second, first)).toBe('changed');
    expect(status(first, revoked)).toBe('revoked');
    expect(status(revoked, first)).toBe('revoked');
  });

  it('prints fingerprints as ssh-keygen does', () => {
    for (const key of [one, rsa]) {
      const printed = execFileSync('ssh-keygen', ['-lf', `${key.path}.pub`], { encoding: 'utf8' });
      expect(printed).toContain(` ${fingerprintOf(key.blob)} `);
    }
  });
});
