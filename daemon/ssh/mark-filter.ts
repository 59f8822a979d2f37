import { type Readable, Transform } from 'node:stream';

const lineFeed = 0x0a;
/** What a login shell prints before the mark comes is passed on; so much without it, and none will come. */
const maxBefore = 64 * 1024;

/** The stream without the one line that begins with `mark`; `onMark` is given the rest of that line. */
export function withoutMark(source: Readable, mark: string, onMark: (rest: string) => void): Readable {
  const wanted = Buffer.from(mark);
  let held: Buffer | undefined = Buffer.alloc(0);
  let passed = 0;
  const filter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (held === undefined) return done(null, chunk);
      const bytes = Buffer.concat([held, chunk]);
      const start = bytes.indexOf(wanted);
      const end = start < 0 ? -1 : bytes.indexOf(lineFeed, start);
      if (end < 0) {
        // A line that is not complete yet may be the one.
        const keepFrom = start < 0 ? bytes.lastIndexOf(lineFeed) + 1 : start;
        passed += keepFrom;
        held = Buffer.from(bytes.subarray(keepFrom));
        if (keepFrom > 0) this.push(bytes.subarray(0, keepFrom));
        if (passed + held.length > maxBefore) {
          this.push(held);
          held = undefined;
        }
        return done();
      }
      onMark(bytes.toString('latin1', start + wanted.length, end));
      held = undefined;
      if (start > 0) this.push(bytes.subarray(0, start));
      return done(null, bytes.subarray(end + 1));
    },
    flush(done) {
      done(null, held?.length === 0 ? undefined : held);
    },
  });
  // A channel that breaks off ends its stream; 'close' without 'end' must end this one too.
  source.once('close', () => filter.end());
  return source.pipe(filter);
}
