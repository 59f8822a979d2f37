import type { SealedReceipt } from './receipt-format.ts';
import type { SigningKey } from './signing-key.ts';
import type { DiskCalls } from './store.ts';

/** The daemon's own copy of the newest checkpoint, outside the folder that others could put back. */
export interface TrustedCheckpoint {
  get(): { readonly count: number; readonly head: string } | null;
  /** Called with every append, in order; may reach the disk later, but before the journal forgets the receipts. */
  set(checkpoint: { readonly count: number; readonly head: string }): void;
}

export interface ReceiptStoreOptions {
  /** `<data>/workspaces/<slug>/receipts`; made where it is missing. */
  readonly folder: string;
  readonly wsId: string;
  readonly signingKey: Pick<SigningKey, 'signer' | 'verifierKey'>;
  readonly trusted: TrustedCheckpoint;
  /**
   * What the journal holds and may not have reached this folder before a crash, oldest first. It is written again; what
   * of it is there already is left as it is.
   */
  readonly pending?: readonly SealedReceipt[];
  /** Told of repairs and of damage, in sentences for the user. */
  readonly onNotice: (message: string) => void;
  readonly disk?: DiskCalls;
}
