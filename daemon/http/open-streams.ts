import type { KeyId, SessionId } from '../contract/ids.ts';
import type { Principal } from './route.ts';

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
  readonly #streams = new Map<OpenStream, Principal>();

  get count(): number {
    this.#forgetClosed();
    return this.#streams.size;
  }

  add(principal: Principal, stream: OpenStream): void {
    this.#forgetClosed();
    this.#streams.set(stream, principal);
  }

  /** All streams of the key are closed within a second. */
  endForKey(keyId: KeyId): void {
    this.#end((principal) => principal.kind === 'key' && principal.keyId === keyId, {
      type: 'error',
      code: 'revoked_key',
      detail: 'The key that opened this stream was revoked.',
    });
  }

  endForSession(sessionId: SessionId): void {
    this.#end((principal) => principal.kind === 'session' && principal.sessionId === sessionId, {
      type: 'error',
      code: 'session_expired',
      detail: 'The session that opened this stream has ended.',
    });
  }

  #end(concerns: (principal: Principal) => boolean, frame: object): void {
    const streams = [...this.#streams]
      .filter(([, principal]) => concerns(principal))
      .map(([stream]) => stream);
    setTimeout(() => {
      for (const stream of streams) stream.cut(frame);
    }, exitFrameMs).unref();
    setTimeout(() => {
      for (const stream of streams) stream.destroy();
    }, exitFrameMs + unreadMs).unref();
  }

  #forgetClosed(): void {
    for (const stream of this.#streams.keys()) if (stream.closed) this.#streams.delete(stream);
  }
}
