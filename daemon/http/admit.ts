import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { CodedError } from '../contract/errors.ts';
import { type Scope, scopeGrants } from '../contract/scopes.ts';
import { readCredential } from './credentials.ts';
import { type RateLimiter, rateLimited } from './rate-limit.ts';
import type { Access, Principal, Route } from './route.ts';

export interface Admission {
  /** @throws CodedError invalid_key, revoked_key, expired_key or session_expired */
  readonly authenticate: (credential: string) => Principal;
  readonly rateLimiter: RateLimiter;
}

/** What public routes see as their caller; they ask for nothing and look at nothing of it. */
export type Caller = Principal | undefined;

/**
 * Credential, rate limit and scope, in this order: a key is counted before its scope is looked at, so that probing with
 * a narrow key is limited too. What the answer must say of the limit is added to `headers` (names and values in turn).
 */
export function admit(route: Route, req: IncomingMessage, headers: string[], admission: Admission): Caller {
  if (route.scope === 'public') return undefined;
  const principal = admission.authenticate(readCredential(req, searchParams(req)));
  if (principal.kind === 'key' && route.limit === 'per-key')
    countRequest(principal, headers, admission.rateLimiter);
  checkAccess(route.scope, principal);
  return principal;
}

/**
 * Once more after the body: a client can hold it back for half a minute, and a credential that was good before it may
 * have ended since.
 *
 * @throws CodedError as `authenticate`
 */
export function admitStill(
  route: Route,
  req: IncomingMessage,
  { authenticate }: Pick<Admission, 'authenticate'>,
): void {
  if (route.scope !== 'public') authenticate(readCredential(req, searchParams(req)));
}

function countRequest(principal: Principal & { kind: 'key' }, headers: string[], limiter: RateLimiter): void {
  const rate = limiter.take(principal.keyId);
  headers.push('RateLimit-Limit', String(rate.limit), 'RateLimit-Remaining', String(rate.remaining));
  headers.push('RateLimit-Reset', String(rate.resetSeconds));
  if (!rate.allowed) throw rateLimited(rate);
}

function checkAccess(required: Exclude<Access, 'public'>, principal: Principal): void {
  if (required === 'session') {
    if (principal.kind === 'session') return;
    throw insufficient(
      'session',
      principal.scope,
      'This call is for a signed-in person, not for an API key.',
    );
  }
  if (scopeGrants(principal.scope, required)) return;
  throw insufficient(
    required,
    principal.scope,
    `This call needs the scope ${required}; the key has ${principal.scope}.`,
  );
}

function insufficient(required: string, granted: Scope, detail: string): CodedError {
  return new CodedError('insufficient_scope', detail, { members: { required, granted } });
}

/** Search parameters of a request; undefined where it has none, which is the usual case. */
export function searchParams(req: IncomingMessage): URLSearchParams | undefined {
  const url = req.url ?? '';
  const mark = url.indexOf('?');
  return mark < 0 ? undefined : new URLSearchParams(url.slice(mark + 1));
}

/** Query as an object for the route's schema; `api_key` belongs to the credential, and a repeated name is refused. */
export function queryObject(req: IncomingMessage): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of searchParams(req) ?? []) {
    if (name === 'api_key') continue;
    if (name in query)
      throw new CodedError('bad_request', `The query parameter ${name} is given more than once.`);
    query[name] = value;
  }
  return query;
}

/** @throws CodedError invalid_request with the path and message of everything that does not fit */
export function validate<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
  }));
  const first = errors[0];
  const detail =
    first === undefined
      ? `The ${where} is not valid.`
      : `The ${where} is not valid: ${first.path ? `${first.path}: ` : ''}${first.message}`;
  throw new CodedError('invalid_request', detail, { members: { errors } });
}
