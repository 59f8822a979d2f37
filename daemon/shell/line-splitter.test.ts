import { describe, expect, test } from 'vitest';
import { maxLineBytes } from '../contract/shell.ts';
import { FrameLog } from './frame-log.ts';
import { LineSplitter } from './line-splitter.ts';
import { SlabPool } from './slab-pool.ts';

/** The frames of `chunks`, read back from the log's own bytes. */
function framesOf(
  chunks: readonly (Buffer | string)[],
  maxSlabs = 64,
): { id: number; line: string; partial?: boolean }[] {
  const log = new FrameLog(new SlabPool(), maxSlabs);
  const splitter = new LineSplitter(log, 'stdout');
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  splitter.end();
  return parse(textOf(log));
}

function textOf(log: FrameLog): string {
  const parts: Buffer[] = [];
  for (let piece = log.read(log.start); piece !== undefined; piece = log.read(piece.end))
    parts.push(Buffer.from(piece.bytes));
  return Buffer.concat(parts).toString('utf8');
}

function parse(text: string): { id: number; line: string; partial?: boolean }[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const match = /^id: (\d+)\ndata: (\{[^\n]*\})$/.exec(block);
      if (match?.[1] === undefined || match[2] === undefined)
        throw new Error(`not a frame: ${JSON.stringify(block)}`);
      const { type, ...frame } = JSON.parse(match[2]);
      expect(type).toBe('stdout');
      return { id: Number(match[1]), ...frame };
    });
}

/** What the lines should be, by the platform's own decoder. */
function linesOf(bytes: Buffer): string[] {
  const lines = bytes.toString('latin1').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(line.replace(/\r$/, ''), 'latin1')),
  );
}

function randomBytes(random: () => number, alphabet: readonly Buffer[], count: number): Buffer {
  return Buffer.concat(
    Array.from({ length: count }, () => alphabet[Math.floor(random() * alphabet.length)] ?? Buffer.alloc(0)),
  );
}

