/** A file as far as its lines are read. */
export interface LineSource {
  readonly bytes: number;
  read(start: number, end: number): Promise<Buffer>;
}

export interface Line {
  /** Without its line feed. */
  readonly text: string;
  /** Where it begins in the file. */
  readonly start: number;
}

const blockBytes = 65_536;

const lineFeed = 0x0a;

/** The lines that end at `end` or before, last first; `end` stands behind a line feed. Holds a block and a line. */
export async function* linesBackward(source: LineSource, end: number): AsyncGenerator<Line> {
  let at = end;
  let held: Buffer = Buffer.alloc(0);
  while (at > 0) {
    const start = Math.max(0, at - blockBytes);
    held = Buffer.concat([await source.read(start, at), held]);
    at = start;
    let lineEnd = held.length;
    for (let before = lineFeedBefore(held, lineEnd); before !== -1; before = lineFeedBefore(held, lineEnd)) {
      yield { text: held.toString('utf8', before + 1, lineEnd - 1), start: at + before + 1 };
      lineEnd = before + 1;
    }
    held = held.subarray(0, lineEnd);
  }
  if (held.length > 0) yield { text: held.toString('utf8', 0, held.length - 1), start: 0 };
}

/** Where the last line feed ends; 0 where there is none. */
export async function endOfWholeLines(source: LineSource): Promise<number> {
  for (let end = source.bytes; end > 0; end -= blockBytes) {
    const start = Math.max(0, end - blockBytes);
    const found = (await source.read(start, end)).lastIndexOf(lineFeed);
    if (found !== -1) return start + found + 1;
  }
  return 0;
}

/**
 * In a file whose lines bear ascending numbers: a place behind a line feed from which `linesBackward` soon comes to the
 * lines numbered below `number`, without reading all that stand behind them. `numberOf` answers undefined for a line
 * that has none.
 */
export async function endOfLinesBelow(
  source: LineSource,
  number: number,
  numberOf: (line: string) => number | undefined,
): Promise<number> {
  let low = 0;
  let high = source.bytes;
  while (high - low > blockBytes) {
    const found = await firstNumbered(source, Math.floor((low + high) / 2), high, numberOf);
    if (found === undefined) break;
    if (found.number >= number) high = found.start;
    else low = found.end;
  }
  return high;
}

/** The first line with a number that begins behind `from` and before `end`. */
async function firstNumbered(
  source: LineSource,
  from: number,
  end: number,
  numberOf: (line: string) => number | undefined,
): Promise<{ number: number; start: number; end: number } | undefined> {
  let held: Buffer = Buffer.alloc(0);
  for (let at = from; at < end; ) {
    const block = await source.read(at, Math.min(at + blockBytes, end));
    if (block.length === 0) return undefined;
    held = Buffer.concat([held, block]);
    at += block.length;
    let before = held.indexOf(lineFeed);
    for (let after = nextLineFeed(held, before); after !== -1; after = nextLineFeed(held, before)) {
      const number = numberOf(held.toString('utf8', before + 1, after));
      if (number !== undefined) return { number, start: from + before + 1, end: from + after + 1 };
      before = after;
    }
  }
  return undefined;
}

function lineFeedBefore(bytes: Buffer, lineEnd: number): number {
  return lineEnd < 2 ? -1 : bytes.lastIndexOf(lineFeed, lineEnd - 2);
}

function nextLineFeed(bytes: Buffer, before: number): number {
  return before === -1 ? -1 : bytes.indexOf(lineFeed, before + 1);
}
