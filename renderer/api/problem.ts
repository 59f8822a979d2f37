import type { ErrorCode, Problem } from '../../daemon/contract/errors.ts';

/** `unreachable` is the panel's own: no answer came at all. */
export type ProblemCode = ErrorCode | 'unreachable';

/** A refusal of the daemon, or its silence. */
export class ApiProblem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  /** Messages by field, where the daemon found fields wrong. */
  readonly fields: { path: string; message: string }[];
  /** What else the problem document told. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(
    problem: {
      code: ProblemCode;
      status: number;
      detail: string;
      fields?: { path: string; message: string }[];
      members?: Readonly<Record<string, unknown>>;
    },
    options?: ErrorOptions,
  ) {
    super(problem.detail, options);
    this.name = 'ApiProblem';
    this.code = problem.code;
    this.status = problem.status;
    this.fields = problem.fields ?? [];
    this.members = problem.members ?? {};
  }
}

export async function problemFrom(response: Response): Promise<ApiProblem> {
  // Something that is no problem document (a proxy's page) still has its status to tell.
  const problem: Partial<Problem> = await response.json().catch(() => ({}));
  return new ApiProblem({
    code: problem.code ?? 'internal_error',
    status: response.status,
    detail: problem.detail ?? `The daemon answered ${response.status} ${response.statusText}`.trim(),
    fields: problem.errors ?? [],
    members: problem,
  });
}

/** Whether a call was refused because the file is not as `If-Match` or `If-None-Match` said. */
export function isOtherContent(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'conflict' && 'etag' in error.members;
}

/** What went wrong, in words for the person at the panel. */
export function problemText(error: unknown): string {
  if (!(error instanceof ApiProblem)) return error instanceof Error ? error.message : String(error);
  return plainWords[error.code] ?? error.fields[0]?.message ?? error.message;
}

/** Only where the daemon's own `detail` speaks to a program more than to a person. */
const plainWords: Partial<Record<ProblemCode, string>> = {
  unreachable: 'The daemon does not answer. Is it still running?',
  too_many_jobs: 'Too many commands are running at once. Wait for one to end, or stop one.',
  rate_limited: 'Too many requests in this minute. Try again in a moment.',
  storage_full: 'The disk is full. Free some space and try again.',
  shutting_down: 'The daemon is shutting down.',
  path_outside_workspace: 'That path leads out of the workspace.',
  path_reserved: 'The folders .service and .git are not changed through the panel.',
  file_exists: 'There is something with this name already.',
  file_not_found: 'The file is not there any more.',
  file_too_large: 'The file is too large: at most 50 MiB.',
};
