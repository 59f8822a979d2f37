import { DaemonStatus, Health } from '../contract/daemon.ts';
import { PanelEvent } from '../contract/events.ts';
import { type EventHub, lastEventIdOf } from './event-hub.ts';
import type { OpenStreams } from './open-streams.ts';
import { type Route, route } from './route.ts';

export interface SystemRoutesOptions {
  readonly version: string;
  readonly status: () => DaemonStatus;
  readonly events: EventHub;
  readonly streams: OpenStreams;
  /** Made when it is first asked for. */
  readonly openapi: () => unknown;
}

export function systemRoutes({ version, status, events, streams, openapi }: SystemRoutesOptions): Route[] {
  let document: unknown;
  return [
    route({
      method: 'get',
      path: '/healthz',
      summary: 'Whether the daemon answers',
      scope: 'public',
      limit: 'none',
      request: {},
      response: { 200: { description: 'It does', schema: Health } },
      errors: [],
      handler: () => ({ status: 200, body: { status: 'ok', version } }),
    }),
    route({
      method: 'get',
      path: '/openapi.json',
      summary: 'This document',
      scope: 'public',
      limit: 'none',
      request: {},
      response: { 200: { description: 'OpenAPI 3.1' } },
      errors: [],
      handler: () => {
        document ??= openapi();
        return { status: 200, body: document };
      },
    }),
    route({
      method: 'get',
      path: '/api/status',
      summary: 'The daemon itself: version, address, memory, what is running, and what its user should know',
      scope: 'admin',
      limit: 'per-key',
      request: {},
      response: { 200: { description: 'The state now', schema: DaemonStatus } },
      errors: [],
      handler: () => ({ status: 200, body: status() }),
    }),
    route({
      method: 'get',
      path: '/api/events',
      stream: true,
      summary: 'What happens, as it happens: jobs, keys, workspaces',
      scope: 'admin',
      limit: 'per-key',
      request: {},
      response: {
        200: {
          description: 'An event per frame; those missed since Last-Event-ID first',
          schema: PanelEvent,
          contentType: 'text/event-stream',
        },
      },
      errors: [],
      handler: ({ req, res, principal }) => {
        streams.add(principal, events.subscribe(res, lastEventIdOf(req)));
        return undefined;
      },
    }),
  ];
}
