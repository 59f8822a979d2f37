import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { CodedError } from '../../contract/errors.ts';
import { systemErrorCode } from '../../lib/durable-errors.ts';
import { writeDurably } from '../../lib/durable-file.ts';
import { checkInBoth, type HostKeyStatus, type HostName, lookupNames } from './check-host-key.ts';
import { keyTypeOf } from './key-blob.ts';
import { type KnownHost, parseKnownHosts } from './known-hosts.ts';

/**
 * The user's files, as one list; a file that is not there says nothing. Never written.
 *
 * @throws CodedError ssh_failed where a file is there and can't be read: it might revoke the key, or know another one
 */
export async function readKnownHosts(files: readonly string[]): Promise<KnownHost[]> {
  const texts = await Promise.all(files.map(readIfThere));
  return texts.flatMap(parseKnownHosts);
}

/** The host keys that the user accepted here, in a known_hosts file of our own, one line a key. */
export class AcceptedHostKeys {
  readonly #path: string;
  /** The last write under way: they go one after the other, each on top of what the one before left. */
  #turn: Promise<unknown> = Promise.resolve();

  /** `path` need not be there; its folder must. No other process writes to it. */
  constructor(path: string) {
    this.#path = path;
  }

  /** @throws CodedError ssh_failed where the file is there and can't be read */
  async read(): Promise<KnownHost[]> {
    return parseKnownHosts(await readIfThere(this.#path));
  }

  /**
   * Makes an unknown key known, from the moment the promise resolves also after a loss of power. A key that is changed
   * or revoked by then, according to the user's files (`theirs`) or to ours, is not written.
   *
   * @returns what holds afterwards: `known`, `changed` or `revoked`
   * @throws StorageFullError, StorageFailedError
   */
  accept(host: HostName, key: Buffer, theirs: readonly KnownHost[]): Promise<HostKeyStatus> {
    const accepted = this.#turn.then(() => this.#accept(host, key, theirs));
    this.#turn = accepted.catch(() => {}); // The caller has the failure; the next one begins afresh.
    return accepted;
  }

  async #accept(host: HostName, key: Buffer, theirs: readonly KnownHost[]): Promise<HostKeyStatus> {
    const text = await readIfThere(this.#path);
    const found = checkInBoth(theirs, parseKnownHosts(text), host, key);
    if (found.status !== 'unknown') return found;
    const before = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    const [name] = lookupNames(host);
    if (!isPlainName(name))
      throw new CodedError('ssh_host_unsupported', `${name} can not stand in a known_hosts file`);
    await writeDurably(this.#path, `${before}${name} ${keyTypeOf(key)} ${key.toString('base64')}\n`);
    return { status: 'known' };
  }
}

/** A name from the configuration that would be read as a pattern, a list or a comment would vouch for other hosts. */
function isPlainName(name: string): boolean {
  return /^[^\s,*?!#|@]+$/.test(name);
}

/** A device (`/dev/null` is a common choice) or a FIFO says nothing; it is not waited for. */
async function readIfThere(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = await file.stat();
    return stat.isFile() || stat.isDirectory() ? await file.readFile('utf8') : '';
  } catch (error) {
    const code = systemErrorCode(error);
    // A name below a file that is no folder is not there either.
    if (code === 'ENOENT' || code === 'ENOTDIR') return '';
    throw new CodedError('ssh_failed', `the known hosts can't be read: ${path} (${code})`, { cause: error });
  }
}
