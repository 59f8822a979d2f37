import type { ErrorFrame, ExitFrame, JobFrame } from '../../daemon/contract/shell.ts';

export type OutputStream = 'stdout' | 'stderr';

export type JobSink = {
  /** A line without escapes of any kind, as UTF-8 in `bytes`; the range is valid during the call only. */
  plainLine(stream: OutputStream, bytes: Uint8Array, start: number, end: number): void;
  textLine(stream: OutputStream, line: string, partial: boolean): void;
  gap(from: number, to: number): void;
  exit(frame: ExitFrame): void;
  error(frame: ErrorFrame): void;
};

/**
 * Reads one frame of a job's stream. Most lines hold nothing that JSON escapes: those are told by their first and
 * last bytes and passed on as bytes, without decoding. Everything else goes through JSON.parse.
 */
export function readJobFrame(bytes: Uint8Array, start: number, end: number, sink: JobSink): void {
  const prefix = startsWith(bytes, start, stdoutPrefix)
    ? stdoutPrefix
    : startsWith(bytes, start, stderrPrefix)
      ? stderrPrefix
      : undefined;
  if (prefix !== undefined && bytes[end - 1] === closeBrace && bytes[end - 2] === quote) {
    const from = start + prefix.length;
    if (from <= end - 2 && !needsJson(bytes, from, end - 2)) {
      sink.plainLine(prefix === stdoutPrefix ? 'stdout' : 'stderr', bytes, from, end - 2);
      return;
    }
  }
  const frame: JobFrame = JSON.parse(decoder.decode(bytes.subarray(start, end)));
  switch (frame.type) {
    case 'stdout':
    case 'stderr':
      sink.textLine(frame.type, frame.line, frame.partial === true);
      break;
    case 'gap':
      sink.gap(frame.from, frame.to);
      break;
    case 'exit':
      sink.exit(frame);
      break;
    case 'error':
      sink.error(frame);
      break;
    default:
      // A later daemon may send more kinds of frames; a viewer of this one can do without them.
      frame satisfies never;
  }
}

const closeBrace = 125;
const quote = 34;
const backslash = 92;
const decoder = new TextDecoder();
const stdoutPrefix = new TextEncoder().encode('{"type":"stdout","line":"');
const stderrPrefix = new TextEncoder().encode('{"type":"stderr","line":"');

function startsWith(bytes: Uint8Array, at: number, prefix: Uint8Array): boolean {
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}

/** A quote inside means that further members follow the line, a backslash that the line is escaped. */
function needsJson(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === backslash || byte === quote) return true;
  }
  return false;
}
