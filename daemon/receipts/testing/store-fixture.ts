import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { newId } from '../../lib/ids.ts';
import { type TempFolder, tempFolder } from '../../lib/testing/temp-folder.ts';
import { verifierKeyOf } from '../checkpoint-note.ts';
import { ReceiptStore } from '../receipt-store.ts';
import type { ReceiptStoreOptions, TrustedCheckpoint } from '../receipt-store-options.ts';

export interface StoreFixture extends AsyncDisposable {
  readonly folder: string;
  readonly wsId: string;
  readonly notices: string[];
  /** What the daemon remembers outside the folder. */
  trusted: { readonly count: number; readonly head: string } | null;
  /** Each count that it was told, in order. */
  readonly toldCounts: number[];
  /** Opens the folder as a daemon does that has just started. */
  open(options?: Partial<ReceiptStoreOptions>): Promise<ReceiptStore>;
}

/** A folder for receipts, and what a daemon keeps beside it. */
export async function storeFixture(): Promise<StoreFixture> {
  const temp: TempFolder = await tempFolder();
  const folder = join(temp.path, 'receipts');
  const wsId = newId('ws');
  const { privateKey: signer } = generateKeyPairSync('ed25519');
  const notices: string[] = [];
  const fixture: StoreFixture = {
    folder,
    wsId,
    notices,
    trusted: null,
    toldCounts: [],
    open: (options = {}) => ReceiptStore.open({ ...basics, ...options }),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
  const trusted: TrustedCheckpoint = {
    get: () => fixture.trusted,
    set: (checkpoint) => {
      fixture.trusted = checkpoint;
      fixture.toldCounts.push(checkpoint.count);
    },
  };
  const basics: ReceiptStoreOptions = {
    folder,
    wsId,
    trusted,
    signingKey: { signer, verifierKey: verifierKeyOf(signer) },
    onNotice: (message) => notices.push(message),
  };
  return fixture;
}
