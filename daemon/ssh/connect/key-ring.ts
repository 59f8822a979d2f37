import { basename } from 'node:path';
import type { BaseAgent, ParsedKey, SignCallback, SigningRequestOptions } from 'ssh2';
import { fingerprintOf } from '../host-keys/key-blob.ts';
import type { ResolvedHost } from '../resolved-host.ts';
import { isModern, readIdentity } from './identity-files.ts';
import type { Ssh2 } from './load-ssh2.ts';

/** The keys to sign in to a host with, in the order to try. */
export interface KeyRing {
  /** For ssh2 all of them come from one agent, wherever they are. */
  readonly agent: BaseAgent<ParsedKey>;
  /** One for each key: name of its file without the folder, or that it is the agent's. */
  readonly names: readonly string[];
  /** Files that were passed over and why. */
  readonly skipped: readonly string[];
  /** The keys that the host asked a signature of, which means that it knows them. */
  readonly used: readonly string[];
}

interface Key {
  readonly name: string;
  readonly publicKey: ParsedKey;
  readonly sign: (data: Buffer, options: SigningRequestOptions, done: SignCallback) => void;
}

/** The agent is to answer within that time, or counts as not there. */
const agentTimeoutMs = 5_000;

/**
 * The identity files, then what else the agent has unless IdentitiesOnly. A file that has a passphrase, or of which only
 * the public part is there, is used where the agent has its key. Fails for nothing: what can't be used is passed over.
 */
export async function loadKeyRing(host: ResolvedHost, ssh2: Ssh2): Promise<KeyRing> {
  const [agent, identities] = await Promise.all([
    askAgent(host.identityAgent, ssh2),
    Promise.all(host.identityFiles.map(async (path) => ({ path, identity: await readIdentity(path, ssh2) }))),
  ]);
  const ring: Key[] = [];
  const skipped: string[] = [];
  const has = (key: ParsedKey) => ring.some(({ publicKey }) => isSame(publicKey, key));
  for (const { path, identity } of identities) {
    const name = basename(path);
    const { publicKey } = identity;
    if (publicKey !== undefined && has(publicKey)) continue;
    if (identity.kind === 'private') {
      ring.push({ name, publicKey: identity.publicKey, sign: withFile(identity.sign) });
      continue;
    }
    const held = publicKey && agent.find((key) => isSame(key.publicKey, publicKey));
    if (held) ring.push({ ...held, name: `${name} (by the agent)` });
    else if (identity.kind === 'encrypted') skipped.push(`${name} has a passphrase and is not in the agent`);
    else if (identity.kind === 'unusable') skipped.push(`${name} holds no private key that can be used`);
  }
  if (!host.identitiesOnly) ring.push(...agent.filter(({ publicKey }) => !has(publicKey)));
  const used: string[] = [];
  const agentOfAll = ringAgent(ring, { ssh2, onUse: (key) => used.push(key.name) });
  return { agent: agentOfAll, names: ring.map(({ name }) => name), skipped, used };
}

function withFile(sign: (data: Buffer, hash: string | undefined) => Buffer): Key['sign'] {
  return (data, options, done) => {
    try {
      done(null, sign(data, options.hash));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  };
}

async function askAgent(socket: string | null, ssh2: Ssh2): Promise<Key[]> {
  if (socket === null) return [];
  const agent = ssh2.createAgent(socket);
  const publicKeys = await new Promise<ParsedKey[]>((resolve) => {
    const timer = setTimeout(() => resolve([]), agentTimeoutMs);
    // No agent at that socket is like an agent without keys.
    agent.getIdentities((error, keys) => {
      clearTimeout(timer);
      resolve(error ? [] : (keys ?? []).flatMap((key) => parsed(key, ssh2) ?? []));
    });
  });
  return publicKeys.filter(isModern).map((publicKey) => ({
    name: `the agent's ${publicKey.type} ${fingerprintOf(publicKey.getPublicSSH())}`,
    publicKey,
    sign: (data, options, done) => void agent.sign(publicKey, data, options, done),
  }));
}

/** An agent of ssh2 that answers with keys which it has parsed; its type allows other things. */
function parsed(key: unknown, ssh2: Ssh2): ParsedKey | undefined {
  if (typeof key !== 'object' || key === null || !('getPublicSSH' in key)) return undefined;
  const result = ssh2.utils.parseKey(key as ParsedKey);
  return result instanceof Error ? undefined : result;
}

/** What is said to the host of a key: for RSA, with which hash it would sign. */
interface Offer {
  readonly key: Key;
  readonly publicKey: ParsedKey;
  readonly hash?: 'sha256' | 'sha512';
}

/**
 * RSA keys are offered with SHA-512 and, when nothing else is left, with SHA-256. ssh2 would choose itself: SHA-256 where
 * the host says that it knows it (OpenSSH says so even where it is configured to refuse it), and SHA-1 where the host
 * says nothing. A key whose type is called by the name of the algorithm leaves it no choice.
 */
function offersOf(ring: readonly Key[]): Offer[] {
  const isRsa = ({ publicKey }: Key) => publicKey.type === 'ssh-rsa';
  const withHash = (key: Key, hash: 'sha256' | 'sha512'): Offer => {
    const publicKey: ParsedKey = Object.create(key.publicKey, {
      type: { value: `rsa-sha2-${hash.slice(3)}` },
    });
    return { key, publicKey, hash };
  };
  const first = ring.map((key) => (isRsa(key) ? withHash(key, 'sha512') : { key, publicKey: key.publicKey }));
  return [...first, ...ring.filter(isRsa).map((key) => withHash(key, 'sha256'))];
}

function ringAgent(
  ring: readonly Key[],
  { ssh2, onUse }: { ssh2: Ssh2; onUse: (key: Key) => void },
): BaseAgent<ParsedKey> {
  const offers = offersOf(ring);
  return new (class extends ssh2.BaseAgent<ParsedKey> {
    override getIdentities(done: (error: null, keys: ParsedKey[]) => void): void {
      const keys = offers.map(({ publicKey }) => publicKey);
      done(null, keys);
    }

    override sign(
      publicKey: ParsedKey | Buffer | string,
      data: Buffer,
      options?: SigningRequestOptions | SignCallback,
      done?: SignCallback,
    ): void {
      const answer = typeof options === 'function' ? options : (done ?? (() => {}));
      const offer = offers.find((candidate) => candidate.publicKey === publicKey);
      if (offer === undefined) {
        answer(new Error('a key that was not offered'));
        return;
      }
      onUse(offer.key);
      offer.key.sign(data, offer.hash === undefined ? {} : { hash: offer.hash }, answer);
    }
  })();
}

function isSame(one: ParsedKey, other: ParsedKey): boolean {
  return one.getPublicSSH().equals(other.getPublicSSH());
}
