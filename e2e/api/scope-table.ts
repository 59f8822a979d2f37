import type { Access } from '../../daemon/http/route.ts';

/**
 * Every endpoint that there is, with the scope that the decisions on the interface give it. Written out here, not taken
 * from the routes: a route that is added, or whose scope is changed, must be agreed to in this table.
 */
export const scopeTable: Readonly<Record<string, Access>> = {
  'GET /healthz': 'public',
  'GET /openapi.json': 'public',
  'POST /api/session': 'public',
  'GET /api/session': 'session',
  'DELETE /api/session': 'session',
  'GET /api/status': 'admin',
  'GET /api/events': 'admin',
  'GET /api/account/api-keys': 'admin',
  'POST /api/account/api-keys': 'admin',
  'DELETE /api/account/api-keys/<>': 'admin',
  'POST /api/project/load': 'write',
  'GET /api/project/recent': 'read',
  'DELETE /api/project/recent/<>': 'write',
  'POST /api/shell/run': 'agent',
  'GET /api/shell/jobs': 'read',
  'GET /api/shell/jobs/<>/stream': 'read',
  'POST /api/shell/cancel/<>': 'agent',
  'GET /api/shell/recent': 'read',
  'GET /api/project/files': 'read',
  'GET /api/project/file': 'read',
  'GET /api/project/search': 'read',
  'PUT /api/project/file': 'write',
  'DELETE /api/project/file': 'write',
  'POST /api/project/move': 'write',
  'POST /api/project/edit': 'write',
  'GET /api/receipts': 'read',
  'GET /api/receipts/<>': 'read',
  'GET /api/receipts/chain-head': 'read',
  'POST /api/receipts/<>/verify': 'read',
  'POST /api/receipts/verify': 'read',
  'POST /api/agent/rollback/<>': 'agent',
};

/** Endpoints of the specification and of the decisions on it, whether they are there yet or not. */
export const specified: readonly string[] = [
  'GET /healthz',
  'GET /openapi.json',
  'POST /api/session',
  'GET /api/session',
  'DELETE /api/session',
  'GET /api/events',
  'GET /api/account/api-keys',
  'POST /api/account/api-keys',
  'DELETE /api/account/api-keys/<>',
  'POST /api/secrets/<>',
  'GET /api/secrets',
  'GET /api/secrets/<>',
  'POST /api/secrets/rotate-master',
  'DELETE /api/secrets/<>',
  'POST /api/shell/run',
  'POST /api/shell/test',
  'POST /api/shell/suggest',
  'GET /api/shell/jobs',
  'GET /api/shell/jobs/<>/stream',
  'POST /api/shell/cancel/<>',
  'GET /api/shell/recent',
  'GET /api/shell/ssh-hosts',
  'POST /api/shell/ssh-run',
  'POST /api/shell/ssh-pull',
  'GET /api/receipts',
  'GET /api/receipts/<>',
  'GET /api/receipts/chain-head',
  'POST /api/receipts/<>/verify',
  'POST /api/receipts/<>/reground',
  'POST /api/project/load',
  'GET /api/project/recent',
  'GET /api/project/files',
  'GET /api/project/file',
  'GET /api/project/search',
  'GET /api/project/symbols',
  'GET /api/project/findings',
  'GET /api/project/scan',
  'GET /api/project/actions',
  'PUT /api/project/file',
  'DELETE /api/project/file',
  'POST /api/project/move',
  'POST /api/project/edit',
  'GET /api/account/export-data',
  'GET /api/account/exports',
  'GET /api/account/exports/<>/download',
  'POST /api/account/request-delete',
  'POST /api/account/cancel-delete',
  'GET /api/agent/history',
];

/** Those of them that belong to capabilities which are still to come; an endpoint leaves this list when it is made. */
export const stillToCome: readonly string[] = [
  'POST /api/secrets/<>',
  'GET /api/secrets',
  'GET /api/secrets/<>',
  'POST /api/secrets/rotate-master',
  'DELETE /api/secrets/<>',
  'POST /api/shell/test',
  'POST /api/shell/suggest',
  'GET /api/shell/ssh-hosts',
  'POST /api/shell/ssh-run',
  'POST /api/shell/ssh-pull',
  'POST /api/receipts/<>/reground',
  'GET /api/project/symbols',
  'GET /api/project/findings',
  'GET /api/project/scan',
  'GET /api/project/actions',
  'GET /api/account/export-data',
  'GET /api/account/exports',
  'GET /api/account/exports/<>/download',
  'POST /api/account/request-delete',
  'POST /api/account/cancel-delete',
  'GET /api/agent/history',
];

/** Endpoints of ours that neither document names. */
export const ownAdditions: readonly string[] = [
  'GET /api/status',
  'DELETE /api/project/recent/<>',
  'POST /api/receipts/verify',
  'POST /api/agent/rollback/<>',
];

/** `GET /api/x/<>` for a route, whatever its parameters are called. */
export function endpointOf({ method, path }: { method: string; path: string }): string {
  return `${method.toUpperCase()} ${path.replace(/:\w+/g, '<>')}`;
}
