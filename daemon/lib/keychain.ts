/** A place of the operating system for one secret. Its calls reject with `KeychainError`. */
export interface Keychain {
  /** Null where it holds no such secret, or where it is locked and does not say so: see `proveUnlocked`. */
  get(): Promise<string | null>;
  set(secret: string): Promise<void>;
  /** Resolves where there was none, too. */
  remove(): Promise<void>;
}

/**
 * `locked`: it has to be unlocked, or was never set up; `silent`: it did not answer in time, as when a dialog of its own
 * waits for a password; `unreachable`: there is none, or none that works.
 */
export type KeychainFault = 'locked' | 'silent' | 'unreachable';

export class KeychainError extends Error {
  override readonly name = 'KeychainError';
  readonly fault: KeychainFault;

  constructor(fault: KeychainFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** Longer than a keychain needs, short enough for a caller to wait; a dialog of the keychain's own may stay open. */
const answerMs = 3_000;

/** The user's keychain: macOS Keychain, Windows Credential Manager, Secret Service. Loaded with the first call. */
export function systemKeychain(service: string, account: string): Keychain {
  // Made anew for each call: on Linux it belongs to a session that ends with the keyring's daemon.
  const entry = async () => {
    const { AsyncEntry } = await import('keytar');
    // Unpinned it would fall back to kernel keys, which a reboot loses, and not say so.
    return new AsyncEntry(service, account, { linux: { store: 'secret-service' } });
  };
  return boundedKeychain({
    get: () => translated(async () => (await entry()).getPassword()),
    set: (secret) => translated(async () => (await entry()).setPassword(secret)),
    remove: () => translated(async () => void (await (await entry()).deletePassword())),
  });
}

/**
 * Rejects where the keychain does not answer in time. What it was asked may still happen; what comes after waits for it,
 * and is not asked at all where that takes too long: one call at a time is with the keychain, as each holds a thread.
 */
export function boundedKeychain(keychain: Keychain, timeoutMs = answerMs): Keychain {
  let last: Promise<unknown> = Promise.resolve();
  const ask = async <T>(call: () => Promise<T>): Promise<T> => {
    const late = new KeychainError('silent', `The keychain did not answer within ${timeoutMs} ms.`);
    let expired = false;
    const answer = last.then(() => {
      if (expired) throw late;
      return call();
    });
    // Its caller hears of a failure; who comes next only has to know that it is over.
    last = answer.catch(() => undefined);
    try {
      return await inTime(answer, timeoutMs, late);
    } finally {
      expired = true;
    }
  };
  return {
    get: () => ask(() => keychain.get()),
    set: (secret) => ask(() => keychain.set(secret)),
    remove: () => ask(() => keychain.remove()),
  };
}

/**
 * Resolves once the keychain that `probe` is an entry of is known to be unlocked, as it has taken, kept and given up a
 * value: until then, an entry that is not found may be there all the same. `probe` is an entry for this purpose alone.
 *
 * @throws KeychainError
 */
export async function proveUnlocked(probe: Keychain, value: string): Promise<void> {
  await probe.set(value);
  if ((await probe.get()) !== value)
    throw new KeychainError('unreachable', 'The keychain does not keep what it is given.');
  await probe.remove();
}

async function inTime<T>(work: Promise<T>, timeoutMs: number, late: Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The binding tells its failures apart by their text alone. */
async function translated<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const fault = message.startsWith("Couldn't access platform storage") ? 'locked' : 'unreachable';
    throw new KeychainError(fault, message, { cause: error });
  }
}
