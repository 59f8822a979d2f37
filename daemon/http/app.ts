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
  /** Serves what is no API route: the panel and the documentation pages. */
  readonly pages?: express.RequestHandler;
}

/** The route table as an Express app. The guard stands before it, in `server.ts`, so that nothing gets past it. */
export function createApp(options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  for (const route of options.routes) app[route.method](route.path, ...handlersFor(route, options));
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

function handlersFor(route: Route, options: AppOptions): express.RequestHandler[] {
  // The caller is admitted before a byte of the body is read: a stranger can't make the daemon parse anything.
  const admitCaller: express.RequestHandler = (req, res, next) => {
    res.locals.principal = admit(route, req, res, options);
    next();
  };
  const handle: express.RequestHandler = async (req, res) => {
    const answer = await route.handler(toCall(route, req, res));
    if (answer !== undefined) sendAnswer(res, answer);
    // The head of a stream was all that was asked for.
    else if (req.method === 'HEAD') res.end();
  };
  const admitAgain: express.RequestHandler = (req, _res, next) => {
    admitStill(route, req, options);
    next();
  };
  return route.request.body === undefined
    ? [admitCaller, handle]
    : [admitCaller, readBody, admitAgain, handle];
}

const readBody: express.RequestHandler = async (req, _res, next) => {
  req.body = await readJsonBody(req);
  next();
};

function toCall(route: Route, req: Request, res: Response): Call<unknown, unknown, unknown> {
  const { params, query, body } = route.request;
  return {
    params: params === undefined ? undefined : validate(params, req.params, 'path'),
    query: validateQuery(query, req),
    body: body === undefined ? undefined : validate(body, req.body, 'request body'),
    // Set by admitCaller just before; public handlers never look at it.
    principal: res.locals.principal as Principal,
    namedWorkspace: req.get('x-workspace-id'),
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
