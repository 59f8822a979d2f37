import express, { type Express, type Request, type Response } from 'express';
import { CodedError } from '../contract/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { type Admission, admit, admitStill, type Caller, queryObject, validate } from './admit.ts';
import { sendProblem } from './errors.ts';
import { readJsonBody } from './json-body.ts';
import type { Answer, Call, Principal, Route } from './route.ts';

export interface AppOptions extends Admission {
  readonly routes: readonly Route[];
  readonly logger: Logger;
  /** Serves what is no API route: the panel and the documentation pages. */
  readonly pages?: express.RequestHandler;
}

/** The route table as an Express app. The guard stands before it, in `server.ts`, so that nothing gets past it. */
export function createApp(options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  for (const route of options.routes) app[route.method](route.path, handlerFor(route, options));
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

/** One handler for all of a route: each `next()` between several would cost a tenth of a small answer. */
function handlerFor(route: Route, options: AppOptions): express.RequestHandler {
  return async (req, res) => {
    // The caller is admitted before a byte of the body is read: a stranger can't make the daemon parse anything.
    const caller = admit(route, req, res, options);
    const body = route.request.body === undefined ? undefined : await readJsonBody(req);
    // A body may take its time: what was revoked meanwhile does not get through.
    if (route.request.body !== undefined) admitStill(route, req, options);
    const answer = await route.handler(toCall(route, { req, res, caller, body }));
    if (answer !== undefined) sendAnswer(res, answer);
    // The head of a stream was all that was asked for.
    else if (req.method === 'HEAD') res.end();
  };
}

interface Received {
  readonly req: Request;
  readonly res: Response;
  readonly caller: Caller;
  readonly body: unknown;
}

function toCall(route: Route, { req, res, caller, body }: Received): Call<unknown, unknown, unknown> {
  const { request } = route;
  const named = req.headers['x-workspace-id'];
  return {
    params: request.params === undefined ? undefined : validate(request.params, req.params, 'path'),
    query: validateQuery(request.query, req),
    body: request.body === undefined ? undefined : validate(request.body, body, 'request body'),
    // Only public routes have no caller, and their handlers never look at it.
    principal: caller as Principal,
    namedWorkspace: Array.isArray(named) ? named[0] : named,
    req,
    res,
  };
}

function validateQuery(schema: Route['request']['query'], req: Request): unknown {
  const query = queryObject(req);
  if (schema !== undefined) return validate(schema, query, 'query');
  const [unexpected] = Object.keys(query);
  if (unexpected === undefined) return undefined;
  throw new CodedError('invalid_request', `The query is not valid: ${unexpected}: unknown parameter`, {
    members: { errors: [{ path: unexpected, message: 'unknown parameter' }] },
  });
}

/** Head and body in one write; `res.json` would compute an ETag and look at the request again. */
export function sendAnswer(res: Response, { status, body, headers }: Answer): void {
  if (body === undefined) {
    res.writeHead(status, { 'Cache-Control': 'no-store', ...headers });
    res.end();
    return;
  }
  const text = JSON.stringify(body);
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  res.end(text);
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
