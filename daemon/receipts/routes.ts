import * as z from 'zod';
import { ReceiptId, RunId } from '../contract/ids.ts';
import { ChainHead, Receipt, ReceiptPage, RunVerdict, Tool, VerifyFrame } from '../contract/receipts.ts';
import { eventStreamHeaders } from '../http/event-hub.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import { type Call, type Route, route } from '../http/route.ts';
import { chainHead } from './chain-head.ts';
import { listReceipts } from './list-receipts.ts';
import { readReceipt } from './read-receipt.ts';
import type { ReceiptStore } from './receipt-store.ts';
import { VerificationStream } from './stream-verification.ts';
import { verifyChain } from './verify-chain.ts';
import { verifyRun } from './verify-run.ts';

export interface ReceiptRoutesOptions {
  /**
   * The receipts of the workspace that `wsId` (id or slug) names, else the call. Rejects with `no_active_workspace` or
   * `unknown_workspace`.
   */
  readonly receiptsOf: (
    call: Pick<Call<unknown, unknown, unknown>, 'principal' | 'namedWorkspace'>,
    wsId: string | undefined,
  ) => Promise<ReceiptStore>;
  readonly streams: OpenStreams;
}

const wsId = z.string().min(1).max(64).optional().describe('Id or slug; goes before X-Workspace-Id');
const workspaceQuery = z.strictObject({ ws_id: wsId });
const workspaceErrors = [
  'no_active_workspace',
  'unknown_workspace',
  'storage_full',
  'storage_failed',
] as const;

/** Receipts on a page where nothing is said, and at most. */
const pageLimit = { usual: 50, most: 200 };

const listQuery = z.strictObject({
  ws_id: wsId,
  run_id: RunId.optional(),
  before: ReceiptId.optional().describe('`next_before` of the page before'),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, `must be a number from 1 to ${pageLimit.most}`)
    .refine((text) => Number(text) <= pageLimit.most, `must be at most ${pageLimit.most}`)
    .optional()
    .describe(`1 to ${pageLimit.most}; ${pageLimit.usual} if not given`),
  tool: Tool.optional(),
  path: z.string().min(1).max(4096).optional().describe('Part of the path of a touched file'),
});

export function receiptRoutes({ receiptsOf, streams }: ReceiptRoutesOptions): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/receipts',
      summary:
        'Receipts, newest first. With a filter a page can be short, or empty, while next_before says where to go on',
      scope: 'read',
      limit: 'per-key',
      workspace: true,
      request: { query: listQuery },
      response: { 200: { description: 'A page', schema: ReceiptPage } },
      errors: [...workspaceErrors, 'unknown_receipt'],
      handler: async (call) => {
        const { before, limit, run_id: runId, tool, path } = call.query;
        const store = await receiptsOf(call, call.query.ws_id);
        const request = { before, limit: Number(limit ?? pageLimit.usual), runId, tool, path };
        return { status: 200, body: await listReceipts(store, request) };
      },
    }),
    route({
      method: 'get',
      path: '/api/receipts/chain-head',
      summary: 'The end of the chain: note it down, and no later change of the past goes unseen',
      scope: 'read',
      limit: 'per-key',
      workspace: true,
      request: { query: workspaceQuery },
      response: { 200: { description: 'The head', schema: ChainHead } },
      errors: workspaceErrors,
      handler: async (call) => ({ status: 200, body: chainHead(await receiptsOf(call, call.query.ws_id)) }),
    }),
    route({
      method: 'get',
      path: '/api/receipts/:receipt_id',
      stream: true,
      summary: 'The bytes of a receipt, as they are stored',
      scope: 'read',
      limit: 'per-key',
      workspace: true,
      request: { params: z.strictObject({ receipt_id: ReceiptId }), query: workspaceQuery },
      response: { 200: { description: 'The receipt', schema: Receipt } },
      errors: [...workspaceErrors, 'unknown_receipt'],
      handler: async (call) => {
        const store = await receiptsOf(call, call.query.ws_id);
        const { bytes, etag } = await readReceipt(store, call.params.receipt_id);
        call.res.writeHead(200, {
          'Content-Type': 'application/json',
          'Content-Length': bytes.length,
          'Cache-Control': 'no-store',
          'X-Content-Type-Options': 'nosniff',
          ETag: etag,
        });
        call.res.end(call.req.method === 'HEAD' ? undefined : bytes);
        return undefined;
      },
    }),
    route({
      method: 'post',
      path: '/api/receipts/:run_id/verify',
      summary: 'Read the receipts of a run again and compare them with the chain',
      scope: 'read',
      limit: 'per-key',
      workspace: true,
      request: { params: z.strictObject({ run_id: RunId }), query: workspaceQuery },
      response: { 200: { description: 'The verdict', schema: RunVerdict } },
      errors: [...workspaceErrors, 'unknown_run'],
      handler: async (call) => {
        const store = await receiptsOf(call, call.query.ws_id);
        return { status: 200, body: await verifyRun(store, call.params.run_id) };
      },
    }),
    route({
      method: 'post',
      path: '/api/receipts/verify',
      stream: true,
      summary: 'Verify the whole chain as it is on the disk',
      scope: 'read',
      limit: 'per-key',
      workspace: true,
      request: { query: workspaceQuery },
      response: {
        200: {
          description: 'Frames of progress, then the verdict',
          schema: VerifyFrame,
          contentType: 'text/event-stream',
        },
      },
      errors: workspaceErrors,
      handler: async (call) => {
        const store = await receiptsOf(call, call.query.ws_id);
        call.res.writeHead(200, eventStreamHeaders);
        call.res.flushHeaders();
        const stream = new VerificationStream(call.res);
        streams.add(call.principal, stream);
        await stream.run((options) => verifyChain(store, options));
        return undefined;
      },
    }),
  ];
}
