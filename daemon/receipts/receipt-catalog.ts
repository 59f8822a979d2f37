/**
 * What the daemon keeps in memory of every receipt: 22 bytes, no object. Row n stands for the n-th line of INDEX.jsonl;
 * in a whole chain that is the receipt with `seq` n + 1.
 */
export class ReceiptCatalog {
  #count = 0;
  /** 0 where the line could not be read. */
  #seqs = new Uint32Array(64);
  /** YYYYMMDD as a number. */
  #dates = new Uint32Array(64);
  #suffixes = new Uint16Array(64);
  #runs = new Uint32Array(64);
  /** Offset in INDEX.jsonl just behind the line. */
  #ends = new Float64Array(64);
  /** Rows, from the first, whose `seq` is what it should be. */
  #inOrder = 0;

  get count(): number {
    return this.#count;
  }

  /** Bytes of INDEX.jsonl that the rows stand for. */
  get endOffset(): number {
    return this.#ends[this.#count - 1] ?? 0;
  }

  /** Memory that the rows take, with what is kept free for more. */
  get allocatedBytes(): number {
    const columns = [this.#seqs, this.#dates, this.#suffixes, this.#runs, this.#ends];
    return columns.reduce((total, { byteLength }) => total + byteLength, 0);
  }

  /** The first row that is not in its place; undefined in a whole chain. */
  get firstOddRow(): number | undefined {
    return this.#inOrder === this.#count ? undefined : this.#inOrder;
  }

  /** `receiptId` is null for a line that could not be read. */
  add({ receiptId, runId, bytes }: { receiptId: string | null; runId: string; bytes: number }): void {
    if (this.#count === this.#seqs.length) this.#grow();
    const row = this.#count;
    const parts = receiptId === null ? null : partsOf(receiptId);
    this.#seqs[row] = parts?.seq ?? 0;
    this.#dates[row] = parts?.date ?? 0;
    this.#suffixes[row] = parts?.suffix ?? 0;
    this.#runs[row] = hashOf(runId);
    this.#ends[row] = this.endOffset + bytes;
    this.#count += 1;
    if (this.#inOrder === row && parts?.seq === row + 1) this.#inOrder += 1;
  }

  /** Forgets the rows from `count` on. */
  truncate(count: number): void {
    this.#count = Math.min(this.#count, count);
    this.#inOrder = Math.min(this.#inOrder, count);
  }

  /** Null past the end, and for a line that could not be read. */
  idAt(row: number): string | null {
    const seq = row < this.#count ? this.#seqs[row] : undefined;
    if (seq === undefined || seq === 0) return null;
    const suffix = (this.#suffixes[row] ?? 0).toString(16).padStart(4, '0');
    return `rcpt_${String(this.#dates[row]).padStart(8, '0')}_${String(seq).padStart(8, '0')}${suffix}`;
  }

  /** The row of a receipt; undefined where it has none. */
  rowOf(receiptId: string): number | undefined {
    const parts = partsOf(receiptId);
    if (parts === null) return undefined;
    const row = this.rowOfSeq(parts.seq);
    return row !== undefined && this.idAt(row) === receiptId ? row : undefined;
  }

  /** The first row with that position in the chain; at once where the chain is whole. */
  rowOfSeq(seq: number): number | undefined {
    const guess = seq - 1;
    if (guess < 0) return undefined;
    if (guess < this.#count && this.#seqs[guess] === seq) return guess;
    if (this.firstOddRow === undefined) return undefined;
    for (let row = 0; row < this.#count; row += 1) if (this.#seqs[row] === seq) return row;
    return undefined;
  }

  /** Where a row's line, with its line feed, begins and ends in INDEX.jsonl. */
  extentOf(row: number): { readonly start: number; readonly end: number } | undefined {
    const end = row < this.#count ? this.#ends[row] : undefined;
    return end === undefined ? undefined : { start: this.#ends[row - 1] ?? 0, end };
  }

  /** Rows that may belong to a run, from `below` downwards, newest first: two runs can share a hash. */
  *rowsOfRun(runId: string, below = this.#count): Generator<number> {
    const hash = hashOf(runId);
    for (let row = Math.min(below, this.#count) - 1; row >= 0; row -= 1)
      if (this.#runs[row] === hash) yield row;
  }

  #grow(): void {
    // By half: at 100,000 receipts, doubling could leave twice the memory unused.
    const size = Math.ceil(this.#count * 1.5);
    this.#seqs = grown(this.#seqs, new Uint32Array(size));
    this.#dates = grown(this.#dates, new Uint32Array(size));
    this.#suffixes = grown(this.#suffixes, new Uint16Array(size));
    this.#runs = grown(this.#runs, new Uint32Array(size));
    this.#ends = grown(this.#ends, new Float64Array(size));
  }
}

/** The position in the chain that a receipt's name bears; null where it is no receipt's name. */
export function seqOfId(receiptId: string): number | null {
  return partsOf(receiptId)?.seq ?? null;
}

const receiptIdForm = /^rcpt_(\d{8})_(\d{8})([0-9a-f]{4})$/;

function partsOf(receiptId: string): { seq: number; date: number; suffix: number } | null {
  const match = receiptIdForm.exec(receiptId);
  if (match === null) return null;
  const [, date = '', seq = '', suffix = ''] = match;
  return { seq: Number(seq), date: Number(date), suffix: Number.parseInt(suffix, 16) };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function grown<T extends Uint32Array | Uint16Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
