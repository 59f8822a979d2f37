import { getCiphers } from 'node:crypto';
import type { Algorithms, CipherAlgorithm } from 'ssh2';

/** By their names in OpenSSL. The fastest first: AES is in the processor, and GCM needs no MAC of its own. */
const ciphers: readonly [CipherAlgorithm, string][] = [
  ['aes128-gcm@openssh.com', 'aes-128-gcm'],
  ['aes256-gcm@openssh.com', 'aes-256-gcm'],
  ['chacha20-poly1305@openssh.com', 'chacha20'],
  ['aes128-ctr', 'aes-128-ctr'],
  ['aes192-ctr', 'aes-192-ctr'],
  ['aes256-ctr', 'aes-256-ctr'],
];

/**
 * What we agree to beside the host's key: nothing with SHA-1 or CBC, no compression, no group of the server's making.
 * ssh2 adds strict key exchange. A cipher that this Node lacks (Electron's has no chacha20) is left out.
 */
export function allowedAlgorithms(): Algorithms {
  const available = getCiphers();
  return {
    kex: [
      'curve25519-sha256',
      'curve25519-sha256@libssh.org',
      'ecdh-sha2-nistp256',
      'ecdh-sha2-nistp384',
      'ecdh-sha2-nistp521',
      'diffie-hellman-group16-sha512',
      'diffie-hellman-group18-sha512',
      'diffie-hellman-group14-sha256',
    ],
    cipher: ciphers.flatMap(([name, openSslName]) => (available.includes(openSslName) ? [name] : [])),
    hmac: [
      'hmac-sha2-256-etm@openssh.com',
      'hmac-sha2-512-etm@openssh.com',
      'hmac-sha2-256',
      'hmac-sha2-512',
    ],
    compress: ['none'],
  };
}
