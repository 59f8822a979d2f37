import type { SessionId, WorkspaceId } from '../contract/ids.ts';
import { CreatedSession, CreateSessionRequest, CurrentSession } from '../contract/session.ts';
import { type Call, type Route, route } from '../http/route.ts';
import type { LoginTokens } from './login-tokens.ts';
import type { Sessions } from './sessions.ts';

export interface SessionRoutesOptions {
  readonly sessions: Sessions;
  readonly loginTokens: LoginTokens;
  readonly activeWorkspace: (sessionId: SessionId) => WorkspaceId | null;
  readonly onEnded: (sessionId: SessionId) => void;
}

export function sessionRoutes({
  sessions,
  loginTokens,
  activeWorkspace,
  onEnded,
}: SessionRoutesOptions): Route[] {
  return [
    route({
      method: 'post',
      path: '/api/session',
      summary: 'Exchange a one-time login token for a panel session',
      scope: 'public',
      limit: 'none',
      request: { body: CreateSessionRequest },
      response: {
        201: {
          description: 'The session; its token is shown in this answer and never again',
          schema: CreatedSession,
        },
      },
      errors: ['invalid_login_token', 'storage_full', 'storage_failed'],
      handler: async ({ body }) => {
        loginTokens.redeem(body.token);
        return { status: 201, body: await sessions.create() };
      },
    }),
    route({
      method: 'get',
      path: '/api/session',
      summary: 'Who is signed in',
      scope: 'session',
      limit: 'none',
      request: {},
      response: { 200: { description: 'The session', schema: CurrentSession } },
      errors: [],
      handler: (call) => {
        const { session_id, created_at, expires_at } = sessions.get(sessionOf(call));
        const body = {
          session_id,
          user_id: call.principal.userId,
          created_at,
          expires_at,
          active_ws_id: activeWorkspace(session_id),
        };
        return { status: 200, body };
      },
    }),
    route({
      method: 'delete',
      path: '/api/session',
      summary: 'Sign out: the session ends at once, its streams within a second',
      scope: 'session',
      limit: 'none',
      request: {},
      response: { 204: { description: 'It has ended' } },
      errors: ['storage_full', 'storage_failed'],
      handler: async (call) => {
        const sessionId = sessionOf(call);
        await sessions.end(sessionId);
        onEnded(sessionId);
        return { status: 204 };
      },
    }),
  ];
}

function sessionOf({ principal }: Pick<Call<unknown, unknown, unknown>, 'principal'>): SessionId {
  // The route's scope lets sessions in alone.
  if (principal.kind !== 'session') throw new Error('a session route was called with a key');
  return principal.sessionId;
}
