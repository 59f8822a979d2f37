import { createParser } from 'eventsource-parser';
import type { PanelEvent } from '../../daemon/contract/events.ts';
import type { ApiClient } from './client.ts';
import { ApiProblem } from './problem.ts';

export type ConnectionState =
  | { status: 'connecting' }
  | { status: 'connected' }
  /** `retryAt` is a Date.now() time. */
  | { status: 'lost'; since: number; retryAt: number };

/**
 * The daemon's events, for as long as it is open. A connection that is lost is taken up again after the last event
 * seen, with a growing pause; where nothing at all comes for 40 s (the daemon pings every 15) it counts as lost.
 */
export class EventStream {
  readonly #api: ApiClient;
  readonly #onEvent: (event: PanelEvent) => void;
  readonly #listeners = new Set<() => void>();
  #state: ConnectionState = { status: 'connecting' };
  #closed = new AbortController();
  #lastId = '';
  #failures = 0;
  #retryNow: (() => void) | undefined;

  constructor(api: ApiClient, onEvent: (event: PanelEvent) => void) {
    this.#api = api;
    this.#onEvent = onEvent;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): ConnectionState => this.#state;

  open(): void {
    this.#closed = new AbortController();
    void this.#run(this.#closed.signal);
  }

  close(): void {
    this.#closed.abort();
    this.#retryNow?.();
  }

  /** Ends the pause before the next attempt. */
  readonly retryNow = (): void => this.#retryNow?.();

  async #run(closed: AbortSignal): Promise<void> {
    while (!closed.aborted) {
      const lostBefore = this.#state.status === 'lost';
      try {
        await this.#read(closed, lostBefore);
      } catch (error) {
        if (error instanceof ApiProblem && error.status === 401) return;
      }
      if (closed.aborted) return;
      const pauseMs = Math.min(10_000, 500 * 2 ** this.#failures++);
      const since = this.#state.status === 'lost' ? this.#state.since : Date.now();
      this.#set({ status: 'lost', since, retryAt: Date.now() + pauseMs });
      await this.#pause(pauseMs);
    }
  }

  async #read(closed: AbortSignal, lostBefore: boolean): Promise<void> {
    const quiet = new AbortController();
    const signal = AbortSignal.any([closed, quiet.signal]);
    const headers = {
      Accept: 'text/event-stream',
      ...(this.#lastId === '' ? {} : { 'Last-Event-ID': this.#lastId }),
    };
    const response = await this.#api.open('/api/events', { headers, signal });
    this.#failures = 0;
    this.#set({ status: 'connected' });
    // A daemon that was started anew can't know which events were missed.
    if (lostBefore) this.#onEvent({ type: 'resync' });
    const parser = createParser({
      onEvent: (message) => {
        if (message.id !== undefined) this.#lastId = message.id;
        const event: PanelEvent = JSON.parse(message.data);
        this.#onEvent(event);
      },
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let open = reader !== undefined; open && reader !== undefined; ) {
      const watch = setTimeout(() => quiet.abort(), quietMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(watch));
      if (value !== undefined) parser.feed(value);
      open = !done;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#retryNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #set(state: ConnectionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

const quietMs = 40_000;
