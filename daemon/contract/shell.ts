import * as z from 'zod';
import { JobId, KeyId, ReceiptId, RunId, Timestamp, WorkspaceId } from './ids.ts';
import { maxPathLength } from './projects.ts';
import { maxSecrets, StoredSecretName } from './secrets.ts';

export const hardTimeoutSeconds = 300;
/** Bytes of a line that one frame carries at most; what is over follows in frames with `partial: true`. */
export const maxLineBytes = 65_536;
export const maxCommandBytes = 65_536;
export const maxRecentCommands = 50;
export const maxRunningJobs = 64;

export const Command = z
  .string()
  .min(1)
  .max(maxCommandBytes)
  .refine((cmd) => cmd.trim() !== '', 'must not be blank')
  .refine((cmd) => !cmd.includes('\0'), 'must not contain NUL')
  .refine(
    (cmd) => new TextEncoder().encode(cmd).length <= maxCommandBytes,
    `must be at most ${maxCommandBytes} bytes`,
  );

/** What lies outside has a code of its own. */
export const TimeoutSeconds = z
  .int()
  .describe(
    `Seconds, 1 to ${hardTimeoutSeconds}; default ${hardTimeoutSeconds}. Outside: timeout_out_of_range`,
  );

export const SecretNames = z.array(StoredSecretName).max(maxSecrets);

export const RunRequest = z
  .strictObject({
    cmd: Command.describe('A command line for the shell; the token $FREE_PORT is replaced by an open port'),
    cwd: z
      .string()
      .max(maxPathLength)
      .optional()
      .describe('Folder relative to the workspace root, which is the default'),
    timeout: TimeoutSeconds.optional(),
    secrets: SecretNames.optional().describe(
      'Names of the secrets that the command gets in its environment; default: all; []: none',
    ),
  })
  .meta({ id: 'RunRequest' });
export type RunRequest = z.infer<typeof RunRequest>;

export const EndReason = z
  .enum(['timeout', 'cancelled', 'revoked', 'shutdown', 'connection_lost'])
  .meta({ id: 'EndReason' });
export type EndReason = z.infer<typeof EndReason>;

export const OutputFrame = z
  .object({
    type: z.enum(['stdout', 'stderr']),
    line: z.string(),
    partial: z
      .literal(true)
      .optional()
      .describe('This frame continues the line of the frame before it in the same stream'),
  })
  .meta({ id: 'OutputFrame' });
export type OutputFrame = z.infer<typeof OutputFrame>;

export const ExitFrame = z
  .object({
    type: z.literal('exit'),
    code: z.int().describe('Exit code; 128 + n after signal n; 124 after the timeout'),
    signal: z.string().optional(),
    reason: EndReason.optional(),
    run_id: RunId.optional(),
    receipt_id: ReceiptId.nullable()
      .optional()
      .describe(
        'Receipt of the files that the command changed; null where it changed none; absent where that is not known yet: GET /api/receipts?run_id=',
      ),
    files_changed: z.int().optional(),
    masked: z
      .int()
      .optional()
      .describe('How many times *** in the output stands for a secret; absent where it never does'),
  })
  .meta({ id: 'ExitFrame' });
export type ExitFrame = z.infer<typeof ExitFrame>;

/** Frames `from` to `to` are no longer in the job's buffer. */
export const GapFrame = z
  .object({ type: z.literal('gap'), from: z.int(), to: z.int() })
  .meta({ id: 'GapFrame' });
export type GapFrame = z.infer<typeof GapFrame>;

/** The stream ends early; the job itself may go on. */
export const ErrorFrame = z
  .object({ type: z.literal('error'), code: z.string(), detail: z.string() })
  .meta({ id: 'ErrorFrame' });
export type ErrorFrame = z.infer<typeof ErrorFrame>;

export const JobFrame = z
  .discriminatedUnion('type', [OutputFrame, ExitFrame, GapFrame, ErrorFrame])
  .meta({ id: 'JobFrame' });
export type JobFrame = z.infer<typeof JobFrame>;

export const JobOrigin = z.enum(['api', 'panel']).meta({ id: 'JobOrigin' });
export type JobOrigin = z.infer<typeof JobOrigin>;

export const JobState = z.enum(['running', 'finishing', 'ended']).meta({ id: 'JobState' });

export const JobListing = z
  .object({
    job_id: JobId,
    run_id: RunId,
    ws_id: WorkspaceId,
    cmd: z.string(),
    host: z.string().optional().describe('Where it runs, if that is another host'),
    cwd: z.string().describe("Relative to the workspace root, '.' for the root itself"),
    started_at: Timestamp,
    pid: z.int().describe('0 for a command on another host'),
    state: JobState,
    origin: JobOrigin,
    key_id: KeyId.nullable(),
    timeout: z.int(),
    free_ports: z.array(z.int()).describe('What $FREE_PORT stood for; the last is the one in use'),
  })
  .meta({ id: 'JobListing' });
export type JobListing = z.infer<typeof JobListing>;

export const CancelledJob = z
  .object({ job_id: JobId, code: z.int(), signal: z.string().nullable() })
  .meta({ id: 'CancelledJob' });
export type CancelledJob = z.infer<typeof CancelledJob>;

export const RecentCommand = z
  .object({
    cmd: z.string(),
    host: z.string().optional().describe('Where it ran, if that was another host'),
    cwd: z.string(),
    started_at: Timestamp,
    finished_at: Timestamp.nullable(),
    code: z
      .int()
      .nullable()
      .describe('null while it runs, and where the daemon died before the command ended'),
    job_id: JobId,
    origin: JobOrigin,
    key_id: KeyId.nullable(),
    reason: EndReason.nullable(),
  })
  .meta({ id: 'RecentCommand' });
export type RecentCommand = z.infer<typeof RecentCommand>;
