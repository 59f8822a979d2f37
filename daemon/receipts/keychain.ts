/** A place of the operating system for one secret. Its calls reject where it is locked or can't be reached. */
export interface Keychain {
  /** Null where it holds no such secret. */
  get(): Promise<string | null>;
  set(secret: string): Promise<void>;
}

/** Longer than a keychain needs, short enough for a caller to wait; a dialog of the keychain's own may stay open. */
const answerMs = 3_000;

/** The user's keychain: macOS Keychain, Windows Credential Manager, Secret Service. Loaded with the first call. */
export function systemKeychain(service: string, account: string): Keychain {
  const entry = async () => {
    const { AsyncEntry } = await import('keytar');
    // Unpinned it would fall back to kernel keys, which a reboot loses, and not say so.
    return new AsyncEntry(service, account, { linux: { store: 'secret-service' } });
  };
  return boundedKeychain({
    get: async () => (await entry()).getPassword(),
    set: async (secret) => (await entry()).setPassword(secret),
  });
}

/** Rejects where the keychain does not answer in time. What it was asked may still happen. */
export function boundedKeychain(keychain: Keychain, timeoutMs = answerMs): Keychain {
  return {
    get: () => inTime(keychain.get(), timeoutMs),
    set: (secret) => inTime(keychain.set(secret), timeoutMs),
  };
}

async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`The keychain did not answer within ${timeoutMs} ms.`)),
    timeoutMs,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
