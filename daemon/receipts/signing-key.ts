import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { writeDurably } from '../lib/durable-file.ts';
import type { Keychain } from '../lib/keychain.ts';
import { verifierKeyOf } from './checkpoint-note.ts';
import { readPlainFile } from './store.ts';

/** The key that signs the checkpoints of all workspaces. */
export interface SigningKey {
  /** Ed25519; null where the keychain that has it can't be opened. Then CHECKPOINT stays as it is. */
  readonly signer: KeyObject | null;
  /** A C2SP verifier key: what others check CHECKPOINT with. */
  readonly verifierKey: string | null;
  readonly source: 'keychain' | 'file' | 'unavailable';
}

export interface OpenSigningKeyOptions {
  readonly dataDir: string;
  /** Without one, the file it is. */
  readonly keychain?: Keychain;
  /** The verifier key that the daemon remembers; null before there was one. */
  readonly known: string | null;
  readonly onNotice: (message: string) => void;
}

/**
 * The signing key from `<data>/checkpoint-key.pem` or the keychain. It is made only where none was known before, in the
 * keychain if that works, else in the file: a locked keychain must not look like an empty one. The caller remembers
 * `verifierKey` and hands it in as `known` from then on.
 *
 * @throws StorageFullError, StorageFailedError where a new key could not be kept
 */
export async function openSigningKey(options: OpenSigningKeyOptions): Promise<SigningKey> {
  const { dataDir, keychain, known, onNotice } = options;
  const path = join(dataDir, 'checkpoint-key.pem');
  const fromFile = await found('file', async () => (await readPlainFile(path))?.toString('utf8') ?? null);
  if (isUsable(fromFile, known)) return fromFile.key;
  const fromKeychain = await found('keychain', async () => (await keychain?.get()) ?? null);
  if (isUsable(fromKeychain, known)) return fromKeychain.key;
  // Something stands in the file that is not a key, or not the one: it is not ours to overwrite.
  if (known !== null || fromFile.state !== 'absent') {
    onNotice(`${unavailable} ${whyNot(fromFile, fromKeychain)}`);
    return { signer: null, verifierKey: known, source: 'unavailable' };
  }
  const usable = fromKeychain.state === 'absent' ? keychain : undefined;
  return makeKey({ path, onNotice, keychain: usable, wasAsked: keychain !== undefined });
}

const unavailable =
  'The key that signs receipts can not be had. Changes are still receipted and chained, but CHECKPOINT is not signed anew.';

type Found =
  | { readonly state: 'found'; readonly key: SigningKey & { readonly signer: KeyObject } }
  | { readonly state: 'absent' }
  | { readonly state: 'unreadable'; readonly reason: string };

async function found(source: 'file' | 'keychain', read: () => Promise<string | null>): Promise<Found> {
  try {
    const pem = await read();
    if (pem === null) return { state: 'absent' };
    const signer = createPrivateKey(pem);
    return { state: 'found', key: { signer, verifierKey: verifierKeyOf(signer), source } };
  } catch (error) {
    // A locked keychain, none at all, or something that is no key: each is told apart by its reason only.
    return { state: 'unreadable', reason: error instanceof Error ? error.message : String(error) };
  }
}

function isUsable(candidate: Found, known: string | null): candidate is Found & { state: 'found' } {
  return candidate.state === 'found' && (known === null || candidate.key.verifierKey === known);
}

function whyNot(file: Found, keychain: Found): string {
  if (file.state === 'unreadable') return `checkpoint-key.pem can not be read: ${file.reason}`;
  if (keychain.state === 'unreadable') return `The keychain says: ${keychain.reason}`;
  if (file.state === 'found' || keychain.state === 'found')
    return 'What is kept in its place is another key.';
  return 'It was removed from the keychain.';
}

interface NewKey {
  /** One that can be written to, as far as is known. */
  readonly keychain: Keychain | undefined;
  /** Whether there should have been one. */
  readonly wasAsked: boolean;
  readonly path: string;
  readonly onNotice: (message: string) => void;
}

async function makeKey({ keychain, wasAsked, path, onNotice }: NewKey): Promise<SigningKey> {
  const { privateKey: signer } = generateKeyPairSync('ed25519');
  const pem = signer.export({ type: 'pkcs8', format: 'pem' }).toString();
  const verifierKey = verifierKeyOf(signer);
  if (keychain !== undefined && (await keptBy(keychain, pem)))
    return { signer, verifierKey, source: 'keychain' };
  await writeDurably(path, pem);
  if (wasAsked)
    onNotice(
      `No keychain could be used: the key that signs receipts is in ${path}. Who reads it can forge them.`,
    );
  return { signer, verifierKey, source: 'file' };
}

async function keptBy(keychain: Keychain, pem: string): Promise<boolean> {
  try {
    await keychain.set(pem);
    return (await keychain.get()) === pem;
  } catch {
    // None that works on this machine: the file takes its place.
    return false;
  }
}
