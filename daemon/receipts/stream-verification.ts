import type { Writable } from 'node:stream';
import type { ChainVerdict, VerifyFrame } from '../contract/receipts.ts';
import type { ReceiptStore } from './receipt-store.ts';
import { verifyChain } from './verify-chain.ts';

/** A verification under way whose frames go to a client. */
export interface VerificationStream {
  readonly closed: boolean;
  cut(frame: object): void;
  destroy(): void;
}

const progressEveryMs = 100;
/** The store's own words, where verification itself can't go on. */
const frameOf = (frame: VerifyFrame) => `data: ${JSON.stringify(frame)}\n\n`;
