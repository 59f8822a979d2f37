import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * Compiles peers and clients to plain JavaScript in `outDir`, packages left out: neither their start nor their
 * memory should include Node's own stripping of types. Returns the path of a program by its name.
 */
export async function compilePrograms(benchDir: string, outDir: string): Promise<(name: string) => string> {
  const sources = ['peers', 'clients'].flatMap((folder) =>
    readdirSync(join(benchDir, folder)).map((file) => join(benchDir, folder, file)),
  );
  await build({
    entryPoints: sources,
    outdir: outDir,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    logLevel: 'warning',
  });
  return (name) => join(outDir, `${name}.mjs`);
}
