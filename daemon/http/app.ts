import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type Express, type Request, type Response } from 'express';
import { CodedError } from '../contract/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { type Admission, admit, admitStill, queryObject, validate } from './admit.ts';
import { sendProblem } from './errors.ts';
import { readJsonBody } from './json-body.ts';
import type { Answer, Call, Principal, Route } from './route.ts';

export interface AppOptions extends Admission {
  readonly routes: readonly Route[];
  readonly logger: Logger;
  readonly version: string;
  /** Serves what is no API route: the panel and the documentation pages. */
  readonly pages?: express.RequestHandler;
}

/**
 * Answers requests by the route table. A route without parameters is looked up; Express matches the others one after the
 * other, and serves the pages. The guard stands before all of it, in `server.ts`, so that nothing gets past it.
 */
export function createApp(options: AppOptions): RequestListener {
  const handlers = new Map(options.routes.map((route) => [route, handlerFor(route, options)]));
  const direct = new Map(
    [...handlers].flatMap(([route, handle]) =>
      route.path.includes(':') ? [] : [[`${route.method.toUpperCase()} ${route.path}`, handle] as const],
    ),
  );
  const others = createExpressApp(options, handlers);
  return (req, res) => {
    const url = req.url ?? '';
    const mark = url.indexOf('?');
    const handle = direct.get(`${req.method} ${mark < 0 ? url : url.slice(0, mark)}`);
    if (handle === undefined) {
      res.setHeader('Tallystick-Version', options.version);
      others(req, res);
    } else handle(req, res, noParams).catch((error: unknown) => sendProblem(res, error, options.logger));
  };
}

type Handler = (req: IncomingMessage, res: ServerResponse, params: unknown) => Promise<void>;

const noParams = {};

function createExpressApp(options: AppOptions, handlers: ReadonlyMap<Route, Handler>): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  for (const [route, handle] of handlers)
    app[route.method](route.path, (req, res) => handle(req, res, req.params));
  for (const path of new Set(options.routes.map((route) => route.path)))
    app.all(path, refuseMethod(path, options));
  if (options.pages !== undefined) app.use(options.pages);
  app.use((req: Request) => {
    throw new CodedError('not_found', `There is nothing at ${req.method} ${req.path}.`);
  });
  app.use((error: unknown, _req: Request, res: Response, _next: express.NextFunction) => {
    sendProblem(res, error, options.logger);
  });
  return app;
}

/** All of a route's way in one function: each `next()` between several would cost a tenth of a small answer. */
function handlerFor(route: Route, options: AppOptions): Handler {
  return async (req, res, params) => {
    const headers = ['Tallystick-Version', options.version];
    try {
      const call = await receive(route, { req, res, params, headers }, options);
      if (route.stream === true) setHeaders(res, headers);
      const answer = await route.handler(call);
      if (answer !== undefined) sendAnswer(res, answer, headers);
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
  const body = request.body === undefined ? undefined : await readJsonBody(req);
  // A body may take its time: what was revoked meanwhile does not get through.
  if (request.body !== undefined) admitStill(route, req, options);
  const named = req.headers['x-workspace-id'];
  return {
    params: request.params === undefined ? undefined : validate(request.params, params, 'path'),
    query: validateQuery(request.query, req),
    body: request.body === undefined ? undefined : validate(request.body, body, 'request body'),
    // Only public routes have no caller, and their handlers never look at it.
    principal: caller as Principal,
    namedWorkspace: Array.isArray(named) ? named[0] : named,
    req,
    res,
  };
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

function refuseMethod(path: string, { routes }: AppOptions): express.RequestHandler {
  const allowed = routes
    .filter((route) => route.path === path)
    .flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  return (req, res) => {
    res.setHeader('Allow', allowed.join(', '));
    throw new CodedError(
      'method_not_allowed',
      `${req.method} is not for ${path}; it takes ${allowed.join(', ')}.`,
    );
  };
}
