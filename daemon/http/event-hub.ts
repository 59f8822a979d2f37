import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PanelEvent } from '../contract/events.ts';
import type { OpenStream } from './open-streams.ts';

const keptEvents = 256;
const pingEveryMs = 15_000;
/** A panel that has this much unread is told to fetch everything anew. */
const maxUnreadBytes = 256 * 1024;

export const eventStreamHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Accel-Buffering': 'no',
} as const;

/** What a client that takes a stream up again says it has; undefined where it says nothing. */
export function lastEventIdOf(req: IncomingMessage): string | undefined {
  const header = req.headers['last-event-id'];
  return Array.isArray(header) ? header[0] : header;
}

/** Hands what happens to every panel that listens; keeps the newest events for one that reconnects. */
export class EventHub implements Disposable {
  readonly #listeners = new Set<EventStream>();
  readonly #kept: { readonly id: number; readonly text: string }[] = [];
  readonly #pings: NodeJS.Timeout;
  #lastId: number;

  /** Ids begin at the time of the start: those of an earlier daemon are never taken for this one's. */
  constructor(startMs: number) {
    this.#lastId = startMs;
    this.#pings = setInterval(() => {
      for (const listener of this.#listeners) listener.write(': ping\n\n');
    }, pingEveryMs);
    this.#pings.unref();
  }

  publish(event: PanelEvent): void {
    this.#lastId += 1;
    const kept = { id: this.#lastId, text: frame(this.#lastId, event) };
    this.#kept.push(kept);
    if (this.#kept.length > keptEvents) this.#kept.shift();
    for (const listener of this.#listeners) listener.write(kept.text);
  }

  /** Streams events into `res` from now on, after those missed since `lastEventId`. */
  subscribe(res: ServerResponse, lastEventId: string | undefined): OpenStream {
    res.writeHead(200, eventStreamHeaders);
    const stream = new EventStream(res, () => this.#listeners.delete(stream));
    this.#listeners.add(stream);
    stream.write(': welcome\n\n');
    if (lastEventId !== undefined) this.#replay(stream, Number(lastEventId));
    return stream;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#pings);
    for (const listener of this.#listeners) listener.destroy();
  }

  #replay(stream: EventStream, lastId: number): void {
    const oldest = this.#kept[0]?.id ?? this.#lastId + 1;
    const known = lastId >= oldest - 1 && lastId <= this.#lastId;
    if (!known) stream.write(frame(this.#lastId, { type: 'resync' }));
    else for (const { id, text } of this.#kept) if (id > lastId) stream.write(text);
  }
}

function frame(id: number, event: PanelEvent): string {
  return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
}

class EventStream implements OpenStream {
  readonly #res: ServerResponse;
  #closed = false;

  constructor(res: ServerResponse, onClose: () => void) {
    this.#res = res;
    res.on('error', () => undefined);
    res.once('close', () => {
      this.#closed = true;
      onClose();
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Events are few and small; a panel that still can't keep up is cut off, and catches up when it reconnects. */
  write(text: string): void {
    if (this.#closed) return;
    if (this.#res.writableLength > maxUnreadBytes) this.destroy();
    else this.#res.write(text);
  }

  cut(last: object): void {
    if (!this.#closed) this.#res.end(`data: ${JSON.stringify(last)}\n\n`);
  }

  destroy(): void {
    this.#res.destroy();
  }
}
