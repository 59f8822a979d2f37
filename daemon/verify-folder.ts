import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError } from './config.ts';
import { WorkspaceId } from './contract/ids.ts';
import type { ChainVerdict, Fault } from './contract/receipts.ts';
import { Hash } from './contract/receipts.ts';
import { verifyCheckpoint } from './receipts/checkpoint-note.ts';
import { verifyFolder } from './receipts/verifier/verify-folder.ts';
import type { VerifyOptions } from './receipts/verifier/verify-options.ts';

export const verifyFlags = {
  head: { type: 'string' },
  key: { type: 'string' },
  workspace: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** `tallystick verify`: judges a receipts folder, with no daemon. Answers the exit status; throws `ConfigError`. */
export async function verifyCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, options: verifyFlags, allowPositionals: true });
  const [given, ...others] = positionals;
  if (given === undefined || given === '' || others.length > 0)
    throw new ConfigError('verify takes one folder: a receipts folder, or a project with .service/receipts');
  const options = checkedOptions(values);
  const folder = receiptsFolderOf(given);
  const verifiable = Object.keys(options).length > 0 || holdsChain(folder);
  if (!verifiable)
    throw new ConfigError(`${given} is no receipts folder: it holds no receipts, index or checkpoint`);
  const verdict = await verifyFolder(folder, options);
  process.stdout.write(values.json === true ? printJson(verdict) : describe(folder, verdict));
  return verdict.valid ? 0 : 1;
}

interface Given {
  readonly head?: string | undefined;
  readonly key?: string | undefined;
  readonly workspace?: string | undefined;
}

function checkedOptions({ head, key, workspace }: Given): VerifyOptions {
  if (head !== undefined && !Hash.safeParse(head).success)
    throw new ConfigError('--head takes a hash: sha256: and 64 lowercase hexadecimal digits');
  if (workspace !== undefined && !WorkspaceId.safeParse(workspace).success)
    throw new ConfigError('--workspace takes the id of a workspace: ws_ and 16 characters');
  if (key !== undefined) checkKey(key);
  return {
    ...(head === undefined ? {} : { head }),
    ...(key === undefined ? {} : { key }),
    ...(workspace === undefined ? {} : { wsId: workspace }),
  };
}

function checkKey(key: string): void {
  try {
    verifyCheckpoint('', key);
  } catch (error) {
    throw new ConfigError(`--key: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** The link in a project is followed deliberately: the user named the project. */
function receiptsFolderOf(given: string): string {
  const linked = join(given, '.service', 'receipts');
  if (isFolder(linked)) return linked;
  if (isFolder(given)) return given;
  throw new ConfigError(`${given} is not a folder`);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function holdsChain(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some(belongs);
}

function belongs({ name }: Dirent): boolean {
  return name === 'INDEX.jsonl' || name === 'CHECKPOINT' || /^rcpt_.*\.json$/.test(name);
}

/** `field` and `receipt_id` stand at the top, too, as the other verifier has them. */
function printJson(verdict: ChainVerdict): string {
  const { field = null, receipt_id = null } = verdict.fault ?? {};
  return `${JSON.stringify({ ...verdict, field, receipt_id })}\n`;
}

function describe(folder: string, verdict: ChainVerdict): string {
  const { fault, checked, head, signature } = verdict;
  if (fault === null)
    return `VALID: the chain of ${checked} receipts is as it was written.\n  head        ${head}\n  checkpoint  ${signatures[signature]}\n`;
  const where = fault.receipt_id === null ? 'the chain' : `receipt ${fault.receipt_id}`;
  return `NOT VALID: ${fault.field} of ${where}\n  ${fault.detail}\n  where       ${join(folder, fileOf(fault))}\n  before it   ${checked} receipts are as they were written\n`;
}

function fileOf({ field, receipt_id }: Fault): string {
  if (receipt_id !== null) return `${receipt_id}.json`;
  return field === 'index' ? 'INDEX.jsonl' : field === 'checkpoint' ? 'CHECKPOINT' : '';
}

const signatures: Readonly<Record<ChainVerdict['signature'], string>> = {
  verified: 'signed with the given key',
  unverified: 'signed; give --key to verify by whom',
  missing: 'not signed',
  invalid: 'the signature is wrong',
};
