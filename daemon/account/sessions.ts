import { hash, randomBytes } from 'node:crypto';
import { CodedError } from '../contract/errors.ts';
import { SessionId, type UserId } from '../contract/ids.ts';
import type { CreatedSession } from '../contract/session.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import type { SessionRecord, SessionSlice } from './store.ts';

export interface SessionsOptions {
  readonly slice: SessionSlice;
  readonly userId: UserId;
  readonly clock: Clock;
}

const lifetimeMs = 7 * 24 * 3600 * 1000;
const maxSessions = 100;
export const sessionTokenPrefix = 'tls_';

/** The panel's sessions. They survive a restart of the daemon, as hashes. */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Resolves once the session is durable. The oldest gives way where there are a hundred. */
  async create(): Promise<CreatedSession> {
    const { slice, userId, clock } = this.#options;
    const session_token = sessionTokenPrefix + randomBytes(32).toString('base64url');
    const now = clock();
    const record: SessionRecord = {
      session_id: SessionId.parse(newId('ses')),
      sha256: hash('sha256', session_token, 'hex'),
      created_at: timestamp(now),
      expires_at: timestamp(now + lifetimeMs),
    };
    await slice.update((sessions) => {
      const alive = sessions.filter(({ expires_at }) => Date.parse(expires_at) > now);
      return { next: [...alive, record].slice(-maxSessions), result: undefined };
    });
    return { session_id: record.session_id, session_token, user_id: userId, expires_at: record.expires_at };
  }

  /** @throws CodedError session_expired */
  authenticate(token: string): SessionId {
    const sha256 = hash('sha256', token, 'hex');
    const record = this.#options.slice.value.find((session) => session.sha256 === sha256);
    if (record !== undefined && this.#options.clock() < Date.parse(record.expires_at))
      return record.session_id;
    throw new CodedError('session_expired', 'This session has ended; sign in again.');
  }

  /** @throws CodedError session_expired where it ended meanwhile */
  get(sessionId: SessionId): SessionRecord {
    const record = this.#options.slice.value.find((session) => session.session_id === sessionId);
    if (record === undefined)
      throw new CodedError('session_expired', 'This session has ended; sign in again.');
    return record;
  }

  async end(sessionId: SessionId): Promise<void> {
    await this.#options.slice.update((sessions) => ({
      next: sessions.filter((session) => session.session_id !== sessionId),
      result: undefined,
    }));
  }
}
