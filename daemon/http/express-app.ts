import express, { type Express, type Request, type Response } from 'express';
import { CodedError } from '../contract/errors.ts';
import { type ProblemOptions, sendProblem } from './errors.ts';
import { createPages, type PagesOptions } from './pages.ts';
import type { Handler, Route } from './route.ts';

export interface ExpressAppOptions extends ProblemOptions {
  readonly handlers: ReadonlyMap<Route, Handler>;
  readonly pages?: PagesOptions;
}

/** The routes that have parameters, the pages, and the refusal of everything else. */
export function createExpressApp({ handlers, pages, ...problems }: ExpressAppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  const byPath = Map.groupBy(handlers, ([route]) => route.path);
  // A path without parameters may look like one with: it goes first, with its refusal.
  const paths = [...byPath].sort(([a], [b]) => Number(a.includes(':')) - Number(b.includes(':')));
  for (const [path, entries] of paths) {
    for (const [route, handle] of entries)
      app[route.method](path, (req, res) => handle(req, res, req.params));
    app.all(
      path,
      refuseMethod(
        path,
        entries.map(([route]) => route),
      ),
    );
  }
  if (pages !== undefined) app.use(createPages(pages));
  app.use((req: Request) => {
    throw new CodedError('not_found', `There is nothing at ${req.method} ${req.path}.`);
  });
  app.use((error: unknown, _req: Request, res: Response, _next: express.NextFunction) => {
    sendProblem(res, error, problems);
  });
  return app;
}

function refuseMethod(path: string, routes: readonly Route[]): express.RequestHandler {
  const allowed = routes.flatMap(({ method }) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  return (req, res) => {
    res.setHeader('Allow', allowed.join(', '));
    throw new CodedError(
      'method_not_allowed',
      `${req.method} is not for ${path}; it takes ${allowed.join(', ')}.`,
    );
  };
}
