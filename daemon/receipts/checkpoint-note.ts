import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';

/**
 * The head of a chain as a signed note (https://c2sp.org/signed-note) in the form of a checkpoint
 * (https://c2sp.org/tlog-checkpoint); docs/receipts.md says what each line means.
 */
export interface Checkpoint {
  readonly wsId: string;
  /** Receipts in the chain. */
  readonly count: number;
  /** `sha256:…`: self_hash of receipt number `count`; of an empty chain, its genesis hash. */
  readonly head: string;
  /** `sha256:…` over the first `count` lines of INDEX.jsonl. */
  readonly indexHash: string;
}

export interface ParsedCheckpoint extends Checkpoint {
  /** What is signed: the text with its last LF. */
  readonly text: string;
  readonly signatures: readonly { readonly name: string; readonly keyId: Buffer; readonly value: Buffer }[];
}

export type SignatureState = 'verified' | 'missing' | 'invalid';

const keyName = 'tallystick';
const ed25519 = 1;
/** DER of an Ed25519 public key without its 32 bytes (RFC 8410). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

const notePattern =
  /^(tallystick\/(ws_[0-9a-hjkmnp-tv-z]{16})\n(0|[1-9]\d{0,7})\n([A-Za-z0-9+/]{43}=)\nindex (sha256:[0-9a-f]{64})\n)\n((?:— [!-*,-~]+ [A-Za-z0-9+/]+={0,2}\n)*)$/u;

/** The note's text. `signer` is an Ed25519 private key; null leaves the note unsigned, which verifiers report. */
export function formatCheckpoint(checkpoint: Checkpoint, signer: KeyObject | null): string {
  const head = Buffer.from(checkpoint.head.slice('sha256:'.length), 'hex').toString('base64');
  const text = `tallystick/${checkpoint.wsId}\n${checkpoint.count}\n${head}\nindex ${checkpoint.indexHash}\n`;
  if (signer === null) return `${text}\n`;
  const keyId = keyIdOfSigner(signer);
  const signature = Buffer.concat([keyId, sign(null, Buffer.from(text), signer)]).toString('base64');
  return `${text}\n— ${keyName} ${signature}\n`;
}

/** Undefined where the text is no checkpoint of ours, to the byte. Signatures are not looked at: `verifyCheckpoint`. */
export function parseCheckpoint(note: string): ParsedCheckpoint | undefined {
  const [, text, wsId, count, head, indexHash, signatures] = notePattern.exec(note) ?? [];
  if (text === undefined || wsId === undefined || head === undefined || indexHash === undefined)
    return undefined;
  const headBytes = strictBase64(head);
  const parsed = (signatures ?? '').split('\n').slice(0, -1).map(parseSignature);
  if (headBytes === undefined || parsed.includes(undefined)) return undefined;
  return {
    text,
    wsId,
    count: Number(count),
    head: `sha256:${headBytes.toString('hex')}`,
    indexHash,
    signatures: parsed.filter((signature) => signature !== undefined),
  };
}

/**
 * Whether the key signed the note. `verifierKey` is what `verifierKeyOf` makes; throws `TypeError` for anything else.
 * Signatures by other keys are passed over; `missing`: none is by this key.
 */
export function verifyCheckpoint(note: string, verifierKey: string): SignatureState {
  const { name, keyId, publicKey } = parseVerifierKey(verifierKey);
  const checkpoint = parseCheckpoint(note);
  if (checkpoint === undefined) return 'invalid';
  const ours = checkpoint.signatures.filter((found) => found.name === name && found.keyId.equals(keyId));
  if (ours.length === 0) return 'missing';
  const text = Buffer.from(checkpoint.text);
  return ours.every(({ value }) => verify(null, text, publicKey, value)) ? 'verified' : 'invalid';
}

/** A C2SP verifier key, `tallystick+<8 hex>+<base64>`, of an Ed25519 key, public or private. */
export function verifierKeyOf(key: KeyObject): string {
  const raw = rawPublicKey(key.type === 'private' ? createPublicKey(key) : key);
  const encoded = Buffer.concat([Buffer.of(ed25519), raw]).toString('base64');
  return `${keyName}+${keyIdOf(raw).toString('hex')}+${encoded}`;
}

function rawPublicKey(key: KeyObject): Buffer {
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('not an Ed25519 key');
  return key.export({ type: 'spki', format: 'der' }).subarray(spkiPrefix.length);
}

/** C2SP: the first four bytes of SHA-256 over the name, LF, the algorithm's byte and the public key. */
/** Taking the public half out of a key costs more than the signature. */
const keyIds = new WeakMap<KeyObject, Buffer>();

function keyIdOfSigner(signer: KeyObject): Buffer {
  let keyId = keyIds.get(signer);
  if (keyId === undefined) {
    keyId = keyIdOf(rawPublicKey(createPublicKey(signer)));
    keyIds.set(signer, keyId);
  }
  return keyId;
}

function keyIdOf(rawKey: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(`${keyName}\n`), Buffer.of(ed25519), rawKey]);
  return hash('sha256', named, 'buffer').subarray(0, 4);
}

function parseVerifierKey(verifierKey: string): { name: string; keyId: Buffer; publicKey: KeyObject } {
  const [, keyId, encoded] = /^tallystick\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(verifierKey) ?? [];
  const decoded = encoded === undefined ? undefined : strictBase64(encoded);
  if (keyId === undefined || decoded?.length !== 33 || decoded[0] !== ed25519)
    throw new TypeError('not a verifier key of the form tallystick+<8 hex>+<base64>');
  const raw = decoded.subarray(1);
  if (keyIdOf(raw).toString('hex') !== keyId)
    throw new TypeError('the verifier key does not match its own key id: it was mistyped');
  const publicKey = createPublicKey({
    key: Buffer.concat([spkiPrefix, raw]),
    format: 'der',
    type: 'spki',
  });
  return { name: keyName, keyId: Buffer.from(keyId, 'hex'), publicKey };
}

function parseSignature(line: string): ParsedCheckpoint['signatures'][number] | undefined {
  const [, name, encoded] = line.split(' ');
  const bytes = encoded === undefined ? undefined : strictBase64(encoded);
  if (name === undefined || bytes === undefined || bytes.length < 5) return undefined;
  return { name, keyId: bytes.subarray(0, 4), value: bytes.subarray(4) };
}

/** Node's decoder forgives what another would refuse; every byte of the note must count. */
function strictBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
