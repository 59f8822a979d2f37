/** Run as a process, by root: gives up its rights and writes `<root>/<path>`; prints what came of it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeInside } from '../confined-fs.ts';
import { systemErrorCode } from '../durable-errors.ts';

const [root = '', path = ''] = process.argv.slice(2);
process.setgid?.(65_534);
process.setuid?.(65_534);
process.stdout.write(`${outcome()} ${readdirSync(join(root, path, '..')).join(',')}\n`);

function outcome(): string {
  try {
    writeInside(root, path, Buffer.from('new'), { expect: 'anything' });
    return 'written';
  } catch (error) {
    return systemErrorCode(error) ?? String(error);
  }
}
