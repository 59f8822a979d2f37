import type { KeyId, SessionId } from '../contract/ids.ts';
import { credentialId, type Principal } from './route.ts';

/** A response that stays open. */
export interface OpenStream {
  readonly closed: boolean;
  /** Writes a last frame and ends. */
  cut(frame: object): void;
  /** Gives the connection up. */
  destroy(): void;
}

/** A stream whose own job is ended at the same time gets this long to carry its exit frame. */
const exitFrameMs = 500;
/** A client that does not read is cut off this long after the last frame was queued. */
const unreadMs = 250;

/** The open streams by the credential they were opened with, so that a credential's end is theirs too. */
export class OpenStreams {
  readonly #streams = new Map<OpenStream, KeyId | SessionId>();
  /** Credentials that have ended, with the frame that says so: a request that was under way may open its stream late. */
  readonly #ended = new Map<KeyId | SessionId, object>();

  get count(): number {
    this.#forgetClosed();
    return this.#streams.size;
  }

  add(principal: Principal, stream: OpenStream): void {
    this.#forgetClosed();
    const credential = credentialId(principal);
    this.#streams.set(stream, credential);
    const frame = this.#ended.get(credential);
    if (frame !== undefined) endSoon([stream], frame);
  }

  /** All streams of the key are closed within a second. */
  endForKey(keyId: KeyId): void {
    this.#end(keyId, {
      type: 'error',
      code: 'revoked_key',
      detail: 'The key that opened this stream was revoked.',
    });
  }

  endForSession(sessionId: SessionId): void {
    this.#end(sessionId, {
      type: 'error',
      code: 'session_expired',
      detail: 'The session that opened this stream has ended.',
    });
  }

  #end(credential: KeyId | SessionId, frame: object): void {
    this.#ended.set(credential, frame);
    const concerned = [...this.#streams].filter(([, opener]) => opener === credential);
    endSoon(
      concerned.map(([stream]) => stream),
      frame,
    );
  }

  #forgetClosed(): void {
    for (const stream of this.#streams.keys()) if (stream.closed) this.#streams.delete(stream);
  }
}

function endSoon(streams: readonly OpenStream[], frame: object): void {
  setTimeout(() => {
    for (const stream of streams) stream.cut(frame);
  }, exitFrameMs).unref();
  setTimeout(() => {
    for (const stream of streams) stream.destroy();
  }, exitFrameMs + unreadMs).unref();
}