/** Same numbers on every run, so that a failure can be looked at. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

describe('the lines of a stream', () => {
  test('number from 1 and carry every character JSON must escape', () => {
    const every = Buffer.from(Array.from({ length: 128 }, (_, byte) => byte).filter((byte) => byte !== 10));
    const frames = framesOf([Buffer.concat([every, Buffer.from('\n"\\/\u2028é😀\n')])]);
    expect(frames).toEqual([
      { id: 1, line: every.toString('latin1') },
      { id: 2, line: '"\\/\u2028é😀' },
    ]);
  });

  test('end with a line feed or CRLF, also one that is split between chunks; a lone carriage return is kept', () => {
    expect(framesOf(['a\r\nb\r', '\nc\rd\n\r\n\n', '\r', '\n']).map(({ line }) => line)).toEqual([
      'a',
      'b',
      'c\rd',
      '',
      '',
      '',
    ]);
  });

  test('include a last one without line feed, and none where the stream ends with one', () => {
    expect(framesOf(['a\nb']).map(({ line }) => line)).toEqual(['a', 'b']);
    expect(framesOf(['a\n']).map(({ line }) => line)).toEqual(['a']);
    expect(framesOf([])).toEqual([]);
    expect(framesOf(['\n\n']).map(({ line }) => line)).toEqual(['', '']);
  });

  test('have U+FFFD for bytes that are not UTF-8, and none for characters split between chunks', () => {
    const text = Buffer.from('aé😀ü\n');
    for (let at = 0; at <= text.length; at += 1)
      expect(framesOf([text.subarray(0, at), text.subarray(at)])).toEqual([{ id: 1, line: 'aé😀ü' }]);
    expect(
      framesOf([Buffer.from([0x61, 0xff, 0x62, 0xc3, 0x0a, 0xed, 0xa0, 0x80, 0x0a])]).map(({ line }) => line),
    ).toEqual(['a\ufffdb\ufffd', '\ufffd\ufffd\ufffd']);
  });

  test('are one frame at 64 KiB, and two at one byte over, with and without CRLF', () => {
    for (const end of ['\n', '\r\n', '']) {
      expect(framesOf([`${'x'.repeat(maxLineBytes)}${end}`])).toEqual([
        { id: 1, line: 'x'.repeat(maxLineBytes) },
      ]);
      expect(framesOf([`${'x'.repeat(maxLineBytes + 1)}${end}`])).toEqual([
        { id: 1, line: 'x'.repeat(maxLineBytes) },
        { id: 2, line: 'x', partial: true },
      ]);
    }
    expect(framesOf([`${'x'.repeat(maxLineBytes)}\r`, '\n'])).toEqual([
      { id: 1, line: 'x'.repeat(maxLineBytes) },
    ]);
  });

  test('longer than a frame are cut between characters, every further frame marked partial, the next line not', () => {
    const line = `x${'é'.repeat(maxLineBytes)}`;
    for (const chunkSize of [1000, 65_536, 1_000_000]) {
      const bytes = Buffer.from(`${line}\nnext\n`);
      const chunks = Array.from({ length: Math.ceil(bytes.length / chunkSize) }, (_, at) =>
        bytes.subarray(at * chunkSize, (at + 1) * chunkSize),
      );
      const frames = framesOf(chunks);
      expect(frames.map(({ partial }) => partial)).toEqual([undefined, true, true, undefined]);
      expect(
        frames
          .slice(0, 3)
          .map((frame) => frame.line)
          .join(''),
      ).toBe(line);
      expect(Math.max(...frames.map((frame) => Buffer.byteLength(frame.line)))).toBeLessThanOrEqual(
        maxLineBytes,
      );
      expect(frames[3]?.line).toBe('next');
    }
  });

  test('that are not UTF-8 and long stay within 64 KiB a frame after replacement', () => {
    const frames = framesOf([Buffer.alloc(3 * maxLineBytes, 0xff), '\n']);
    expect(frames.map(({ line }) => line).join('')).toBe('\ufffd'.repeat(3 * maxLineBytes));
    expect(Math.max(...frames.map(({ line }) => Buffer.byteLength(line)))).toBeLessThanOrEqual(maxLineBytes);
  });

  test('come out the same however the bytes are cut into chunks (2,000 random streams)', () => {
    const random = mulberry(7);
    const alphabet = [
      'a',
      'bc',
      '\n',
      '\r\n',
      '\r',
      '"',
      '\\',
      '\t',
      '\u0001',
      'é',
      '€',
      '😀',
      '\x1b[31m',
      '',
    ].map((text) => Buffer.from(text));
    const broken = [...alphabet, Buffer.from([0xff]), Buffer.from([0xe2, 0x82]), Buffer.from([0xc0, 0x80])];
    for (let round = 0; round < 2000; round += 1) {
      const bytes = randomBytes(random, round % 2 === 0 ? alphabet : broken, Math.floor(random() * 60));
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; ) {
        const size = 1 + Math.floor(random() * 8);
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      expect(
        framesOf(chunks).map(({ line }) => line),
        `round ${round}: ${bytes.toString('hex')}`,
      ).toEqual(linesOf(bytes));
    }
  });

  test('fill slabs without a frame that spans two, whatever their lengths', () => {
    const random = mulberry(3);
    const lines = Array.from(
      { length: 30_000 },
      () => 'l'.repeat(Math.floor(random() ** 4 * 2000)) + (random() < 0.1 ? '\u0001\u0002' : ''),
    );
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
      bytes.subarray(at * 65_536, (at + 1) * 65_536),
    );
    const frames = framesOf(chunks);
    expect(frames.map(({ line }) => line)).toEqual(lines);
    expect(frames.at(-1)?.id).toBe(lines.length);
  });

  test('of line feeds alone, the worst that can grow, are all there', () => {
    expect(framesOf([Buffer.alloc(200_000, 10)])).toHaveLength(200_000);
  });
});

describe('the log', () => {
  function logOf(lines: number, maxSlabs: number): FrameLog {
    const log = new FrameLog(new SlabPool(), maxSlabs);
    const splitter = new LineSplitter(log, 'stdout');
    for (let line = 1; line <= lines; line += 1) {
      splitter.push(Buffer.from(`${'x'.repeat(1000)} ${line}\n`));
      log.trim(log.end);
    }
    return log;
  }

  test('keeps the newest slabs and finds frames by id', () => {
    const log = logOf(10_000, 2);
    expect(log.nextId).toBe(10_001);
    expect(log.firstId).toBeGreaterThan(1);
    expect(log.heldBytes).toBe(2 * 1024 * 1024);
    const from = log.firstId + 17;
    const position = log.positionOf(from);
    expect(position).toBeDefined();
    const piece = log.read(position ?? 0);
    expect(parse(piece?.bytes.toString('utf8') ?? '')[0]?.id).toBe(from);
    expect(log.positionOf(log.firstId - 1)).toBeUndefined();
    expect(log.positionOf(log.nextId)).toBe(log.end);
    expect(log.positionOf(log.nextId + 1)).toBeUndefined();
  });

  test('keeps what somebody still needs', () => {
    const log = new FrameLog(new SlabPool(), 1);
    const splitter = new LineSplitter(log, 'stdout');
    for (let line = 0; line < 5000; line += 1) {
      splitter.push(Buffer.from(`${'x'.repeat(1000)}\n`));
      log.trim(0);
    }
    expect(log.firstId).toBe(1);
    log.trim(log.end);
    expect(log.firstId).toBeGreaterThan(1);
  });

  test('does not hand memory out again while a socket still reads it', () => {
    const pool = new SlabPool();
    const log = new FrameLog(pool, 1);
    log.appendObject({ type: 'exit', code: 0 });
    const piece = log.read(0);
    if (piece === undefined) throw new Error('no piece');
    piece.slab.inFlight += 1;
    log.clear();
    const other = pool.take(0, 1, 100);
    expect(other.bytes).not.toBe(piece.slab.bytes);
    pool.release(piece.slab);
    expect(pool.take(0, 1, 100).bytes).toBe(piece.slab.bytes);
  });

  test('takes little memory for little output once it is compacted, and still reads the same', () => {
    const log = new FrameLog(new SlabPool());
    log.appendObject({ type: 'exit', code: 0 });
    const before = textOf(log);
    log.compact();
    expect(log.heldBytes).toBeLessThan(200);
    expect(textOf(log)).toBe(before);
  });
});
