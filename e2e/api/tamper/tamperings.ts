import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Receipt } from '../../../daemon/contract/receipts.ts';
import { formatCheckpoint } from '../../../daemon/receipts/checkpoint-note.ts';
import { type SealedReceipt, sealReceipt } from '../../../daemon/receipts/receipt-format.ts';
import { draftOf, makeChain, writeReceipt } from '../../../daemon/receipts/testing/make-chain.ts';

/** A chain at rest, made by the daemon or by the format modules. At least five receipts. */
export interface Chain {
  readonly folder: string;
  readonly wsId: string;
  readonly head: string;
  /** C2SP verifier key. */
  readonly key: string;
  readonly receiptIds: readonly string[];
  /** What CHECKPOINT held two receipts earlier. */
  readonly olderCheckpoint: string;
}

/** A way to tamper with a copy of a chain. */
export interface Tampering {
  readonly name: string;
  /** What both verifiers must name; by position where it differs. */
  readonly field: string | ((position: Position) => string);
  /** What must be given so that it can be seen at all; without it, the folder alone shows it. */
  readonly needs?: readonly ('head' | 'key' | 'workspace')[];
  /** Not at each receipt, but once. */
  readonly once?: true;
  readonly apply: (files: ChainFiles, position: Position) => void;
}

export type Position = 'first' | 'middle' | 'last';

/** The files of a copied chain, and the receipt that is aimed at. */
export class ChainFiles {
  readonly chain: Chain;
  readonly folder: string;
  readonly seq: number;

  constructor(chain: Chain, folder: string, seq: number) {
    this.chain = chain;
    this.folder = folder;
    this.seq = seq;
  }

