import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { CodedError } from '../contract/errors.ts';
import { type Admission, admit, admitStill, queryObject, validate } from './admit.ts';
import { sendBytes } from './answer-bytes.ts';
import { type ProblemOptions, sendProblem } from './errors.ts';
import { readJsonBody } from './json-body.ts';
import type { PagesOptions } from './pages.ts';
import { readRawBody } from './raw-body.ts';
import type { Answer, Call, Handler, Principal, Route } from './route.ts';

export interface AppOptions extends Admission, ProblemOptions {
  readonly routes: readonly Route[];
  readonly version: string;
  /** What is served beside the API routes: the panel and the documentation pages. */
  readonly pages?: PagesOptions;
}

/**
 * Answers requests by the route table. A route without parameters is looked up; Express has the others and the pages, and
 * is loaded when the first of those is asked for: it is a third of the start-up time. The guard stands before all of it,
 * in `server.ts`, so that nothing gets past it.
 */
export function createApp(options: AppOptions): RequestListener {
  const handlers = new Map(options.routes.map((route) => [route, handlerFor(route, options)]));
  const direct = new Map(
    [...handlers].flatMap(([route, handle]) =>
      route.path.includes(':') ? [] : [[`${route.method.toUpperCase()} ${route.path}`, handle] as const],
    ),
  );
  let others: Promise<RequestListener> | undefined;
  const loadOthers = async () =>
    (await import('./express-app.ts')).createExpressApp({ ...options, handlers });
  return (req, res) => {
    const fail = (error: unknown) => sendProblem(res, error, options);
    const url = req.url ?? '';
    const mark = url.indexOf('?');
    const handle = direct.get(`${req.method} ${mark < 0 ? url : url.slice(0, mark)}`);
    if (handle !== undefined) {
      handle(req, res, noParams).catch(fail);
      return;
    }
    res.setHeader('Tallystick-Version', options.version);
    others ??= loadOthers();
    others.then((app) => app(req, res)).catch(fail);
  };
}

const noParams = {};

/** All of a route's way in one function: each `next()` between several would cost a tenth of a small answer. */
function handlerFor(route: Route, options: AppOptions): Handler {
  return async (req, res, params) => {
    const headers = ['Tallystick-Version', options.version];
    try {
      const call = await receive(route, { req, res, params, headers }, options);
      if (route.stream === true) setHeaders(res, headers);
      const answer = await route.handler(call);
      if (answer?.bytes !== undefined) await sendRaw(req, res, answer, headers);
      else if (answer !== undefined) sendAnswer(res, answer, headers);
      // The head of a stream was all that was asked for.
      else if (req.method === 'HEAD') res.end();
    } catch (error) {
      if (!res.headersSent) setHeaders(res, headers);
      throw error;
    }
  };
}

interface Received {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly params: unknown;
  /** Names and values in turn, of what the answer bears whatever it is. */
  readonly headers: string[];
}

/** @throws CodedError where the caller is not let in, or what it sent does not fit the route's schemas */
async function receive(
  route: Route,
  { req, res, params, headers }: Received,
  options: AppOptions,
): Promise<Call<unknown, unknown, unknown>> {
  const { request } = route;
  // The caller is admitted before a byte of the body is read: a stranger can't make the daemon parse anything.
  const caller = admit(route, req, headers, options);
  const takesBody = request.body !== undefined || request.rawBody !== undefined;
  // Without one there is nothing to wait for: a turn of the loop more is a tenth of a small answer.
  const body = takesBody ? await readBody(request, req) : undefined;
  // A body may take its time: what was revoked meanwhile does not get through.
  if (takesBody) admitStill(route, req, options);
  const named = req.headers['x-workspace-id'];
  return {
    params: request.params === undefined ? undefined : validate(request.params, params, 'path'),
    query: validateQuery(request.query, req),
    body: request.body === undefined ? body : validate(request.body, body, 'request body'),
    // Only public routes have no caller, and their handlers never look at it.
    principal: caller as Principal,
    namedWorkspace: Array.isArray(named) ? named[0] : named,
    req,
    res,
  };
}

async function readBody({ body, rawBody }: Route['request'], req: IncomingMessage): Promise<unknown> {
  if (rawBody !== undefined) return rawBody.parse(await readRawBody(req, rawBody.maxBytes));
  return body === undefined ? undefined : readJsonBody(req);
}

function setHeaders(res: ServerResponse, headers: readonly string[]): void {
  for (let i = 0; i + 1 < headers.length; i += 2) res.setHeader(headers[i] ?? '', headers[i + 1] ?? '');
}

function validateQuery(schema: Route['request']['query'], req: IncomingMessage): unknown {
  const query = queryObject(req);
  if (schema !== undefined) return validate(schema, query, 'query');
  const [unexpected] = Object.keys(query);
  if (unexpected === undefined) return undefined;
  throw new CodedError('invalid_request', `The query is not valid: ${unexpected}: unknown parameter`, {
    members: { errors: [{ path: unexpected, message: 'unknown parameter' }] },
  });
}

/** Head and body in one write; `res.json` would compute an ETag and look at the request again. */
function sendAnswer(res: ServerResponse, { status, body, headers = {} }: Answer, common: string[]): void {
  const head = common;
  head.push('Cache-Control', 'no-store');
  for (const name in headers) head.push(name, headers[name] ?? '');
  if (body === undefined) {
    res.writeHead(status, head);
    res.end();
    return;
  }
  const text = JSON.stringify(body);
  const bytes = Buffer.byteLength(text);
  head.push('Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(bytes));
  head.push('X-Content-Type-Options', 'nosniff');
  res.writeHead(status, head);
  // All of it ASCII: then it needs no encoding.
  res.end(text, bytes === text.length ? 'latin1' : 'utf8');
}

async function sendRaw(
  req: IncomingMessage,
  res: ServerResponse,
  { status, bytes, headers = {} }: Answer,
  common: string[],
): Promise<void> {
  if (bytes === undefined) return;
  using source = bytes;
  const head = common;
  head.push('X-Content-Type-Options', 'nosniff');
  for (const name in headers) head.push(name, headers[name] ?? '');
  res.writeHead(status, head);
  if (req.method === 'HEAD') res.end();
  else await sendBytes(res, source);
}
