import type { CreatedSession } from '../../daemon/contract/session.ts';
import { ApiProblem, problemFrom, problemText } from '../api/problem.ts';
import { desktopBridge } from '../desktop-bridge.ts';

export type SessionState =
  | { status: 'signing-in' }
  | { status: 'signed-in'; token: string }
  | { status: 'signed-out'; reason: 'none' | 'ended' | 'left' | 'refused'; detail?: string };

/**
 * Who is signed in: one-time tokens are exchanged here, and the session's own token is kept in sessionStorage,
 * which no other tab and no other site can read.
 */
export class SessionStore {
  #state: SessionState = { status: 'signing-in' };
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): SessionState => this.#state;

  token(): string | undefined {
    return this.#state.status === 'signed-in' ? this.#state.token : undefined;
  }

  /** Takes a token out of the address, else the session of this tab, else asks the desktop. */
  async start(): Promise<void> {
    const loginToken = takeTokenFromAddress();
    const stored = sessionStorage.getItem(storageKey);
    if (loginToken !== undefined) return this.exchange(loginToken);
    if (stored !== null) return this.#set({ status: 'signed-in', token: stored });
    await this.#askDesktop('none');
  }

  /** Trades a one-time token for a session. A refusal ends in `signed-out` with the reason in words. */
  async exchange(loginToken: string): Promise<void> {
    this.#set({ status: 'signing-in' });
    try {
      const session = await createSession(loginToken);
      sessionStorage.setItem(storageKey, session.session_token);
      this.#set({ status: 'signed-in', token: session.session_token });
    } catch (error) {
      const used = error instanceof ApiProblem && error.status === 401;
      const detail = used
        ? 'This link has been used already or is older than five minutes. Get a new one.'
        : problemText(error);
      this.#set({ status: 'signed-out', reason: 'refused', detail });
    }
  }

  /** The daemon no longer takes the session's token. */
  expire(): void {
    if (this.#state.status !== 'signed-in') return;
    sessionStorage.removeItem(storageKey);
    void this.#askDesktop('ended');
  }

  /** Forgets the session in this tab; telling the daemon is the caller's part. */
  leave(): void {
    sessionStorage.removeItem(storageKey);
    this.#set({ status: 'signed-out', reason: 'left' });
  }

  async #askDesktop(reason: 'none' | 'ended'): Promise<void> {
    const bridge = desktopBridge();
    if (bridge !== undefined) {
      this.#set({ status: 'signing-in' });
      const token = await bridge.requestLoginToken();
      if (token !== null) return this.exchange(token);
    }
    this.#set({ status: 'signed-out', reason });
  }

  #set(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/** Takes `#token=…` out of the address and out of the history, so that it is not left lying about. */
export function takeTokenFromAddress(): string | undefined {
  const token = tokenIn(location.href);
  if (token !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return token;
}

/** The token in a pasted link, or the pasted text itself where it looks like one. */
export function tokenIn(text: string): string | undefined {
  const trimmed = text.trim();
  const fragment = /#(?:.*&)?token=([^&\s]+)/.exec(trimmed)?.[1];
  if (fragment !== undefined) return decodeURIComponent(fragment);
  return /^[\w-]{16,200}$/.test(trimmed) ? trimmed : undefined;
}

const storageKey = 'tallystick.session';

async function createSession(token: string): Promise<CreatedSession> {
  const response = await fetch('/api/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  }).catch((error: unknown) => {
    throw new ApiProblem(
      { code: 'unreachable', status: 0, detail: 'The daemon does not answer' },
      { cause: error },
    );
  });
  if (!response.ok) throw await problemFrom(response);
  return response.json();
}
