import type { ApiClient } from '../api/client.ts';

/** Text over this is shown as facts: an editor would answer to no key for seconds. */
export const maxEditableBytes = 2 * 1024 * 1024;

/** A file as it was read. `etag` is the header as it came, for `If-Match`. */
export type OpenedFile = { etag: string; size: number } & (
  | { kind: 'text'; text: string }
  | { kind: 'binary' }
  | { kind: 'large' }
);

/** Reads a file of the workspace. Fails with ApiProblem. What is too large for the editor is not fetched. */
export async function readFile(
  api: ApiClient,
  workspaceId: string,
  path: string,
  signal?: AbortSignal,
): Promise<OpenedFile> {
  const response = await api.open(fileAddress(path), {
    workspaceId,
    ...(signal === undefined ? {} : { signal }),
  });
  const etag = response.headers.get('ETag') ?? '';
  const size = Number(response.headers.get('Content-Length') ?? 0);
  if (size > maxEditableBytes) {
    await response.body?.cancel();
    return { kind: 'large', etag, size };
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = textOf(bytes);
  if (text === undefined) return { kind: 'binary', etag, size: bytes.length };
  return { kind: 'text', etag, size: bytes.length, text };
}

export function fileAddress(path: string): string {
  return `/api/project/file?${new URLSearchParams({ path })}`;
}

/** The bytes as UTF-8 that encodes back to the very same bytes, or undefined where they are no such text. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    // A byte order mark is kept: it is part of what is saved again.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not UTF-8.
    return undefined;
  }
}
