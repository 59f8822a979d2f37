import type { ChainVerdict, Fault } from '../../contract/receipts.ts';
import { type ParsedCheckpoint, parseCheckpoint } from '../checkpoint-note.ts';
import { genesisHash } from '../receipt-format.ts';
import {
  chainFault,
  faultAfter,
  faultBefore,
  type IndexedChain,
  neverWritten,
  type Signature,
  signatureOf,
} from './chain-faults.ts';
import { type FolderContent, readFolder, UnfitFileError } from './read-folder.ts';
import { inlineRunner, type TaskRunner, threadRunner } from './run-tasks.ts';
import { type ChainResult, verifyChain } from './verify-chain.ts';
import type { VerifyOptions } from './verify-options.ts';

/** A shorter index is verified in this thread: starting others takes longer. */
const inlineIndexBytes = 256 * 1024;
/** Some nine receipts between two turns of the event loop. */
const inlineRangeBytes = 8 * 1024;
const threads = 2;

/**
 * Verifies a receipts folder as it is stored, in the order that docs/receipts.md gives, up to the first fault. It knows
 * nothing of the daemon's store, and holds no more in memory for a long chain than for a short one. Throws `TypeError`
 * for a key that is none, and the system's error where the folder can't be read.
 */
export async function verifyFolder(folder: string, options: VerifyOptions = {}): Promise<ChainVerdict> {
  let content: FolderContent;
  try {
    content = await readFolder(folder);
  } catch (error) {
    if (!(error instanceof UnfitFileError)) throw error;
    return verdictOf({ fault: chainFault(error.field, error.message), signature: 'missing', options });
  } finally {
    options.onTaken?.();
  }
  try {
    return await verifyContent(folder, content, options);
  } finally {
    await content.index?.handle.close();
  }
}

async function verifyContent(
  folder: string,
  content: FolderContent,
  options: VerifyOptions,
): Promise<ChainVerdict> {
  const note = content.checkpoint;
  const checkpoint = note === undefined ? neverWritten(options) : parseCheckpoint(note);
  const signature = signatureOf(note, checkpoint, options.key);
  const first = faultBefore(content, { checkpoint, signature, options });
  if (first !== undefined || checkpoint === undefined)
    return verdictOf({ fault: first, signature, checkpoint, options });
  const { index } = content;
  await using runner = (index?.size ?? 0) < inlineIndexBytes ? inlineRunner() : threadRunner(threads);
  const chain = await untilAborted(
    verifyIndexed(runner, { folder, content, checkpoint, signed: signature === 'verified', options }),
    options.signal,
  );
  const fault = chain.fault ?? (await faultAfter(folder, { content, checkpoint, chain, options }));
  return verdictOf({ fault, signature, checkpoint, chain, options });
}

interface Indexed {
  readonly folder: string;
  readonly content: FolderContent;
  readonly checkpoint: ParsedCheckpoint;
  /** By a key that the caller trusts. */
  readonly signed: boolean;
  readonly options: VerifyOptions;
}

/**
 * Lines that are signed as they are need their digests made again only if their hash is not the signed one: that is found
 * out at the same time, and then all is done once more.
 */
async function verifyIndexed(runner: TaskRunner, indexed: Indexed): Promise<IndexedChain> {
  const { folder, content, checkpoint, signed, options } = indexed;
  const index = content.index?.handle.fd ?? -1;
  const shared = { index, indexSize: content.index?.size ?? 0 };
  const task = {
    ...shared,
    folder,
    wsId: checkpoint.wsId,
    genesis: genesisHash(checkpoint.wsId),
    markSeq: checkpoint.count,
    ...(runner.threads === 1 ? { rangeBytes: inlineRangeBytes } : {}),
    onProgress: (checked: number) => options.onProgress?.(checked, content.receiptCount),
  };
  const [indexHash, chain] = await Promise.all([
    runner.hashIndex({ ...shared, lines: checkpoint.count }),
    verifyChain(runner, { ...task, signedLines: signed ? checkpoint.count : 0 }),
  ]);
  if (!signed || indexHash === checkpoint.indexHash || chain.fault !== undefined)
    return { ...chain, indexHash };
  return { ...(await verifyChain(runner, { ...task, signedLines: 0 })), indexHash };
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  // Its threads are ended by the caller; that they had no answer is no news then.
  work.catch(() => undefined);
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

interface Outcome {
  readonly fault: Fault | undefined;
  readonly signature: Signature;
  readonly checkpoint?: ParsedCheckpoint | undefined;
  readonly chain?: ChainResult;
  readonly options: VerifyOptions;
}

function verdictOf({ fault, signature, checkpoint, chain, options }: Outcome): ChainVerdict {
  const checked = chain?.checked ?? 0;
  return {
    valid: fault === undefined,
    fault: fault ?? null,
    checked,
    count: Math.max(checked, checkpoint?.count ?? 0, options.trusted?.count ?? 0),
    head: fault === undefined ? (chain?.lastHash ?? null) : null,
    signature,
    repairs: [],
  };
}
