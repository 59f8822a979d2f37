import * as z from 'zod';
import { KeyId, ReceiptId, RunId, SessionId, SnapshotId, Timestamp, UserId, WorkspaceId } from './ids.ts';

/** `sha256:` and 64 lowercase hexadecimal digits: what `sha256sum` prints for the raw bytes. */
export const Hash = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/)
  .meta({ id: 'Hash' });

/** The content of a file by its hash; `absent` where there is no file. Of a link, its target is hashed. */
export const FileHash = z.union([Hash, z.literal('absent')]).meta({ id: 'FileHash' });

/** Git's modes: a file, an executable, a link, an empty folder. */
export const FileMode = z.enum(['100644', '100755', '120000', '040000', 'absent']).meta({ id: 'FileMode' });
export type FileMode = z.infer<typeof FileMode>;

export const Actor = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('key'), key_id: KeyId }),
    z.object({ type: z.literal('session'), session_id: SessionId }),
  ])
  .meta({ id: 'Actor' });
export type Actor = z.infer<typeof Actor>;

/** What made a change: the names are part of receipts and never change their meaning. */
export const Tool = z
  .enum([
    'file.write',
    'file.edit',
    'file.move',
    'file.delete',
    'shell.run',
    'ssh.run',
    'ssh.pull',
    'rollback',
    'secret.set',
    'secret.delete',
    'secret.import',
    'secret.recover',
    'secret.rotate',
  ])
  .meta({ id: 'Tool' });
export type Tool = z.infer<typeof Tool>;

export const TouchedFile = z
  .object({
    path: z.string().describe('Relative to the workspace, with /; an empty folder ends with /'),
    path_base64: z
      .string()
      .optional()
      .describe('The bytes of a path that is not UTF-8; then `path` has U+FFFD in their place'),
    before_hash: FileHash,
    after_hash: FileHash,
    before_mode: FileMode,
    after_mode: FileMode,
    not_kept: z
      .literal(true)
      .optional()
      .describe('The content from before was over 10 MiB: it is hashed, but can not be restored'),
  })
  .meta({ id: 'TouchedFile' });
export type TouchedFile = z.infer<typeof TouchedFile>;

export const Hunk = z
  .object({
    old_start: z.int(),
    old_lines: z.int(),
    new_start: z.int(),
    new_lines: z.int(),
    lines: z.array(z.string()).describe('Each begins with a space, - or +'),
  })
  .meta({ id: 'Hunk' });
export type Hunk = z.infer<typeof Hunk>;

export const FileDiff = z
  .object({
    path: z.string(),
    hunks: z.array(Hunk),
    binary: z.literal(true).optional(),
    truncated: z.literal(true).optional().describe('The diff is over 256 KiB and left out'),
  })
  .meta({ id: 'FileDiff' });
export type FileDiff = z.infer<typeof FileDiff>;

export const GuardResult = z.enum(['pass', 'warn', 'fail', 'skipped']).meta({ id: 'GuardResult' });

const shared = {
  receipt_id: ReceiptId,
  seq: z.int().describe('Position in the chain, from 1'),
  timestamp: Timestamp,
  user_id: UserId,
  workspace_id: WorkspaceId,
  run_id: RunId,
  action: z.enum(['apply', 'rollback']),
  tool: Tool,
  actor: Actor,
  command: z
    .object({ cmd: z.string(), exit_code: z.int().nullable(), host: z.string().optional() })
    .optional()
    .describe('For commands; exit_code is null where the daemon died before the command ended'),
  concurrent_runs: z
    .array(RunId)
    .optional()
    .describe('Commands that ran at the same time: a change listed here may be one of theirs'),
  rolled_back_run_id: RunId.optional().describe('The run that a rollback undid'),
  snapshot_id: SnapshotId.describe('Holds what the touched files were before'),
  symbols_checked: z.int(),
  guards: z.object({ write: GuardResult, hallucination: GuardResult, egress: GuardResult }),
  cost: z.object({ usd: z.number(), tokens_in: z.int(), tokens_out: z.int() }),
  models: z.array(z.string()),
  prev_receipt_hash: Hash,
  self_hash: Hash,
};

/** A receipt as it is stored; docs/receipts.md gives its bytes. */
export const Receipt = z
  .object({ ...shared, files: z.array(TouchedFile), diffs: z.array(FileDiff) })
  .meta({ id: 'Receipt' });
export type Receipt = z.infer<typeof Receipt>;

export const LineCount = z.object({ added: z.int(), removed: z.int() });

export const maxSummaryFiles = 20;

