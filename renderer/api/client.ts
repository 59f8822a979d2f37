import type { SessionStore } from '../session/session-store.ts';
import { ApiProblem, problemFrom } from './problem.ts';

export type CallOptions = {
  method?: 'GET' | 'POST' | 'DELETE';
  body?: unknown;
  workspaceId?: string | undefined;
  signal?: AbortSignal;
  headers?: Record<string, string>;
};

/** The daemon's API with the session's credential on every call. Fails with ApiProblem, or AbortError. */
export class ApiClient {
  readonly #session: SessionStore;

  constructor(session: SessionStore) {
    this.#session = session;
  }

  async json<Answer>(path: string, options: CallOptions = {}): Promise<Answer> {
    const response = await this.open(path, options);
    return response.json();
  }

  /** For calls that answer with nothing. */
  async send(path: string, options: CallOptions = {}): Promise<void> {
    const response = await this.open(path, options);
    await response.body?.cancel();
  }

  /** The answer once its head is there, for those who read the body as a stream. */
  async open(path: string, options: CallOptions = {}): Promise<Response> {
    const response = await this.#fetch(path, options);
    if (response.ok) return response;
    const problem = await problemFrom(response);
    if (problem.status === 401) this.#session.expire();
    throw problem;
  }

  async #fetch(path: string, options: CallOptions): Promise<Response> {
    const token = this.#session.token();
    try {
      return await fetch(path, {
        method: options.method ?? 'GET',
        cache: 'no-store',
        headers: {
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...(options.workspaceId === undefined ? {} : { 'X-Workspace-Id': options.workspaceId }),
          ...(options.body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...options.headers,
        },
        ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      const detail = 'The daemon does not answer';
      throw new ApiProblem({ code: 'unreachable', status: 0, detail }, { cause: error });
    }
  }
}
