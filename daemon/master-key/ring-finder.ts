import type { MasterKeyId } from '../contract/master-key.ts';
import { type FindRingOptions, type FoundRing, findRing } from './find-ring.ts';
import type { MasterKeyRecord } from './store.ts';

export interface RingFinderOptions extends Pick<FindRingOptions, 'sources' | 'hasStores'> {
  readonly record: () => MasterKeyRecord;
  readonly onNotice: (message: string) => void;
}

/** Finds the keys that the record names. A ring is kept for as long as the record says the same; all else is asked again. */
export class RingFinder {
  readonly #options: RingFinderOptions;
  #kept: { readonly record: MasterKeyRecord; readonly found: FoundRing } | undefined;
  #looking: Promise<FoundRing> | undefined;
  readonly #reported = new Set<MasterKeyId>();

  constructor(options: RingFinderOptions) {
    this.#options = options;
  }

  /** One look at a time: who comes meanwhile shares its answer, unless the record has changed since. */
  async look(): Promise<FoundRing> {
    for (;;) {
      const record = this.#options.record();
      if (this.#kept?.record === record) return this.#kept.found;
      this.#looking ??= this.#find(record).finally(() => {
        this.#looking = undefined;
      });
      const found = await this.#looking;
      if (this.#options.record() === record) return found;
    }
  }

  /** To be called where a key was put in place of another. */
  forget(): void {
    this.#kept = undefined;
  }

  async #find(record: MasterKeyRecord): Promise<FoundRing> {
    const { sources, hasStores } = this.#options;
    const onMissing = (keyId: MasterKeyId) => this.#reportMissing(keyId);
    const found = await findRing({ sources, record, hasStores, onMissing });
    if ('ring' in found && record.key_id !== null) this.#kept = { record, found };
    return found;
  }

  #reportMissing(keyId: MasterKeyId): void {
    if (this.#reported.has(keyId)) return;
    this.#reported.add(keyId);
    this.#options.onNotice(
      `The old master key ${keyId} is gone, which was kept for workspaces that a rotation could not reach.`,
    );
  }
}