/** A receipt as it is listed: without its diffs, and with the first files only. */
export const ReceiptSummary = z
  .object({
    ...shared,
    files: z.array(TouchedFile.extend(LineCount.shape)).describe(`The first ${maxSummaryFiles}`),
    file_count: z.int(),
    ...LineCount.shape,
  })
  .meta({ id: 'ReceiptSummary' });
export type ReceiptSummary = z.infer<typeof ReceiptSummary>;

export const ReceiptPage = z
  .object({
    receipts: z.array(ReceiptSummary),
    unreadable: z
      .array(ReceiptId)
      .optional()
      .describe(
        'Receipts that belong on this page, but whose file is gone or damaged; absent where there are none',
      ),
    next_before: ReceiptId.nullable().describe('`before` for the next page; null on the last'),
  })
  .meta({ id: 'ReceiptPage' });
export type ReceiptPage = z.infer<typeof ReceiptPage>;

export const ChainHead = z
  .object({
    ws_id: WorkspaceId,
    head: Hash.describe('self_hash of the newest receipt; of an empty chain, its genesis hash'),
    count: z.int(),
    receipt_id: ReceiptId.nullable(),
    checkpoint_key: z.string().nullable().describe('For `tallystick verify --key`: a C2SP verifier key'),
  })
  .meta({ id: 'ChainHead' });
export type ChainHead = z.infer<typeof ChainHead>;

/** What a verification found wrong first. */
export const Fault = z
  .object({
    field: z.string().describe('Field of the receipt, or what of the chain: see docs/receipts.md'),
    receipt_id: z.string().nullable(),
    seq: z.int().nullable(),
    detail: z.string(),
  })
  .meta({ id: 'Fault' });
export type Fault = z.infer<typeof Fault>;

export const RunVerdict = z
  .object({
    valid: z.boolean(),
    mismatch: z.string().nullable().describe('The first field found wrong; null where all is right'),
    receipt_id: z.string().nullable().describe('The receipt it was found in; else the newest of the run'),
    checked: z.int().describe('Receipts of the run that were read'),
    detail: z.string().nullable(),
  })
  .meta({ id: 'RunVerdict' });
export type RunVerdict = z.infer<typeof RunVerdict>;

export const ChainVerdict = z
  .object({
    valid: z.boolean(),
    fault: Fault.nullable(),
    checked: z.int(),
    count: z.int().describe('Receipts that the chain should have'),
    head: z.string().nullable(),
    signature: z
      .enum(['verified', 'unverified', 'missing', 'invalid'])
      .describe('Of the checkpoint; unverified: no key was given'),
    repairs: z.array(z.string()).describe('What recovery mended after a crash; none of it is tampering'),
  })
  .meta({ id: 'ChainVerdict' });
export type ChainVerdict = z.infer<typeof ChainVerdict>;

/** Frames of `POST /api/receipts/verify`. */
export const VerifyFrame = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('progress'), checked: z.int(), total: z.int() }),
    z.object({ type: z.literal('verdict'), ...ChainVerdict.shape }),
  ])
  .meta({ id: 'VerifyFrame' });
export type VerifyFrame = z.infer<typeof VerifyFrame>;

/** Why a file can't simply be put back. */
export const RollbackConflict = z
  .object({
    path: z.string(),
    reason: z.enum(['changed_since', 'not_kept', 'snapshot_pruned', 'path_blocked']),
    detail: z.string(),
  })
  .meta({ id: 'RollbackConflict' });
export type RollbackConflict = z.infer<typeof RollbackConflict>;

export const RollbackPlan = z
  .object({
    run_id: RunId,
    files: z.array(
      z.object({
        path: z.string(),
        step: z.enum(['restore', 'create', 'delete', 'unchanged']),
        added: z.int(),
        removed: z.int(),
      }),
    ),
    conflicts: z.array(RollbackConflict),
  })
  .meta({ id: 'RollbackPlan' });
export type RollbackPlan = z.infer<typeof RollbackPlan>;

export const RollbackRequest = z
  .strictObject({
    force: z
      .boolean()
      .optional()
      .describe(
        'Put files back even where they have changed since (the rollback keeps what they were, and can be rolled back), and go on where some can not be',
      ),
  })
  .optional()
  .meta({ id: 'RollbackRequest' });

export const RolledBack = RollbackPlan.extend({
  receipt_id: ReceiptId.nullable().describe('null where nothing was left to undo'),
  rollback_run_id: RunId.describe('Roll this one back to undo the rollback'),
}).meta({ id: 'RolledBack' });
export type RolledBack = z.infer<typeof RolledBack>;
