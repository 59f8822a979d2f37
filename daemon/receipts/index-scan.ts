import { createHash, type Hash } from 'node:crypto';
import { ReceiptCatalog } from './receipt-catalog.ts';
import { openPlainFile } from './store.ts';

export interface ScannedIndex {
  readonly catalog: ReceiptCatalog;
  /** SHA-256 so far over the bytes that the catalog stands for. */
  readonly digest: Hash;
  /** `self_hash` of the last line; null where there is none, or it could not be read. */
  readonly lastHash: string | null;
  /** Bytes behind the last line feed: what a crash left of a line. */
  readonly tornBytes: number;
}

/** What the daemon needs of an index line. */
export interface IndexEntry {
  readonly receiptId: string;
  readonly runId: string;
  readonly selfHash: string;
}

const chunkBytes = 256 * 1024;
/** No line is longer: its fields are digests, and their names are the format's. */
const maxLineBytes = 64 * 1024;

/**
 * Reads INDEX.jsonl once, from the beginning, a chunk at a time, so that requests are answered in between. A missing file
 * is an empty one. Lines are not parsed: their end, where the ids stand, has a fixed form.
 */
export async function scanIndex(path: string): Promise<ScannedIndex> {
  const scan = new IndexScan();
  const file = await openPlainFile(path);
  if (file === null) return scan.result();
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes);
      if (bytesRead === 0) return scan.result();
      scan.take(chunk.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** Undefined where the line does not end as those of the daemon do. */
export function parseIndexLine(line: string): IndexEntry | undefined {
  const [, receiptId, runId, selfHash] = lineEndForm.exec(line) ?? [];
  if (receiptId === undefined || runId === undefined || selfHash === undefined) return undefined;
  return { receiptId, runId, selfHash };
}

const lineEndForm =
  /"receipt_id":"(rcpt_\d{8}_\d{8}[0-9a-f]{4})","run_id":"([^"\\]{1,64})","self_hash":"(sha256:[0-9a-f]{64})","seq":\d{1,8},"timestamp":"[^"\\]{1,40}"\}\n$/;
/** The part of a line that the form above looks at is not longer. */
const lineEndBytes = 320;

class IndexScan {
  readonly #catalog = new ReceiptCatalog();
  #digest = createHash('sha256');
  /** As it was before the line that is being skipped. */
  #digestBefore: Hash | undefined;
  #lastHash: string | null = null;
  /** The beginning of a line whose rest is in the next chunk. */
  #carry = Buffer.alloc(0);
  /** Bytes of that line that are too many to be kept. */
  #skipped = 0;

  take(chunk: Buffer): void {
    let from = 0;
    for (let feed = chunk.indexOf(10); feed >= 0; feed = chunk.indexOf(10, from)) {
      this.#line(chunk, from, feed + 1);
      from = feed + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  result(): ScannedIndex {
    const tornBytes = this.#carry.length + this.#skipped;
    const digest = this.#digestBefore ?? this.#digest;
    return { catalog: this.#catalog, digest, lastHash: this.#lastHash, tornBytes };
  }

  #line(chunk: Buffer, from: number, end: number): void {
    const carried = this.#carry.length;
    const line =
      carried === 0 ? chunk.subarray(from, end) : Buffer.concat([this.#carry, chunk.subarray(from, end)]);
    const bytes = this.#skipped + line.length;
    const entry =
      this.#skipped > 0
        ? undefined
        : parseIndexLine(line.toString('latin1', Math.max(0, line.length - lineEndBytes)));
    this.#digest.update(line);
    this.#catalog.add({ receiptId: entry?.receiptId ?? null, runId: entry?.runId ?? '', bytes });
    this.#lastHash = entry?.selfHash ?? null;
    this.#carry = Buffer.alloc(0);
    this.#skipped = 0;
    this.#digestBefore = undefined;
  }

  #keep(rest: Buffer): void {
    this.#carry = Buffer.concat([this.#carry, rest]);
    if (this.#carry.length <= maxLineBytes) return;
    this.#digestBefore ??= this.#digest.copy();
    this.#digest.update(this.#carry);
    this.#skipped += this.#carry.length;
    this.#carry = Buffer.alloc(0);
  }
}
