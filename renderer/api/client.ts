import type { SessionStore } from '../session/session-store.ts';
import { ApiProblem, problemFrom } from './problem.ts';

export type CallOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: unknown;
  /** Sent as it is, as application/octet-stream, in place of a JSON `body`. */
  content?: BodyInit;
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
    const body = options.content ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const bodyType = options.content === undefined ? 'application/json' : 'application/octet-stream';
    try {
      return await fetch(path, {
        method: options.method ?? 'GET',
        cache: 'no-store',
        headers: {
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...(options.workspaceId === undefined ? {} : { 'X-Workspace-Id': options.workspaceId }),
          ...(body === undefined ? {} : { 'Content-Type': bodyType }),
          ...options.headers,
        },
        ...(body === undefined ? {} : { body }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      const detail = 'The daemon does not answer';
      throw new ApiProblem({ code: 'unreachable', status: 0, detail }, { cause: error });
    }
  }
}
