import { CodedError } from '../contract/errors.ts';
import { maxFileBytes, type TextEdit } from '../contract/files.ts';
import { PathChangedError } from '../lib/confined-folder.ts';
import { readInside } from '../lib/confined-reads.ts';
import { hashContentInTurns } from '../lib/content-hash.ts';
import { type Conditions, checkConditions } from './etags.ts';
import { textOf, whyNoFile } from './locate.ts';
import { type PlannedWrite, planContent, readRegular } from './plan-write.ts';
import { applyEdits } from './text-edits.ts';

export interface PlannedEdit extends PlannedWrite {
  readonly replacements: number;
}

/**
 * What it takes to apply the edits to the file at a real byte path.
 *
 * @throws CodedError file_not_found, not_a_file, file_too_large, conflict, and those of `applyEdits`
 */
export async function planEdit(
  root: string,
  path: string,
  { edits, ...conditions }: Conditions & { readonly edits: readonly TextEdit[] },
): Promise<PlannedEdit> {
  const found = await readRegular(root, path);
  checkConditions(conditions, found?.state.hash ?? null);
  if (found === null) throw whyNoFile(root, path);
  if (found.state.size > maxFileBytes) throw fileTooLarge(path);
  const before = found.bytes ?? readLarge(root, path);
  const { content, replacements } = await applyEdits(before, edits, maxFileBytes);
  const hashed = await hashContentInTurns(content);
  return { ...planContent(path, found, { content, hashed }), replacements };
}

export const fileTooLarge = (path: string) =>
  new CodedError('file_too_large', `${textOf(path)} is larger than ${maxFileBytes / 1024 / 1024} MiB.`);

/** One that is too large to be kept for an undo can be edited all the same. */
function readLarge(root: string, path: string): Buffer {
  const bytes = readInside(root, path, { maxBytes: maxFileBytes })?.bytes;
  if (bytes == null) throw new PathChangedError(path, 'The file has gone, or grown.');
  return bytes;
}
