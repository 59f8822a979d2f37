/**
 * Run as a process: makes one durable update for each line on stdin and acknowledges it on stdout.
 * Lines out: `ready`, `acknowledged <name>`, `refused <name> <code> fatal|unharmed`.
 */
import { createInterface } from 'node:readline';
import { StorageFailedError } from '../../../daemon/lib/durable-errors.ts';
import { removeStaleTempFiles } from '../../../daemon/lib/durable-file.ts';
import type { DurableJson } from '../../../daemon/lib/durable-json.ts';
import type { Names } from './names-state.ts';
import { openNames } from './names-state.ts';

const [folder = ''] = process.argv.slice(2);
await removeStaleTempFiles(folder);
const store = await openNames(folder);
const lines = createInterface({ input: process.stdin });
process.stdout.write('ready\n');
for await (const name of lines) process.stdout.write(`${await outcomeOfAdding(name, store)}\n`);

async function outcomeOfAdding(name: string, names: DurableJson<Names>): Promise<string> {
  try {
    await names.update(({ names: before }) => ({ next: { names: [...before, name] }, result: undefined }));
    return `acknowledged ${name}`;
  } catch (error) {
    const fatal = error instanceof StorageFailedError && error.fatal;
    const code = error instanceof Error && 'code' in error ? error.code : 'none';
    return `refused ${name} ${code} ${fatal ? 'fatal' : 'unharmed'}`;
  }
}
