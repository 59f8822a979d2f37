export interface VerifyOptions {
  /** The newest receipt must have this hash, and CHECKPOINT must cover it. */
  readonly head?: string;
  /** C2SP verifier key: CHECKPOINT must be signed with it. */
  readonly key?: string;
  /** Without it, the workspace that CHECKPOINT names. */
  readonly wsId?: string;
  /**
   * The daemon's own copy: the chain must be exactly this. `signedCount`: receipts that the last CHECKPOINT it wrote
   * covers; an older one was put back. Not compared where it is not given. CHECKPOINT may be missing where this, or else
   * `count`, is 0.
   */
  readonly trusted?: { readonly count: number; readonly head: string; readonly signedCount?: number };
  /** Called a few times a second, with receipts found right and receipts there are. */
  readonly onProgress?: (checked: number, total: number) => void;
  /**
   * Called once what stands in the folder was taken in: receipts that are added from then on are not looked at. Until
   * then nothing may be written to the folder, or the verdict may be wrong.
   */
  readonly onTaken?: () => void;
  /** Ends the threads; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
}
