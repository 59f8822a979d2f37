import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Problem } from '../contract/errors.ts';
import type { JobFrame } from '../contract/shell.ts';

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is. */
  readonly rawBody?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** Speaks to a daemon with one credential. */
export interface Client {
  /** Never rejects for a status; `body` is sent as JSON. */
  send(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Response>;
  /** The answer's JSON; throws where the status is no success. */
  json<T>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  /** Status and problem document of a call that is to fail. */
  problem(
    method: string,
    path: string,
    body?: unknown,
    options?: RequestOptions,
  ): Promise<Problem & { readonly httpStatus: number }>;
  /** Runs a command to its end. */
  run(
    body: unknown,
    options?: RequestOptions,
  ): Promise<{ readonly jobId: string; readonly frames: JobFrame[] }>;
}

export function client(url: string, credential?: string): Client {
  const send: Client['send'] = (method, path, body, { headers = {}, rawBody, signal } = {}) =>
    fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
        ...(body === undefined && rawBody === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(rawBody !== undefined
        ? { body: typeof rawBody === 'string' ? rawBody : new Uint8Array(rawBody) }
        : body === undefined
          ? {}
          : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  const json: Client['json'] = async (method, path, body, options) => {
    const response = await send(method, path, body, options);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const problem: Client['problem'] = async (method, path, body, options) => {
    const response = await send(method, path, body, options);
    const text = await response.text();
    if (response.headers.get('content-type') !== 'application/problem+json')
      throw new Error(`no problem document: ${response.status} ${text.slice(0, 500)}`);
    return { ...JSON.parse(text), httpStatus: response.status };
  };
  const run: Client['run'] = async (body, options) => {
    const response = await send('POST', '/api/shell/run', body, options);
    if (!response.ok) throw new Error(`run: ${response.status} ${await response.text()}`);
    return { jobId: response.headers.get('x-job-id') ?? '', frames: await collectFrames(response) };
  };
  return { send, json, problem, run };
}

/** Frames of an event stream, as they come. Comments and ids are left out; see `parseStream` for those. */
export async function* readFrames(
  response: Response,
): AsyncGenerator<JobFrame & { readonly id: number | undefined }> {
  if (response.body === null) return;
  let pending = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    pending += decoder.decode(chunk, { stream: true });
    const blocks = pending.split('\n\n');
    pending = blocks.pop() ?? '';
    for (const block of blocks) {
      const frame = parseBlock(block);
      if (frame !== undefined) yield frame;
    }
  }
}

export async function collectFrames(response: Response): Promise<JobFrame[]> {
  const frames: JobFrame[] = [];
  for await (const { id: _id, ...frame } of readFrames(response)) frames.push(frame as JobFrame);
  return frames;
}

/** The first frame that fits; the response is left open. */
export async function firstFrame(response: Response, fits: (frame: JobFrame) => boolean): Promise<JobFrame> {
  for await (const frame of readFrames(response)) if (fits(frame)) return frame;
  throw new Error('the stream ended before the frame came');
}

function parseBlock(block: string): (JobFrame & { readonly id: number | undefined }) | undefined {
  let id: number | undefined;
  let data: string | undefined;
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) id = Number(line.slice(4));
    else if (line.startsWith('data: ')) data = line.slice(6);
  }
  return data === undefined ? undefined : { ...JSON.parse(data), id };
}

/** A request with headers that `fetch` does not let a caller set: Host, Origin, Sec-Fetch-Site. */
export function rawRequest(
  url: string,
  {
    method = 'GET',
    path = '/',
    headers = {},
    body,
  }: { method?: string; path?: string; headers?: Record<string, string>; body?: string },
): Promise<{ status: number; headers: IncomingMessage['headers']; body: string }> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const req = httpRequest({ host: '127.0.0.1', port, method, path, headers }, (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (part: string) => {
        text += part;
      });
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: text }));
    });
    req.on('upgrade', (res, socket) => {
      socket.destroy();
      resolve({ status: res.statusCode ?? 0, headers: res.headers, body: '' });
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** Frames, or one, as they are but for what the exit frame says of the receipt; that has tests of its own. */
export function withoutReceipt(frames: unknown): unknown {
  if (Array.isArray(frames)) return frames.map(withoutReceipt);
  if (typeof frames !== 'object' || frames === null) return frames;
  const receipt = ['run_id', 'receipt_id', 'files_changed'];
  return Object.fromEntries(Object.entries(frames).filter(([name]) => !receipt.includes(name)));
}
