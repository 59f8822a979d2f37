import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { ErrorCode } from '../contract/errors.ts';
import type { KeyId, SessionId, UserId, WorkspaceId } from '../contract/ids.ts';
import type { Actor } from '../contract/receipts.ts';
import type { Scope } from '../contract/scopes.ts';
import type { ByteSource } from './answer-bytes.ts';

/** Who a request speaks for, once its credential was checked. */
export type Principal =
  | { readonly kind: 'key'; readonly keyId: KeyId; readonly userId: UserId; readonly scope: Scope }
  | {
      readonly kind: 'session';
      readonly sessionId: SessionId;
      readonly userId: UserId;
      readonly scope: 'admin';
    };

/** What a route asks of its caller: nothing, a scope, or a panel session. */
export type Access = 'public' | 'session' | Scope;

export type Method = 'get' | 'post' | 'put' | 'delete';

/** What a handler works with; `params`, `query` and `body` have passed the route's schemas. */
export interface Call<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly principal: Principal;
  /** The workspace named by `X-Workspace-Id` (id or slug), if any. */
  readonly namedWorkspace: string | undefined;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

export interface Answer {
  readonly status: number;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`; `headers` say its type and length. HEAD takes the headers only. */
  readonly bytes?: ByteSource;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A handler that has begun a stream itself returns nothing. */
export type HandlerResult = Answer | undefined;

/**
 * A route is data: the server, the OpenAPI document and the scope tests are made from it. `scope` is mandatory, so no
 * route is open by omission.
 */
export interface Route<Params = unknown, Query = unknown, Body = unknown> {
  readonly method: Method;
  /** Express 5 path, for example `/api/shell/cancel/:job_id`. */
  readonly path: string;
  readonly summary: string;
  readonly scope: Access;
  /** Whether the caller's key pays for the call out of its requests per minute. Public routes have no key. */
  readonly limit: 'per-key' | 'none';
  /** Whether the handler writes the head of the answer itself and leaves it open. */
  readonly stream?: boolean;
  /** Whether the call works on a workspace, named by `X-Workspace-Id` or the caller's active one. */
  readonly workspace?: boolean;
  /** Request headers that the call heeds, with what they mean. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly request: {
    readonly params?: z.ZodType<Params>;
    readonly query?: z.ZodType<Query>;
    readonly body?: z.ZodType<Body>;
    /** In place of `body`: what was sent, unread. */
    readonly rawBody?: RawBody<Body>;
  };
  readonly response: Readonly<Record<number, ResponseDescription>>;
  readonly errors: readonly ErrorCode[];
  readonly handler: (call: Call<Params, Query, Body>) => HandlerResult | Promise<HandlerResult>;
}

export interface RawBody<Body> {
  readonly maxBytes: number;
  readonly contentTypes: readonly string[];
  readonly parse: (bytes: Buffer) => Body;
}

export interface ResponseDescription {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Defaults to `application/json`. */
  readonly contentType?: string;
}

/** Answers a request of one route; rejects with what is to become a problem document. */
export type Handler = (req: IncomingMessage, res: ServerResponse, params: unknown) => Promise<void>;

/** Types a route from its schemas; what the table keeps is the same object, seen without the particular types. */
export function route<Params, Query, Body>(definition: Route<Params, Query, Body>): Route {
  // The table calls every handler with values that its own schemas have produced, so widening is sound.
  return definition as Route;
}

/** The workspace that a call means: the one it names, else its caller's active one. */
export type WorkspaceOf = (call: Pick<Call<unknown, unknown, unknown>, 'principal' | 'namedWorkspace'>) => {
  readonly wsId: WorkspaceId;
  readonly slug: string;
  readonly path: string;
};

/** What stands for the caller where something is kept per credential. */
export function credentialId(principal: Principal): KeyId | SessionId {
  return principal.kind === 'key' ? principal.keyId : principal.sessionId;
}

/** The caller as receipts name it. */
export function actorOf(principal: Principal): Actor {
  return principal.kind === 'key'
    ? { type: 'key', key_id: principal.keyId }
    : { type: 'session', session_id: principal.sessionId };
}
