import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { certificateFault, parseHostCertificate } from './host-certificate.ts';

const folder = mkdtempSync(join(tmpdir(), 'tallystick-certificates-'));
afterAll(() => rm(folder, { recursive: true }));

let count = 0;
function makeKey(type: string, bits: readonly string[] = []): string {
  const path = join(folder, `key${++count}`);
  execFileSync('ssh-keygen', ['-q', '-t', type, ...bits, '-N', '', '-f', path]);
  return path;
}

/** A certificate by ssh-keygen, as it goes over the wire. */
function certify(key: string, authority: string, how: readonly string[]): Buffer {
  execFileSync('ssh-keygen', ['-q', '-s', authority, '-I', 'id', ...how, `${key}.pub`], { stdio: 'ignore' });
  return blobOf(`${key}-cert.pub`);
}

function blobOf(path: string): Buffer {
  return Buffer.from(readFileSync(path, 'utf8').split(' ')[1] ?? '', 'base64');
}

const host = ['-h', '-n', 'box.example,*.inner.example'];
const faultOf = (blob: Buffer, name = 'box.example', nowMs = Date.now()) => {
  const certificate = parseHostCertificate(blob);
  return certificate === undefined ? 'no certificate' : certificateFault(certificate, name, nowMs);
};

describe('a host certificate by ssh-keygen', () => {
  const key = makeKey('ed25519');
  const authority = makeKey('ed25519');

  it.each([
    ['ed25519', []],
    ['ecdsa', ['-b', '256']],
    ['ecdsa', ['-b', '384']],
    ['ecdsa', ['-b', '521']],
    ['rsa', ['-b', '2048']],
  ])('is parsed and verified for keys and authorities of type %s %j', (type, bits) => {
    const own = makeKey(type, bits);
    const certificate = parseHostCertificate(certify(own, makeKey(type, bits), host));
    expect(certificate?.key).toEqual(blobOf(`${own}.pub`));
    expect(certificate?.isSigned).toBe(true);
    expect(certificate?.principals).toEqual(['box.example', '*.inner.example']);
  });

  it('does not vouch for anyone once any byte of it is another', () => {
    const blob = certify(key, authority, host);
    expect(faultOf(blob)).toBeUndefined();
    for (let at = 0; at < blob.length; at++) {
      const changed = Buffer.from(blob);
      changed.writeUInt8((changed[at] ?? 0) ^ 1, at);
      expect([at, faultOf(changed)]).not.toEqual([at, undefined]);
    }
  });

  it('is none when it is cut short or goes on after its end', () => {
    const blob = certify(key, authority, host);
    for (let length = 0; length < blob.length; length++) {
      expect(parseHostCertificate(blob.subarray(0, length))).toBeUndefined();
    }
    expect(parseHostCertificate(Buffer.concat([blob, Buffer.alloc(1)]))).toBeUndefined();
  });

  it('vouches for the names in it alone, wildcards included', () => {
    const blob = certify(key, authority, host);
    expect(faultOf(blob, 'a.inner.example')).toBeUndefined();
    expect(faultOf(blob, 'inner.example')).toBe('it is not for inner.example');
    expect(faultOf(blob, 'box.example.evil')).toBe('it is not for box.example.evil');
  });

  it('vouches for any name when there is none in it, as OpenSSH has it', () => {
    expect(faultOf(certify(key, authority, ['-h']), 'anything')).toBeUndefined();
  });

  it('is valid from its first second on and no more at its last', () => {
    const blob = certify(key, authority, [...host, '-V', '0x10000000:0x10000010']);
    const start = 0x10000000 * 1000;
    expect(faultOf(blob, 'box.example', start - 1)).toBe('it is not valid yet');
    expect(faultOf(blob, 'box.example', start)).toBeUndefined();
    expect(faultOf(blob, 'box.example', start + 0x10 * 1000 - 1)).toBeUndefined();
    expect(faultOf(blob, 'box.example', start + 0x10 * 1000)).toBe('it has expired');
  });

  it('does not vouch for a host when it is a user’s', () => {
    expect(faultOf(certify(key, authority, ['-n', 'box.example']))).toBe('it is for users, not for hosts');
  });

  it('does not count with a critical option', () => {
    const blob = certify(key, authority, [...host, '-O', 'critical:new@example.com=1']);
    expect(faultOf(blob)).toBe('it has a critical option that is not known');
  });

  it('does not count when it is signed with SHA-1, or by a small RSA key', () => {
    const rsa = makeKey('rsa', ['-b', '2048']);
    expect(faultOf(certify(key, rsa, host))).toBeUndefined();
    expect(faultOf(certify(key, rsa, [...host, '-t', 'ssh-rsa']))).toContain('its signature is not valid');
    const small = makeKey('rsa', ['-b', '1024']);
    expect(faultOf(certify(key, small, host))).toContain('its signature is not valid');
  });
});
