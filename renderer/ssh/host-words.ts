import type { SshHost, SshHostKey } from '../../daemon/contract/ssh.ts';

const standardPort = 22;

/** `deploy@web-1.example.com:2222`; the port only where it is not the usual one. */
export function addressWords({ user, hostname, port }: Pick<SshHost, 'user' | 'hostname' | 'port'>): string {
  return `${user}@${placeOf(hostname, port)}`;
}

/** "via bastion → inner", or undefined where there is no host on the way. */
export function wayWords({ proxy_jump: hops }: Pick<SshHost, 'proxy_jump'>): string | undefined {
  return hops.length === 0 ? undefined : `via ${hops.join(' → ')}`;
}

/** An IPv6 address gets brackets, so that its port can be told from it. */
export function placeOf(hostname: string, port: number): string {
  if (port === standardPort) return hostname;
  return hostname.includes(':') ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/** "ED25519" of `ssh-ed25519`, as ssh-keygen names the kinds of keys. */
export function keyTypeWords(keyType: string): string {
  return kindOf(keyType).toUpperCase();
}

/** What the host's owner runs on it to read the key's fingerprint. */
export function readFingerprintCommand(keyType: string): string {
  return `ssh-keygen -lf /etc/ssh/ssh_host_${kindOf(keyType)}_key.pub`;
}

/** What takes the known keys of a host out of a known_hosts file: the user's own where none is given. */
export function forgetKeyCommand({ hostname, port }: SshHostKey, file?: string): string {
  const name = port === standardPort ? hostname : `[${hostname}]:${port}`;
  return `ssh-keygen -R ${quoted(name)}${file === undefined ? '' : ` -f ${quoted(file)}`}`;
}

function kindOf(keyType: string): string {
  if (keyType.includes('ed25519')) return 'ed25519';
  return keyType.includes('ecdsa') ? 'ecdsa' : 'rsa';
}

function quoted(word: string): string {
  return /^[\w./:@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
