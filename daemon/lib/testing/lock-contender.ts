/**
 * Run as a process: asks for the lock of a data folder once for each line on stdin.
 * Lines out: `ready`, then `<line> won`, `<line> held by <pid>` or `<line> failed: <message>`.
 */
import { createInterface } from 'node:readline';
import { DataFolderHeldError } from '../data-folder-holder.ts';
import { acquireDataFolderLock } from '../data-folder-lock.ts';

const [dataDir = ''] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin });
process.stdout.write('ready\n');
for await (const line of lines) process.stdout.write(`${line} ${await outcome()}\n`);

async function outcome(): Promise<string> {
  try {
    await acquireDataFolderLock(dataDir);
    return 'won';
  } catch (error) {
    if (error instanceof DataFolderHeldError) return `held by ${error.pid}`;
    return `failed: ${error instanceof Error ? error.message : error}`;
  }
}
