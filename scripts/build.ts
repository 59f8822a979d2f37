import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build as bundle } from 'esbuild';
import { build as buildPanel } from 'vite';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const require = createRequire(import.meta.url);

/** Compiled parts and what is loaded by path; everything else is bundled, which halves the start-up time. */
const external = ['electron', 'node-pty', 'ssh2', 'keytar', '@napi-rs/keyring'];

const launcher = `#!/usr/bin/env node
const { enableCompileCache } = require('node:module');
const [major] = process.versions.node.split('.');
if (Number(major) < 24) {
  console.error('Tallystick needs Node 24 or later; this is ' + process.version + '.');
  process.exit(1);
}
enableCompileCache();
require('./cli.js');
`;

/** Threads are started from files of their own: `daemon/lib/worker-file.ts`. */
const workers = ['daemon/receipts/verifier/verify-worker.ts', 'daemon/snapshots/tree-worker.ts'];

/** CommonJS packages in an ES module bundle ask for this. */
const requireShim =
  "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);";

async function buildDaemon(): Promise<void> {
  rmSync(join(dist, 'daemon'), { recursive: true, force: true });
  await bundle({
    absWorkingDir: root,
    entryPoints: ['daemon/index.ts', 'daemon/cli.ts', ...workers],
    outbase: 'daemon',
    outdir: 'dist/daemon',
    bundle: true,
    // To an ES module, Node hands "node:http" with all its lazy members looked at, which loads its whole fetch
    // implementation: 20 ms and 5 MB at every start. CommonJS gets it as it is.
    format: 'cjs',
    define: { 'import.meta.dirname': '__dirname' },
    platform: 'node',
    target: 'node24',
    external,
    // Express loads it at start, a third of the bundle; `daemon/http/json-body.ts` reads the bodies.
    alias: { 'body-parser': './daemon/http/no-body-parser.cjs' },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  writeFileSync(join(dist, 'daemon/package.json'), '{ "type": "commonjs" }\n');
  writeFileSync(join(dist, 'daemon/tallystick.js'), launcher);
  chmodSync(join(dist, 'daemon/tallystick.js'), 0o755);
}

async function buildDesktop(): Promise<void> {
  const shared = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node24',
    external,
    logLevel: 'warning',
  } as const;
  if (existsSync(join(root, 'main/index.ts')))
    await bundle({
      ...shared,
      entryPoints: ['main/index.ts'],
      outfile: 'dist/main/index.js',
      format: 'esm',
      banner: { js: requireShim },
    });
  // A sandboxed preload script must be one CommonJS file.
  if (existsSync(join(root, 'main/preload.ts')))
    await bundle({
      ...shared,
      entryPoints: ['main/preload.ts'],
      outfile: 'dist/main/preload.cjs',
      format: 'cjs',
    });
  if (existsSync(join(root, 'main/failure')))
    cpSync(join(root, 'main/failure'), join(dist, 'main/failure'), { recursive: true });
  if (existsSync(join(root, 'assets')))
    cpSync(join(root, 'assets'), join(dist, 'assets'), { recursive: true });
}

/** The page at /docs: Swagger UI's own files, and a page and a script of ours that start it. */
function buildDocs(): void {
  const source = dirname(require.resolve('swagger-ui-dist/package.json'));
  const target = join(dist, 'docs');
  mkdirSync(target, { recursive: true });
  for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css'])
    cpSync(join(source, file), join(target, file));
  for (const file of ['index.html', 'start.js', 'docs.css'])
    cpSync(join(root, 'daemon/http/docs-page', file), join(target, file));
}

const only = process.argv[2];
if (only === undefined || only === 'daemon') await buildDaemon();
if (only === undefined || only === 'docs') buildDocs();
if (only === undefined || only === 'desktop') await buildDesktop();
if ((only === undefined || only === 'panel') && existsSync(join(root, 'renderer/index.html')))
  await buildPanel({ configFile: join(root, 'vite.config.ts'), logLevel: 'warn' });
