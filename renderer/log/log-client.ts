import type { FromLogWorker, LogProgress, LogSource, ToLogWorker } from './log-protocol.ts';
import type { SearchTerm } from './search-term.ts';
import type { ViewRow } from './view-rows.ts';

/** What the view draws from; a new object with every change. */
export type LogSnapshot = LogProgress & { readonly version: number };

/** The page's side of one log: holds the rows in sight and talks with the worker that holds all the others. */
export class LogClient {
  readonly #worker: Worker;
  readonly #rows = new Map<number, ViewRow>();
  readonly #listeners = new Set<() => void>();
  readonly #waiting = new Map<number, (message: FromLogWorker) => void>();
  #requests = 0;
  #view = { from: 0, follow: true };
  #snapshot: LogSnapshot = {
    state: { phase: 'connecting' },
    first: 0,
    end: 0,
    widest: 0,
    lines: 0,
    missing: 0,
    search: null,
    version: 0,
  };

  constructor(source: LogSource) {
    this.#worker = new Worker(new URL('./log-worker.ts', import.meta.url), { type: 'module' });
    this.#worker.addEventListener('message', (event: MessageEvent<FromLogWorker>) =>
      this.#receive(event.data),
    );
    this.#send({ type: 'open', source });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): LogSnapshot => this.#snapshot;

  /** Undefined until the worker has sent it. */
  row(row: number): ViewRow | undefined {
    return this.#rows.get(row);
  }

  setView(from: number, count: number, follow: boolean): void {
    this.#view = { from, follow };
    this.#send({ type: 'view', from, count, follow });
  }

  search(term: SearchTerm | null): void {
    this.#send({ type: 'search', term });
  }

  async find(from: number, backwards: boolean): Promise<{ row: number; ordinal: number } | null> {
    const answer = await this.#ask((request) => ({ type: 'find', request, from, backwards }));
    return answer.type === 'found' ? answer.match : null;
  }

  /** The visible text of the rows from `from` up to `to`. */
  async text(from: number, to: number): Promise<string> {
    const answer = await this.#ask((request) => ({ type: 'text', request, from, to }));
    return answer.type === 'text' ? answer.text : '';
  }

  async file(): Promise<Blob> {
    const answer = await this.#ask((request) => ({ type: 'file', request }));
    return answer.type === 'file' ? answer.file : new Blob();
  }

  close(): void {
    this.#worker.terminate();
    this.#listeners.clear();
  }

  /** The worker sends a row once for a view: those in sight must stay. */
  #evict(end: number): void {
    const center = this.#view.follow ? end : this.#view.from;
    for (const row of this.#rows.keys())
      if (Math.abs(row - center) > maxCachedRows / 4) this.#rows.delete(row);
  }

  #send(message: ToLogWorker): void {
    this.#worker.postMessage(message);
  }

  #ask(message: (request: number) => ToLogWorker): Promise<FromLogWorker> {
    const request = ++this.#requests;
    return new Promise((resolve) => {
      this.#waiting.set(request, resolve);
      this.#send(message(request));
    });
  }

  #receive(message: FromLogWorker): void {
    if (message.type !== 'progress') {
      this.#waiting.get(message.request)?.(message);
      this.#waiting.delete(message.request);
      return;
    }
    if (this.#rows.size > maxCachedRows) this.#evict(message.progress.end);
    if (!sameTerm(this.#snapshot.search?.term, message.progress.search?.term)) this.#rows.clear();
    for (const row of message.rows) this.#rows.set(row.row, row);
    this.#snapshot = { ...message.progress, version: this.#snapshot.version + 1 };
    for (const listener of this.#listeners) listener();
  }
}

const maxCachedRows = 4000;

function sameTerm(before: SearchTerm | undefined, now: SearchTerm | undefined): boolean {
  return before?.query === now?.query && before?.matchCase === now?.matchCase;
}
