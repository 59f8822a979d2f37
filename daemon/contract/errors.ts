import * as z from 'zod';

/** Every code a problem document can bear, with its HTTP status. Codes are stable; titles and details are not. */
export const errorStatus = {
  malformed_json: 400,
  bad_request: 400,
  missing_credentials: 401,
  invalid_key: 401,
  revoked_key: 401,
  expired_key: 401,
  session_expired: 401,
  invalid_login_token: 401,
  insufficient_scope: 403,
  origin_not_allowed: 403,
  path_outside_workspace: 403,
  path_reserved: 403,
  not_found: 404,
  unknown_workspace: 404,
  unknown_job: 404,
  unknown_key: 404,
  unknown_run: 404,
  unknown_receipt: 404,
  unknown_secret: 404,
  unknown_ssh_host: 404,
  remote_file_not_found: 404,
  remote_file_unreadable: 403,
  file_not_found: 404,
  folder_not_found: 404,
  method_not_allowed: 405,
  no_active_workspace: 409,
  conflict: 409,
  file_exists: 409,
  rollback_conflict: 409,
  receipts_damaged: 409,
  secrets_store_damaged: 409,
  master_key_not_managed: 409,
  master_key_mismatch: 409,
  rotation_in_progress: 409,
  ssh_host_key_unknown: 409,
  ssh_host_key_changed: 409,
  ssh_host_key_revoked: 409,
  body_too_large: 413,
  file_too_large: 413,
  unsupported_media_type: 415,
  host_not_allowed: 421,
  range_not_satisfiable: 416,
  invalid_request: 422,
  not_a_file: 422,
  not_a_text_file: 422,
  edit_not_found: 422,
  edit_ambiguous: 422,
  too_many_files: 422,
  too_many_secrets: 422,
  ssh_password_host_unsupported: 422,
  ssh_host_unsupported: 422,
  remote_not_a_file: 422,
  remote_name_refused: 422,
  project_path_missing: 422,
  project_path_unreadable: 422,
  project_path_system: 422,
  timeout_out_of_range: 422,
  rate_limited: 429,
  too_many_jobs: 429,
  too_many_ssh_jobs: 429,
  headers_too_large: 431,
  internal_error: 500,
  spawn_failed: 500,
  ssh_connect_failed: 502,
  ssh_auth_failed: 502,
  ssh_failed: 502,
  ssh_timeout: 504,
  shutting_down: 503,
  master_key_unavailable: 503,
  master_key_locked: 503,
  storage_failed: 503,
  storage_full: 507,
} as const;

export type ErrorCode = keyof typeof errorStatus;

const errorCodes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]];

/** RFC 9457 problem document, sent as `application/problem+json`. */
export const Problem = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(errorCodes),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof Problem>;

/** An expected failure, thrown by a core; `http/errors.ts` alone turns it into a status and a problem document. */
export class CodedError extends Error {
  readonly code: ErrorCode;
  /** Members that the problem document carries beside the standard ones. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    detail: string,
    options: { cause?: unknown; members?: Record<string, unknown> } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CodedError';
    this.code = code;
    this.members = options.members ?? {};
  }
}
