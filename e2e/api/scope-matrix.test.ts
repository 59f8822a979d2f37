import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../daemon/contract/scopes.ts';
import type { CreatedSession } from '../../daemon/contract/session.ts';
import type { Access } from '../../daemon/http/route.ts';
import { type BootedDaemon, boot } from '../../daemon/testing/boot.ts';
import { type Client, client } from '../../daemon/testing/client.ts';
import { endpointOf, ownAdditions, scopeTable, specified, stillToCome } from './scope-table.ts';

let booted: BootedDaemon;

beforeAll(async () => {
  // A master key that can't be rotated: who may do it does no harm.
  const SERVICE_SECRET_KEY = randomBytes(32).toString('base64url');
  booted = await boot({ environment: { ...process.env, SERVICE_SECRET_KEY } });
});
afterAll(() => booted[Symbol.asyncDispose]());

const callers = ['no credential', ...scopes, 'session'] as const;
type Caller = (typeof callers)[number];

describe('the route table', () => {
  test('is the scope table: no route without a decision on its scope, no decision without a route', () => {
    const routes = Object.fromEntries(booted.daemon.routes.map((route) => [endpointOf(route), route.scope]));
    expect(routes).toEqual(scopeTable);
    expect(booted.daemon.routes).toHaveLength(Object.keys(scopeTable).length);
  });

  test('has every endpoint of the specification but those still to come, and nothing that nobody decided on', () => {
    const there = booted.daemon.routes.map(endpointOf).sort();
    const expected = [...specified.filter((endpoint) => !stillToCome.includes(endpoint)), ...ownAdditions];
    expect(there).toEqual(expected.sort());
    expect(stillToCome.filter((endpoint) => !specified.includes(endpoint))).toEqual([]);
  });

  test('has nothing of what is still to come', async () => {
    for (const endpoint of stillToCome) {
      const [method = '', path = ''] = endpoint.split(' ');
      const { status } = await booted.panel.send(
        method,
        path.replaceAll('<>', 'x'),
        method === 'GET' ? undefined : {},
      );
      expect([endpoint, status === 404 || status === 405]).toEqual([endpoint, true]);
    }
  });

  test('makes the caller’s key pay for every call that asks for a scope', () => {
    for (const route of booted.daemon.routes) {
      const free = route.scope === 'public' || route.scope === 'session';
      expect([endpointOf(route), route.limit]).toEqual([endpointOf(route), free ? 'none' : 'per-key']);
    }
  });
});

describe.for(Object.entries(scopeTable))('%s, for %s,', ([endpoint, required]) => {
  test.for(callers)('%s', async (caller) => {
    const [method = '', path = ''] = endpoint.split(' ');
    const { problem, status, wwwAuthenticate } = await call(await clientOf(caller), method, path);
    if (isLetIn(caller, required)) {
      expect([status === 401 && problem.code !== 'invalid_login_token', problem.code]).not.toEqual([
        true,
        problem.code,
      ]);
      expect(problem.code).not.toBe('insufficient_scope');
      expect(status).toBeLessThan(500);
    } else if (caller === 'no credential') {
      expect([status, problem.code]).toEqual([401, 'missing_credentials']);
      expect(wwwAuthenticate).toContain('Bearer');
    } else {
      expect([status, problem.code, problem.required, problem.granted]).toEqual([
        403,
        'insufficient_scope',
        required,
        caller,
      ]);
    }
  });
});

/** Scopes are cumulative; a session has every one of them, and what is for sessions is for no key. */
function isLetIn(caller: Caller, required: Access): boolean {
  if (required === 'public') return true;
  if (caller === 'no credential') return false;
  if (caller === 'session') return true;
  if (required === 'session') return false;
  const order = ['read', 'write', 'agent', 'admin'];
  return order.indexOf(caller) >= order.indexOf(required);
}

/** A new one each time: some of these calls end the credential they are made with. */
async function clientOf(caller: Caller): Promise<Client> {
  if (caller === 'no credential') return booted.stranger;
  if (caller !== 'session') return booted.keyed(caller);
  const token = booted.daemon.mintLoginToken();
  const session = await booted.stranger.json<CreatedSession>('POST', '/api/session', { token });
  return client(booted.daemon.url, session.session_token);
}

/** Ids of nothing, and a body that no route takes: whoever is let in does no harm. */
async function call({ send }: Client, method: string, path: string) {
  const target = path
    .replace('api-keys/<>', 'api-keys/key_0123456789abcdef')
    .replace('recent/<>', 'recent/ws_0123456789abcdef')
    .replace('<>', 'j_0123456789abcdef');
  const answer = await send(method, target, method === 'POST' ? { harmless: true } : undefined);
  const isProblem = answer.headers.get('content-type') === 'application/problem+json';
  const problem: Record<string, unknown> = isProblem ? await answer.json() : {};
  if (!isProblem) await answer.body?.cancel();
  return { problem, status: answer.status, wwwAuthenticate: answer.headers.get('www-authenticate') };
}
