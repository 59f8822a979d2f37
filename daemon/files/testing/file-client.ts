import type { WrittenFile } from '../../contract/files.ts';
import type { Client, RequestOptions } from '../../testing/client.ts';

type Query = Readonly<Record<string, string | number | boolean>>;

/** The file calls as a client makes them. */
export function fileClient(client: Client) {
  const at = (call: string, query: Query) =>
    `/api/project/${call}?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`;
  const content = (text: string | Uint8Array, headers: Record<string, string> = {}): RequestOptions => ({
    rawBody: text,
    headers: { 'content-type': 'application/octet-stream', ...headers },
  });
  return {
    get: (path: string, headers: Record<string, string> = {}) =>
      client.send('GET', at('file', { path }), undefined, { headers }),
    put: (path: string, text: string | Uint8Array, headers?: Record<string, string>) =>
      client.json<WrittenFile>('PUT', at('file', { path }), undefined, content(text, headers)),
    putProblem: (path: string, text: string | Uint8Array, headers?: Record<string, string>) =>
      client.problem('PUT', at('file', { path }), undefined, content(text, headers)),
    url: at,
  };
}
