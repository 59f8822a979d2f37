import * as z from 'zod';
import { AuditPage } from '../contract/audit-log.ts';
import { type Route, route } from '../http/route.ts';
import type { AuditLog } from './audit-log.ts';

/** Entries on a page where nothing is said, and at most. */
const pageLimit = { usual: 50, most: 500 };

const pageQuery = z.strictObject({
  before: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'must be the seq of an entry')
    .optional()
    .describe('`next_before` of the page before'),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, `must be a number from 1 to ${pageLimit.most}`)
    .refine((text) => Number(text) <= pageLimit.most, `must be at most ${pageLimit.most}`)
    .optional()
    .describe(`1 to ${pageLimit.most}; ${pageLimit.usual} if not given`),
});

export function auditRoutes({ auditLog }: { readonly auditLog: Pick<AuditLog, 'page'> }): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/account/audit-log',
      summary: 'Who did what with secrets and keys, newest first',
      scope: 'admin',
      limit: 'per-key',
      request: { query: pageQuery },
      response: { 200: { description: 'A page', schema: AuditPage } },
      errors: ['storage_failed', 'shutting_down'],
      handler: async ({ query: { before, limit } }) => {
        const request = {
          before: before === undefined ? undefined : Number(before),
          limit: Number(limit ?? pageLimit.usual),
        };
        return { status: 200, body: await auditLog.page(request) };
      },
    }),
  ];
}