  id(seq = this.seq): string {
    return this.chain.receiptIds[seq - 1] ?? '';
  }
  path(name = `${this.id()}.json`): string {
    return join(this.folder, name);
  }
  text(seq = this.seq): string {
    return readFileSync(this.path(`${this.id(seq)}.json`), 'utf8');
  }
  receipt(seq = this.seq): Receipt {
    return JSON.parse(this.text(seq));
  }
  /** Replaces text in the receipt; the tampering is void if there is nothing to replace. */
  edit(search: string | RegExp, replacement: string): void {
    const text = this.text();
    const edited = text.replace(search, replacement);
    if (edited === text) throw new Error(`nothing to tamper with: ${search}`);
    writeFileSync(this.path(), edited);
  }
  /** Seals the receipt anew with changes, so that its hash is right again. */
  reseal(changes: object, seq = this.seq): SealedReceipt {
    const { self_hash: _, ...draft } = this.receipt(seq);
    const sealed = sealReceipt({ ...draft, ...changes });
    writeFileSync(this.path(`${this.id(seq)}.json`), sealed.bytes);
    return sealed;
  }
  get lines(): string[] {
    return readFileSync(this.path('INDEX.jsonl'), 'utf8').split('\n').slice(0, -1);
  }
  /** Rewrites the index. */
  index(change: (lines: string[]) => readonly string[]): void {
    writeFileSync(
      this.path('INDEX.jsonl'),
      change(this.lines)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
  /** Replaces the aimed receipt's line. */
  line(change: (line: string) => string): void {
    this.index((lines) => lines.map((line, at) => (at === this.seq - 1 ? change(line) : line)));
  }
  note(change: (note: string) => string): void {
    writeFileSync(this.path('CHECKPOINT'), change(readFileSync(this.path('CHECKPOINT'), 'utf8')));
  }
  /** A forged receipt that would stand at a position, after the receipt before it. */
  forge(seq: number, prevHash: string): SealedReceipt {
    return sealReceipt(draftOf({ seq, wsId: this.chain.wsId, prevHash }));
  }
  remove(name = `${this.id()}.json`): void {
    rmSync(this.path(name));
  }
}

const count = ({ chain }: ChainFiles) => chain.receiptIds.length;
const withLine = (line: string) => line.slice(0, -1);

/** Every row of the matrix. */
export const tamperings: readonly Tampering[] = [
  {
    name: 'a bit flipped in a value',
    field: 'files',
    apply: (files) => {
      const bytes = readFileSync(files.path());
      const at = bytes.indexOf('"after_hash":"sha256:') + 30;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(files.path(), bytes);
    },
  },
  {
    name: 'a bit flipped so that it is no JSON',
    field: 'guards',
    apply: (files) => files.edit('"guards":{"egress":"', '"guards":{"egress":\u0002'),
  },
  {
    name: 'a bit flipped in a name',
    field: 'user_id',
    apply: (files) => files.edit(',"user_id":', ',"urer_id":'),
  },
  {
    name: 'bytes that are not UTF-8',
    field: 'user_id',
    apply: (files) => {
      const bytes = readFileSync(files.path());
      bytes[bytes.indexOf('"user_id":"u_') + 14] = 0xff;
      writeFileSync(files.path(), bytes);
    },
  },
  {
    name: 'a field edited, its hash kept',
    field: 'user_id',
    apply: (files) => files.edit(/"user_id":"u_.{8}/, '"user_id":"u_zzzzzzzz'),
  },
  {
    name: 'seq edited, the hash kept',
    field: 'seq',
    apply: (files) => files.edit(/"seq":\d+/, '"seq":77'),
  },
  {
    name: 'self_hash edited',
    field: 'self_hash',
    apply: (files) => files.edit(/"self_hash":"sha256:.{16}/, '"self_hash":"sha256:0a0b0a0b0a0b0a0b'),
  },
  {
    name: 'a field edited, the hash made anew',
    field: 'symbols_checked',
    apply: (files) => files.reseal({ symbols_checked: 12 }),
  },
  {
    name: 'prev_receipt_hash edited, the hash made anew',
    field: 'prev_receipt_hash',
    apply: (files) => files.reseal({ prev_receipt_hash: `sha256:${'0'.repeat(64)}` }),
  },
  {
    name: 'workspace_id edited, the hash and the index line made anew',
    field: 'workspace_id',
    apply: (files) => {
      const sealed = files.reseal({ workspace_id: 'ws_0000000000000000' });
      files.line(() => withLine(sealed.indexLine));
    },
  },
  {
    name: 'a field edited, the hash and the index line made anew',
    field: (position) => (position === 'last' ? 'checkpoint' : 'prev_receipt_hash'),
    apply: (files) => {
      const sealed = files.reseal({ symbols_checked: 12 });
      files.line(() => withLine(sealed.indexLine));
    },
  },
  {
    name: 'a key twice',
    field: 'duplicate_key',
    apply: (files) => files.edit(/("seq":\d+)/, '$1,$1'),
  },
  {
    name: 'a key twice, inside',
    field: 'duplicate_key',
    apply: (files) => files.edit('"usd":', '"usd":0,"usd":'),
  },
  {
    name: 'a key twice, once written with an escape',
    field: 'duplicate_key',
    apply: (files) => files.edit(/("seq":\d+)/, '"s\\u0065q":1,$1'),
  },
  { name: 'white space', field: 'canonical_form', apply: (files) => files.edit('"seq":', '"seq": ') },
  { name: 'a second LF', field: 'canonical_form', apply: (files) => files.edit(/$/, '\n') },
  { name: 'no LF', field: 'canonical_form', apply: (files) => files.edit(/\n$/, '') },
  { name: 'CR LF', field: 'canonical_form', apply: (files) => files.edit(/\n$/, '\r\n') },
  { name: 'a byte order mark', field: 'canonical_form', apply: (files) => files.edit(/^/, '\ufeff') },
  { name: 'an escape', field: 'canonical_form', apply: (files) => files.edit('"path":"', '"p\\u0061th":"') },
  { name: 'an escaped slash', field: 'canonical_form', apply: (files) => files.edit('/', '\\/') },
  {
    name: '1.0 for 1',
    field: 'canonical_form',
    apply: (files) => files.edit(/"seq":(\d+)/, '"seq":$1.0'),
  },
  {
    name: '-0 for 0',
    field: 'canonical_form',
    apply: (files) => files.edit('"symbols_checked":0', '"symbols_checked":-0'),
  },
  {
    name: 'an exponent',
    field: 'canonical_form',
    apply: (files) => files.edit('"symbols_checked":0', '"symbols_checked":0e0'),
  },
  {
    name: 'members in another order',
    field: 'canonical_form',
    apply: (files) => files.edit(/^\{("action":"[a-z]+"),("actor":\{[^}]*\})/, '{$2,$1'),
  },
  {
    name: 'self_hash in another place',
    field: 'canonical_form',
    apply: (files) => files.edit(/(,"self_hash":"[^"]*")(,"seq":\d+)/, '$2$1'),
  },
  {
    name: 'a field added',
    field: 'note',
    apply: (files) => files.edit(',"prev_receipt_hash"', ',"note":"x","prev_receipt_hash"'),
  },
  {
    name: 'a field added, the hash made anew',
    field: 'note',
    apply: (files) => files.reseal({ note: 'x' }),
  },
  { name: 'a field removed', field: 'guards', apply: (files) => files.edit(/"guards":\{[^}]*\},/, '') },
  {
    name: 'a field removed, the hash made anew',
    field: 'guards',
    apply: (files) => {
      const { self_hash: _, guards: __, ...draft } = files.receipt();
      writeFileSync(files.path(), sealReceipt(draft as Receipt).bytes);
    },
  },
  { name: 'self_hash removed', field: 'self_hash', apply: (files) => files.edit(/"self_hash":"[^"]*",/, '') },
  { name: 'the file emptied', field: 'action', apply: (files) => writeFileSync(files.path(), '') },
  { name: 'the file deleted', field: 'file', apply: (files) => files.remove() },
  {
    name: 'the file and its index line deleted',
    field: (position) => (position === 'last' ? 'checkpoint' : 'index'),
    apply: (files) => {
      files.remove();
      files.index((lines) => lines.filter((_, at) => at !== files.seq - 1));
    },
  },
  {
    name: 'the chain cut behind it, index and all',
    field: 'checkpoint',
    apply: (files) => {
      for (let seq = files.seq; seq <= count(files); seq += 1) files.remove(`${files.id(seq)}.json`);
      files.index((lines) => lines.slice(0, files.seq - 1));
    },
  },
  {
    name: 'all receipts deleted',
    field: 'file',
    once: true,
    apply: (files) => {
      for (const receiptId of files.chain.receiptIds) files.remove(`${receiptId}.json`);
    },
  },
  {
    name: 'all receipts and the index deleted',
    field: 'index',
    once: true,
    apply: (files) => {
      for (const receiptId of files.chain.receiptIds) files.remove(`${receiptId}.json`);
      files.remove('INDEX.jsonl');
    },
  },
  {
    name: 'everything deleted',
    field: 'checkpoint',
    once: true,
    needs: ['head'],
    apply: (files) => {
      for (const name of readdirSync(files.folder)) files.remove(name);
    },
  },
  {
    name: 'two receipts swapped',
    field: 'receipt_id',
    apply: (files) => {
      const other = files.seq === 1 ? 2 : files.seq - 1;
      const [mine, theirs] = [files.text(), files.text(other)];
      writeFileSync(files.path(), theirs);
      writeFileSync(files.path(`${files.id(other)}.json`), mine);
    },
  },
  {
    name: 'a forged receipt put in',
    field: 'file',
    apply: (files) => {
      const { receipt, bytes } = files.forge(files.seq + 1, files.receipt().self_hash);
      writeFileSync(files.path(`${receipt.receipt_id}.json`), bytes);
    },
  },
  {
    name: 'a forged receipt put in with its index line',
    field: 'index',
    apply: (files) => {
      // Behind the last one it is an appended one, which has its own row.
      const after = Math.min(files.seq, count(files) - 1);
      const { receipt, bytes, indexLine } = files.forge(after + 1, files.receipt(after).self_hash);
      writeFileSync(files.path(`${receipt.receipt_id}.json`), bytes);
      files.index((lines) => lines.toSpliced(after, 0, withLine(indexLine)));
    },
  },
  {
    name: 'a forged receipt appended',
    field: 'head',
    needs: ['head'],
    once: true,
    apply: (files) => writeReceipt(files.folder, files.forge(count(files) + 1, files.chain.head)),
  },
  {
    name: 'a receipt copied under a new name',
    field: 'file',
    apply: (files) => {
      copyFileSync(files.path(), files.path(`${files.id().slice(0, -4)}0000.json`));
    },
  },
  {
    name: 'a second receipt with the same predecessor',
    field: 'prev_receipt_hash',
    apply: (files) =>
      writeReceipt(files.folder, files.forge(count(files) + 1, files.receipt().prev_receipt_hash)),
  },
  {
    name: 'a file renamed to the name of another receipt',
    field: 'file',
    apply: (files) => renameSync(files.path(), files.path(`${files.id().slice(0, -4)}0000.json`)),
  },
  {
    name: 'a file renamed to anything',
    field: 'file',
    apply: (files) => renameSync(files.path(), files.path(`${files.id()}.json.bak`)),
  },
  {
    name: 'a name changed everywhere',
    field: 'receipt_id',
    apply: (files) => {
      const other = `${files.id().slice(0, -12)}00009999ffff`;
      renameSync(files.path(), files.path(`${other}.json`));
      const { self_hash: _, ...draft }: Receipt = JSON.parse(
        readFileSync(files.path(`${other}.json`), 'utf8'),
      );
      const sealed = sealReceipt({ ...draft, receipt_id: other as Receipt['receipt_id'] });
      writeFileSync(files.path(`${other}.json`), sealed.bytes);
      files.line(() => withLine(sealed.indexLine));
    },
  },
  {
    name: 'a field digest edited in the index',
    field: 'index',
    apply: (files) => files.line((line) => line.replace(/"tool":"..../, '"tool":"0f0f')),
  },
  {
    name: 'a self_hash edited in the index',
    field: 'index',
    apply: (files) =>
      files.line((line) => line.replace(/"self_hash":"sha256:..../, '"self_hash":"sha256:0f0f')),
  },
  {
    name: 'a timestamp edited in the index',
    field: 'index',
    apply: (files) => files.line((line) => line.replace(/"timestamp":"..../, '"timestamp":"1999')),
  },
  {
    name: 'a digest edited in the index, its hash in CHECKPOINT made anew',
    field: 'index',
    apply: (files) => {
      files.line((line) => line.replace(/"tool":"..../, '"tool":"0f0f'));
      const digest = createHash('sha256')
        .update(readFileSync(files.path('INDEX.jsonl')))
        .digest('hex');
      files.note((note) => note.replace(/index sha256:.*/, `index sha256:${digest}`));
    },
  },
  {
    name: 'index lines in another order',
    field: 'index',
    apply: (files) =>
      files.index((lines) => {
        const at = Math.min(files.seq, lines.length - 1);
        return lines.toSpliced(at - 1, 2, lines[at] ?? '', lines[at - 1] ?? '');
      }),
  },
  {
    name: 'an index line twice',
    field: 'index',
    apply: (files) => files.index((lines) => lines.toSpliced(files.seq, 0, lines[files.seq - 1] ?? '')),
  },
  { name: 'garbage in the index', field: 'index', apply: (files) => files.line(() => '{"garbage":') },
  { name: 'white space in the index', field: 'index', apply: (files) => files.line((line) => `${line} `) },
  { name: 'an empty line in the index', field: 'index', apply: (files) => files.line((line) => `${line}\n`) },
  {
    name: 'a member added in the index',
    field: 'index',
    apply: (files) => files.line((line) => line.replace(/\}$/, ',"z":1}')),
  },
  {
    name: 'the index torn',
    field: 'index',
    once: true,
    apply: (files) => writeFileSync(files.path('INDEX.jsonl'), files.lines.join('\n')),
  },
  { name: 'the index deleted', field: 'index', once: true, apply: (files) => files.remove('INDEX.jsonl') },
  {
    name: 'the index emptied',
    field: 'file',
    once: true,
    apply: (files) => files.index(() => []),
  },
  {
    name: "another workspace's chain copied in",
    field: 'workspace_id',
    needs: ['workspace'],
    once: true,
    apply: (files) => {
      for (const name of readdirSync(files.folder)) files.remove(name);
      makeChain({ folder: files.folder, count: count(files) });
    },
  },
  {
    name: "another workspace's chain copied in, with our CHECKPOINT",
    field: 'workspace_id',
    once: true,
    apply: (files) => {
      const note = readFileSync(files.path('CHECKPOINT'));
      for (const name of readdirSync(files.folder)) files.remove(name);
      makeChain({ folder: files.folder, count: count(files) });
      writeFileSync(files.path('CHECKPOINT'), note);
    },
  },
  {
    name: 'the whole chain rewritten, without the signing key',
    field: 'checkpoint',
    needs: ['key'],
    apply: (files) => rewrite(files),
  },
  {
    name: 'the whole chain rewritten, where only its head is known',
    field: 'head',
    needs: ['head'],
    apply: (files) => rewrite(files),
  },
  {
    name: 'an older backup put back',
    field: 'head',
    needs: ['head'],
    once: true,
    apply: (files) => {
      for (const seq of [count(files) - 1, count(files)]) files.remove(`${files.id(seq)}.json`);
      files.index((lines) => lines.slice(0, -2));
      files.note(() => files.chain.olderCheckpoint);
    },
  },
  {
    name: 'an older CHECKPOINT put back',
    field: 'checkpoint',
    needs: ['head'],
    once: true,
    apply: (files) => files.note(() => files.chain.olderCheckpoint),
  },
  {
    name: 'CHECKPOINT deleted',
    field: 'checkpoint',
    once: true,
    apply: (files) => files.remove('CHECKPOINT'),
  },
  { name: 'CHECKPOINT emptied', field: 'checkpoint', once: true, apply: (files) => files.note(() => '') },
  {
    name: 'another count in CHECKPOINT',
    field: 'checkpoint',
    apply: (files) => files.note((note) => note.replace(/\n\d+\n/, `\n${files.seq - 1}\n`)),
  },
  {
    name: 'another index hash in CHECKPOINT',
    field: 'checkpoint',
    once: true,
    apply: (files) => files.note((note) => note.replace(/index sha256:.{4}/, 'index sha256:0f0f')),
  },
  {
    name: 'the signature cut off',
    field: 'checkpoint',
    needs: ['key'],
    once: true,
    apply: (files) => files.note((note) => note.slice(0, note.indexOf('\n\n') + 2)),
  },
  {
    name: 'a link in place of a file',
    field: 'file',
    apply: (files) => {
      renameSync(files.path(), `${files.folder}.moved`);
      symlinkSync(`${files.folder}.moved`, files.path());
    },
  },
  {
    name: 'a FIFO in place of a file',
    field: 'file',
    apply: (files) => {
      files.remove();
      execFileSync('mkfifo', [files.path()]);
    },
  },
  {
    name: 'a folder in place of a file',
    field: 'file',
    apply: (files) => {
      files.remove();
      mkdirSync(files.path());
    },
  },
  {
    name: 'a hard link in place of a file',
    field: 'file',
    apply: (files) => linkSync(files.path(), `${files.folder}.linked`),
  },
  {
    name: 'a link in place of the index',
    field: 'index',
    once: true,
    apply: (files) => {
      renameSync(files.path('INDEX.jsonl'), `${files.folder}.moved`);
      symlinkSync(`${files.folder}.moved`, files.path('INDEX.jsonl'));
    },
  },
  {
    name: 'a FIFO in place of CHECKPOINT',
    field: 'checkpoint',
    once: true,
    apply: (files) => {
      files.remove('CHECKPOINT');
      execFileSync('mkfifo', [files.path('CHECKPOINT')]);
    },
  },
  {
    name: 'a file that does not belong there',
    field: 'file',
    once: true,
    apply: (files) => writeFileSync(files.path('README.md'), 'x'),
  },
];

/** From the aimed receipt to the end, hashes, index and CHECKPOINT included, signed by someone else's key. */
function rewrite(files: ChainFiles): void {
  const lines = files.lines.slice(0, files.seq - 1);
  let prevHash = files.receipt().prev_receipt_hash;
  for (let seq = files.seq; seq <= count(files); seq += 1) {
    const sealed = files.reseal({ prev_receipt_hash: prevHash, symbols_checked: 99 }, seq);
    lines.push(withLine(sealed.indexLine));
    prevHash = sealed.selfHash;
  }
  files.index(() => lines);
  const indexHash = `sha256:${createHash('sha256')
    .update(readFileSync(files.path('INDEX.jsonl')))
    .digest('hex')}`;
  const { privateKey } = generateKeyPairSync('ed25519');
  const { wsId } = files.chain;
  files.note(() => formatCheckpoint({ wsId, count: lines.length, head: prevHash, indexHash }, privateKey));
}
