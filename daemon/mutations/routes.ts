import * as z from 'zod';
import { RunId } from '../contract/ids.ts';
import { RollbackPlan, RollbackRequest, RolledBack } from '../contract/receipts.ts';
import { actorOf, type Route, route, type WorkspaceOf } from '../http/route.ts';
import type { Mutations } from './mutations.ts';

export interface RollbackRoutesOptions {
  readonly mutations: Mutations;
  readonly workspaceOf: WorkspaceOf;
}

export function rollbackRoutes({ mutations, workspaceOf }: RollbackRoutesOptions): Route[] {
  return [
    route({
      method: 'post',
      path: '/api/agent/rollback/:run_id',
      summary: 'Undo what a run changed; the rollback has a receipt of its own and can be rolled back',
      scope: 'agent',
      limit: 'per-key',
      workspace: true,
      request: {
        params: z.strictObject({ run_id: RunId }),
        query: z.strictObject({
          preview: z
            .enum(['true', 'false'])
            .optional()
            .describe('true: say what would be done, and do nothing'),
        }),
        body: RollbackRequest,
      },
      response: {
        200: { description: 'What was, or would be, put back', schema: z.union([RolledBack, RollbackPlan]) },
      },
      errors: [
        'no_active_workspace',
        'unknown_workspace',
        'unknown_run',
        'rollback_conflict',
        'conflict',
        'folder_not_found',
        'receipts_damaged',
        'storage_full',
        'storage_failed',
        'shutting_down',
      ],
      handler: async (call) => {
        const workspace = workspaceOf(call);
        const runId = call.params.run_id;
        if (call.query.preview === 'true')
          return { status: 200, body: await mutations.previewRollback(workspace, runId) };
        const actor = actorOf(call.principal);
        const force = call.body?.force ?? false;
        return { status: 200, body: await mutations.rollBack(workspace, { runId, force, actor }) };
      },
    }),
  ];
}
