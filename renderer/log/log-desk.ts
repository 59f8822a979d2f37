import { LineSearch } from './line-search.ts';
import { LineStore } from './line-store.ts';
import type { FromLogWorker, LogState, ToLogWorker } from './log-protocol.ts';
import { type JobStreamOptions, readJobStream } from './read-job-stream.ts';
import { viewRows } from './view-rows.ts';

export type LogDeskOptions = {
  send: (message: FromLogWorker) => void;
  breathe: () => Promise<void>;
  read?: (options: JobStreamOptions) => Promise<void>;
};

/**
 * The worker's side of one log: keeps the lines, answers what the view asks for, and reports progress at most
 * twenty times a second however fast the output comes.
 */
export class LogDesk {
  readonly #options: LogDeskOptions;
  readonly #store = new LineStore();
  #state: LogState = { phase: 'connecting' };
  #search: LineSearch | undefined;
  #searching = false;
  #view = { from: 0, count: 0, follow: true };
  /** Rows before this one were sent since the view or the search changed, and are the same still. */
  #sentTo = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LogDeskOptions) {
    this.#options = options;
    this.#store.onRowGrown = (row) => {
      this.#search?.rescan(row);
      this.#sentTo = Math.min(this.#sentTo, row);
    };
  }

  handle(message: ToLogWorker): void {
    switch (message.type) {
      case 'open':
        this.#open(message.source);
        break;
      case 'view':
        this.#view = message;
        this.#sentTo = 0;
        this.#report();
        break;
      case 'search':
        this.#search = message.term === null ? undefined : new LineSearch(this.#store, message.term);
        this.#sentTo = 0;
        void this.#searchOn();
        this.#report();
        break;
      case 'find':
        void this.#find(message.request, message.from, message.backwards);
        break;
      case 'text':
        void this.#text(message.request, message.from, message.to);
        break;
      case 'file':
        void this.#file(message.request);
        break;
      default:
        message satisfies never;
    }
  }

  #open(source: JobStreamOptions['source']): void {
    const store = this.#store;
    void (this.#options.read ?? readJobStream)({
      source,
      breathe: this.#options.breathe,
      onBytes: () => this.#changed(),
      onState: (state) => {
        this.#state = state;
        this.#changed();
      },
      sink: {
        plainLine: (stream, bytes, start, end) => store.appendPlain(stream, bytes, start, end),
        textLine: (stream, line, partial) => store.appendText(stream, line, partial),
        gap: (from, to) => store.appendGap(to - from + 1),
        exit: () => {},
        error: (frame) => store.appendText('stderr', `[stream ended early: ${frame.detail}]`, false),
      },
    });
  }

  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#report();
    }, reportEveryMs);
  }

  #report(): void {
    const store = this.#store;
    const { from, count, follow } = this.#view;
    const start = follow ? Math.max(store.first, store.end - count) : from;
    const rows = viewRows(store, Math.max(start, this.#sentTo), start + count, this.#search?.term);
    this.#sentTo = Math.max(this.#sentTo, Math.min(start + count, store.end));
    if (this.#search !== undefined && !this.#search.done) void this.#searchOn();
    this.#options.send({
      type: 'progress',
      progress: {
        state: this.#state,
        first: store.first,
        end: store.end,
        widest: store.widest,
        lines: store.lines,
        missing: store.missing,
        search:
          this.#search === undefined
            ? null
            : { term: this.#search.term, count: this.#search.count, searching: !this.#search.done },
      },
      rows,
    });
  }

  async #searchOn(): Promise<void> {
    if (this.#searching) return;
    this.#searching = true;
    while (this.#search !== undefined && !this.#search.done) {
      this.#search.step();
      this.#changed();
      await this.#options.breathe();
    }
    this.#searching = false;
  }

  /** Waits until the whole log is searched: which match is the next can't be told before. */
  async #find(request: number, from: number, backwards: boolean): Promise<void> {
    const search = this.#search;
    while (search !== undefined && !search.done) {
      search.step();
      await this.#options.breathe();
    }
    const match = backwards ? search?.previous(from) : search?.next(from);
    this.#options.send({ type: 'found', request, match: match ?? null });
  }

  async #text(request: number, from: number, to: number): Promise<void> {
    const parts: string[] = [];
    for (let row = Math.max(from, this.#store.first); row < Math.min(to, this.#store.end); ) {
      const { text, next } = this.#store.chunkText(row);
      parts.push(next <= to ? text : firstLines(text, to - row));
      row = next;
      await this.#options.breathe();
    }
    this.#options.send({ type: 'text', request, text: parts.join('') });
  }

  async #file(request: number): Promise<void> {
    const parts: Blob[] = [];
    const { end } = this.#store;
    for (let row = this.#store.first; row < end; ) {
      const { text, next } = this.#store.chunkText(row);
      parts.push(new Blob([text]));
      row = next;
      await this.#options.breathe();
    }
    this.#options.send({
      type: 'file',
      request,
      file: new Blob(parts, { type: 'text/plain;charset=utf-8' }),
    });
  }
}

const reportEveryMs = 50;

function firstLines(text: string, count: number): string {
  let at = 0;
  for (let line = 0; line < count; line++) {
    const newline = text.indexOf('\n', at);
    if (newline === -1) return text;
    at = newline + 1;
  }
  return text.slice(0, at);
}
