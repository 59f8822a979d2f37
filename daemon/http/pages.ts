import { existsSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import express, { type RequestHandler, Router } from 'express';
import { errorStatus } from '../contract/errors.ts';

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
  router.get('/docs/errors', (_req, res) => void res.type('html').send(errorsPage()));
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

/** What the `type` of a problem document links to. */
function errorsPage(): string {
  const rows = Object.entries(errorStatus).map(
    ([code, status]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status} ${STATUS_CODES[status] ?? ''}</td></tr>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tallystick: error codes</title>
<style>body{font:15px system-ui;margin:2rem}td{padding:.2rem 1rem .2rem 0}:target{background:#ff08}</style>
<h1>Error codes</h1><p>Every error is a problem document (RFC 9457); its <code>code</code> is stable. <a href="/docs/">API</a></p>
<table>${rows.join('\n')}</table></html>
`;
}
