import { existsSync } from 'node:fs';
import { join } from 'node:path';
import express, { type RequestHandler, Router } from 'express';

const panelPolicy =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const securityHeaders = {
  'Content-Security-Policy': panelPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

export interface PagesOptions {
  /** Folder with the built panel. */
  readonly panelDir: string;
  /** Folder with the built documentation page. */
  readonly docsDir: string;
}

/** The panel at `/` and the API's documentation at `/docs`, as static files. */
export function createPages({ panelDir, docsDir }: PagesOptions): RequestHandler {
  const router = Router();
  router.use((_req, res, next) => {
    res.set(securityHeaders);
    next();
  });
  // The links in problem documents lead here: every code has its line in the documentation page.
  router.get('/docs/errors', (_req, res) => res.redirect('/docs/'));
  router.use('/docs', express.static(docsDir, { setHeaders: noCache }));
  router.use(
    '/assets',
    express.static(join(panelDir, 'assets'), {
      immutable: true,
      maxAge: '1y',
      index: false,
      fallthrough: true,
    }),
  );
  router.use(express.static(panelDir, { setHeaders: noCache }));
  router.get('/', (_req, res, next) => {
    if (existsSync(panelDir)) next();
    else
      res
        .status(404)
        .type('text/plain')
        .send('The panel is not built. Run "npm run build", then start the daemon again.\n');
  });
  return router;
}

/** Served anew each time: after an update the page must not ask for files that are gone. */
function noCache(res: express.Response): void {
  res.set('Cache-Control', 'no-cache');
}
