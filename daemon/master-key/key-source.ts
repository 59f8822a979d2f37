import type { MasterKeySource } from '../contract/master-key.ts';
import { type Keychain, KeychainError } from '../lib/keychain.ts';
import { type MasterKey, readMasterKey } from './key-format.ts';
import { type KeyPlace, keychainPlace } from './key-place.ts';
import { KeyFileError, keyFiles } from './store.ts';

export interface KeySourceOptions {
  /** `SERVICE_SECRET_KEY` as it is; undefined where it is not set. */
  readonly environmentKey: string | undefined;
  /** Absolute. */
  readonly keyFile: string;
  /** Whether the keychain is asked where the file is not there; the file that is looked for by default may be missing. */
  readonly keyFileMayBeMissing?: boolean;
  /** The entry of an account; undefined where no keychain may be asked. */
  readonly keychain: ((account: string) => Keychain) | undefined;
}

/** Where the file is looked for that `--key-file` does not name. It need not be there; one that was named must. */
export const defaultKeyFile = '/etc/service/secret_key';

/** Why there is no key to work with, and what to do. The detail is for the user. */
export interface KeyFault {
  readonly code: 'master_key_locked' | 'master_key_unavailable';
  readonly detail: string;
}

/** What the first source that has a say answers. */
export type AskedSource =
  | { readonly source: 'environment'; readonly place: null; readonly key: MasterKey }
  | { readonly source: 'file' | 'keychain'; readonly place: KeyPlace; readonly key: MasterKey | null }
  | { readonly source: MasterKeySource | null; readonly fault: KeyFault; readonly garbage?: KeyPlace };

/** The sources of the master key in their order: environment, key file, keychain. */
export class KeySources {
  readonly #environmentKey: string | undefined;
  readonly #fileMayBeMissing: boolean;
  /** For messages, which name no file of the user's. */
  readonly #fileName: string;
  readonly files: ReturnType<typeof keyFiles>;
  readonly keychain: KeyPlace | undefined;

  constructor({ environmentKey, keyFile, keychain, ...options }: KeySourceOptions) {
    this.#environmentKey = environmentKey;
    this.#fileMayBeMissing = options.keyFileMayBeMissing ?? keyFile === defaultKeyFile;
    this.#fileName =
      keyFile === defaultKeyFile ? `The key file ${defaultKeyFile}` : 'The key file that --key-file names';
    this.files = keyFiles(keyFile, this.#fileName);
    this.keychain = keychain && keychainPlace(keychain);
  }

  /** All that can hold keys. */
  get places(): readonly KeyPlace[] {
    return this.keychain === undefined ? [this.files] : [this.files, this.keychain];
  }

  /** What is there and can't be used is a fault: another source never takes its place. Does not reject. */
  async ask(): Promise<AskedSource> {
    if (this.#environmentKey !== undefined) return environmentSource(this.#environmentKey);
    const inFile = await currentOf(this.files, this.#fileName);
    if ('fault' in inFile || inFile.key !== null || !this.#fileMayBeMissing) return inFile;
    if (this.keychain === undefined) return { source: null, fault: nowhere };
    return currentOf(this.keychain, 'The entry master-key of the keychain');
  }

  /** What to tell where the source was asked and has no key. */
  whatToDo(source: MasterKeySource): string {
    const restore = 'Import the exported key in the panel';
    return source === 'file'
      ? `${this.#fileName} is not there. ${restore}, or put the key into it, with mode 600.`
      : `The keychain has no master key. ${restore}, or give it with SERVICE_SECRET_KEY or a key file.`;
  }
}

/** What a failed call on a place of keys means. Rethrows what is no fault of the place. */
export function faultOf(error: unknown): KeyFault {
  if (error instanceof KeyFileError) return { code: 'master_key_unavailable', detail: error.message };
  if (!(error instanceof KeychainError)) throw error;
  switch (error.fault) {
    case 'locked':
      return {
        code: 'master_key_locked',
        detail: `The keychain is locked, or was never set up. Unlock it and try again. (${error.message})`,
      };
    case 'silent':
      return {
        code: 'master_key_locked',
        detail: 'The keychain does not answer: it may be asking for its password. Unlock it and try again.',
      };
    case 'unreachable':
      return {
        code: 'master_key_unavailable',
        detail: `The keychain can not be reached. ${giveKey} (${error.message})`,
      };
    default:
      return error.fault satisfies never;
  }
}

const giveKey = `Give the master key with SERVICE_SECRET_KEY or in the file ${defaultKeyFile}, and start the service again.`;

const nowhere: KeyFault = {
  code: 'master_key_unavailable',
  detail: `There is no master key, and no keychain to keep one in. ${giveKey}`,
};

const format = 'a key is 32 bytes as base64url: 43 characters and =';

function environmentSource(text: string): AskedSource {
  const key = readMasterKey(text);
  if (key !== undefined) return { source: 'environment', place: null, key };
  const detail = `SERVICE_SECRET_KEY is set, but is not a master key (${format}). Set it right, or unset it, and start the service again.`;
  return { source: 'environment', fault: { code: 'master_key_unavailable', detail } };
}

async function currentOf(place: KeyPlace, name: string): Promise<AskedSource> {
  const { source } = place;
  try {
    const text = await place.read('current');
    if (text === null) return { source, place, key: null };
    const key = readMasterKey(text);
    if (key !== undefined) return { source, place, key };
    const detail = `${name} holds something that is not a master key (${format}). Import the exported key in the panel.`;
    return { source, fault: { code: 'master_key_unavailable', detail }, garbage: place };
  } catch (error) {
    return { source, fault: faultOf(error) };
  }
}
