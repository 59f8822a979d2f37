import type { ChainVerdict } from '../contract/receipts.ts';
import type { ReceiptStore } from './receipt-store.ts';
import { verifyFolder } from './verifier/verify-folder.ts';

export interface VerifyChainOptions {
  /** Receipts found right, and receipts there are. */
  readonly onProgress: (checked: number, total: number) => void;
  /** Gives the verification up; it rejects with the reason. */
  readonly signal?: AbortSignal;
}

type VerifiedChain = Pick<
  ReceiptStore,
  'folder' | 'wsId' | 'head' | 'signedCount' | 'verifierKey' | 'repairs' | 'hold'
>;

/**
 * Verifies the whole chain as it is on the disk, against the head that the daemon remembers, in threads of its own. What
 * is added meanwhile is not looked at: a verification during which receipts came while it took in the folder is done
 * again, with the writers held for that moment.
 */
export async function verifyChain(store: VerifiedChain, options: VerifyChainOptions): Promise<ChainVerdict> {
  const first = await verifyOnce(store, options);
  if (first.verdict.valid || !first.disturbed) return first.verdict;
  using held = new DisposableStack();
  held.use(store.hold());
  const { verdict } = await verifyOnce(store, options, () => held.dispose());
  return verdict;
}

async function verifyOnce(
  store: VerifiedChain,
  { onProgress, signal }: VerifyChainOptions,
  onTaken?: () => void,
): Promise<{ verdict: ChainVerdict; disturbed: boolean }> {
  const { head, signedCount, verifierKey } = store;
  let disturbed = false;
  const verdict = await verifyFolder(store.folder, {
    wsId: store.wsId,
    trusted: { count: head.count, head: head.selfHash, signedCount },
    onProgress,
    onTaken: () => {
      disturbed = store.head.count !== head.count;
      onTaken?.();
    },
    ...(verifierKey === null ? {} : { key: verifierKey }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { verdict: { ...verdict, repairs: [...store.repairs] }, disturbed };
}
