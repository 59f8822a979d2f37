import { expect, test } from 'vitest';
import {
  addressWords,
  forgetKeyCommand,
  keyTypeWords,
  placeOf,
  readFingerprintCommand,
  wayWords,
} from './host-words.ts';

test('an address names its port only where that is not 22', () => {
  expect(addressWords({ user: 'deploy', hostname: 'web.example.com', port: 22 })).toBe(
    'deploy@web.example.com',
  );
  expect(addressWords({ user: 'deploy', hostname: 'web.example.com', port: 2222 })).toBe(
    'deploy@web.example.com:2222',
  );
  expect(placeOf('fe80::1', 2222)).toBe('[fe80::1]:2222');
  expect(placeOf('fe80::1', 22)).toBe('fe80::1');
});

test('the way names every hop in its order', () => {
  expect(wayWords({ proxy_jump: [] })).toBeUndefined();
  expect(wayWords({ proxy_jump: ['outer', 'inner'] })).toBe('via outer → inner');
});

test('the key to compare with is read from the file that sshd keeps keys of this kind in', () => {
  expect(readFingerprintCommand('ssh-ed25519')).toBe('ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub');
  expect(readFingerprintCommand('ecdsa-sha2-nistp256')).toBe(
    'ssh-keygen -lf /etc/ssh/ssh_host_ecdsa_key.pub',
  );
  expect(readFingerprintCommand('ssh-rsa')).toBe('ssh-keygen -lf /etc/ssh/ssh_host_rsa_key.pub');
  expect(keyTypeWords('ecdsa-sha2-nistp256')).toBe('ECDSA');
});

test('a name or a file that a shell would read otherwise is quoted', () => {
  const key = { host: 'a', hop: 'a', key_type: '', fingerprint: '', known_fingerprints: [] };
  expect(forgetKeyCommand({ ...key, hostname: 'web.example.com', port: 22 })).toBe(
    'ssh-keygen -R web.example.com',
  );
  expect(forgetKeyCommand({ ...key, hostname: '127.0.0.1', port: 2222 }, "/home/o'neil/known_hosts")).toBe(
    "ssh-keygen -R '[127.0.0.1]:2222' -f '/home/o'\\''neil/known_hosts'",
  );
});
