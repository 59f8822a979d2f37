import type { Problem } from '../../daemon/contract/errors.ts';
import { type JobSink, readJobFrame } from './job-frames.ts';
import type { LogSource, LogState } from './log-protocol.ts';
import { SseBytes } from './sse-bytes.ts';

export type JobStreamOptions = {
  source: LogSource;
  sink: JobSink;
  /** Told of every change; the last state it gets is not `connecting`, `streaming` or `retrying`. */
  onState: (state: LogState) => void;
  onBytes: () => void;
  /** Gives other work of the thread its turn. */
  breathe: () => Promise<void>;
  fetch?: typeof fetch;
  delay?: (ms: number) => Promise<void>;
};

/**
 * Reads a job's output from its beginning to its exit frame. A connection that breaks is taken up again after the
 * last frame that arrived, with a growing pause, for as long as the job is known to the daemon.
 */
export async function readJobStream(options: JobStreamOptions): Promise<void> {
  const { onState, delay = wait } = options;
  const position = { lastId: 0, finished: false };
  for (let attempt = 0; !position.finished; attempt++) {
    const before = position.lastId;
    try {
      const outcome = await attach(options, position);
      if (outcome !== undefined) return onState(outcome);
    } catch (error) {
      onState({ phase: 'retrying', detail: error instanceof Error ? error.message : String(error) });
    }
    if (position.finished) return;
    if (position.lastId !== before) attempt = 0;
    await delay(Math.min(8000, 250 * 2 ** attempt));
  }
}

type Position = { lastId: number; finished: boolean };

/** Answers a final state, or nothing where the connection ended without one. */
async function attach(options: JobStreamOptions, position: Position): Promise<LogState | undefined> {
  const { source, onState } = options;
  const response = await (options.fetch ?? fetch)(
    `${source.baseUrl}/api/shell/jobs/${source.jobId}/stream?lossy=true`,
    { headers: headersFor(source, position), cache: 'no-store' },
  );
  if (!response.ok || response.body === null) return refused(response);
  onState({ phase: 'streaming' });
  const frames = new SseBytes((bytes, start, end, id) => {
    readJobFrame(bytes, start, end, finishing(options, position));
    if (id > 0) position.lastId = id;
  });
  const reader = response.body.getReader();
  let busySince = performance.now();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    frames.feed(value);
    options.onBytes();
    if (performance.now() - busySince > maxBusyMs) {
      await options.breathe();
      busySince = performance.now();
    }
  }
  if (!position.finished) onState({ phase: 'retrying', detail: 'The stream ended before the command did' });
  return undefined;
}

const maxBusyMs = 25;

function headersFor(source: LogSource, position: Position): Record<string, string> {
  return {
    Accept: 'text/event-stream',
    Authorization: `Bearer ${source.token}`,
    'X-Workspace-Id': source.workspaceId,
    ...(position.lastId > 0 ? { 'Last-Event-ID': String(position.lastId) } : {}),
  };
}

/** The exit frame ends the reading: nothing follows it. */
function finishing(options: JobStreamOptions, position: Position): JobSink {
  const { sink, onState } = options;
  return {
    ...sink,
    exit(frame) {
      position.finished = true;
      sink.exit(frame);
      onState({
        phase: 'ended',
        exit: {
          code: frame.code,
          signal: frame.signal ?? null,
          reason: frame.reason ?? null,
          runId: frame.run_id ?? null,
          receiptId: frame.receipt_id,
          filesChanged: frame.files_changed ?? 0,
          masked: frame.masked ?? 0,
        },
      });
    },
  };
}

async function refused(response: Response): Promise<LogState> {
  const problem: Partial<Problem> = await response.json().catch(() => ({}));
  if (response.status === 404) return { phase: 'gone' };
  if (response.status === 401) return { phase: 'signed-out' };
  if (response.status >= 500 || response.status === 429) {
    throw new Error(problem.detail ?? `The daemon answered ${response.status}`);
  }
  return { phase: 'failed', detail: problem.detail ?? `The daemon answered ${response.status}` };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
