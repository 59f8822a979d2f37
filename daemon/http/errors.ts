import { type ServerResponse, STATUS_CODES } from 'node:http';
import { CodedError, type ErrorCode, errorStatus, type Problem } from '../contract/errors.ts';
import type { Logger } from '../lib/logger.ts';

/** The only place where a failure becomes a status and a problem document (RFC 9457). */
export function toProblem(error: unknown): Problem {
  const coded = toCodedError(error);
  const status = errorStatus[coded.code];
  return {
    ...coded.members,
    type: `/docs/errors#${coded.code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: coded.message,
    code: coded.code,
  };
}

/** What is wrong with the daemon or its machine; all else is what callers are told to expect. */
const faults: ReadonlySet<ErrorCode> = new Set([
  'internal_error',
  'spawn_failed',
  'storage_failed',
  'storage_full',
]);

export interface ProblemOptions {
  readonly logger: Logger;
  /** Puts `***` in the place of secrets; a caller's own words come back in some problems. */
  readonly mask?: (text: string) => string;
}

/** Answers with the problem; when the head is already out, the stream is cut so that no client takes it for complete. */
export function sendProblem(
  res: ServerResponse,
  error: unknown,
  { logger, mask = (text) => text }: ProblemOptions,
): void {
  const problem = toProblem(error);
  if (faults.has(problem.code)) logger.error({ err: error, code: problem.code }, 'request failed');
  else logger.debug({ code: problem.code, detail: problem.detail }, 'request refused');
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const body = Buffer.from(mask(JSON.stringify(problem)));
  if (problem.status === 401) res.setHeader('WWW-Authenticate', 'Bearer realm="tallystick"');
  const retryAfter = problem.retry_after;
  if (typeof retryAfter === 'number') res.setHeader('Retry-After', String(retryAfter));
  res.writeHead(problem.status, {
    'Content-Type': 'application/problem+json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
  });
  res.end(body);
}

function toCodedError(error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  const { code, status } = describe(error);
  if (code === 'storage_full')
    return new CodedError('storage_full', 'The disk is full; nothing was changed.', { cause: error });
  if (code === 'storage_failed')
    return new CodedError(
      'storage_failed',
      'The disk reported a failed write; restart the daemon once it is mended.',
      { cause: error },
    );
  if (status === 400)
    return new CodedError('bad_request', 'The request could not be read.', { cause: error });
  // Whatever else arrives here is a bug: its text may hold anything, so the caller is told nothing of it.
  return new CodedError('internal_error', 'Something went wrong in the daemon; its log has the details.', {
    cause: error,
  });
}

/** What Express (`status`) and the stores (`code`) put on their errors. */
function describe(error: unknown): { code: unknown; status: unknown } {
  if (typeof error !== 'object' || error === null) return { code: undefined, status: undefined };
  return { code: undefined, status: undefined, ...error };
}
