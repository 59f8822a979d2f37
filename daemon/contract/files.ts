import * as z from 'zod';
import { ReceiptId, RunId, Timestamp } from './ids.ts';
import { maxPathLength } from './projects.ts';
import { Hash } from './receipts.ts';

/** A file that is written or read through the API is at most this large. */
export const maxFileBytes = 50 * 1024 * 1024;
export const maxPageEntries = 1000;
export const maxSearchMatches = 1000;

/** Path of a file or folder relative to the workspace, with `/`. */
export const FilePath = z
  .string()
  .min(1)
  .max(maxPathLength)
  .refine((path) => !path.includes('\0'), 'must not contain NUL')
  .meta({ id: 'FilePath' });

export const FolderPath = z
  .string()
  .max(maxPathLength)
  .refine((path) => !path.includes('\0'), 'must not contain NUL');

export const TreeEntry = z
  .object({
    path: z.string().describe('Relative to the workspace'),
    name: z.string(),
    type: z.enum(['file', 'folder', 'link', 'other']),
    size: z.int().nullable().describe('Bytes; null for what is no file'),
    modified_at: Timestamp,
    ignored: z.boolean().describe("Whether the project's .gitignore files leave it out"),
    executable: z.boolean(),
    target: z.string().optional().describe('Where a link leads'),
    utf8: z.literal(false).optional().describe('The name is not UTF-8: the API can not address it'),
  })
  .meta({ id: 'TreeEntry' });
export type TreeEntry = z.infer<typeof TreeEntry>;

export const TreePage = z
  .object({
    path: z.string().describe("The folder that is listed, '' for the workspace itself"),
    entries: z.array(TreeEntry).describe('Folders first, then by name'),
    next: z.string().nullable().describe('`after` for the next page; null on the last'),
  })
  .meta({ id: 'TreePage' });
export type TreePage = z.infer<typeof TreePage>;

export const SearchMatch = z
  .object({
    path: z.string(),
    line: z.int().describe('From 1'),
    column: z.int().describe('In characters, from 1'),
    text: z.string().describe('The line, cut around the match where it is long'),
  })
  .meta({ id: 'SearchMatch' });
export type SearchMatch = z.infer<typeof SearchMatch>;

export const SearchResult = z
  .object({
    matches: z.array(SearchMatch),
    truncated: z.boolean().describe('There are more, or the time was up'),
    engine: z.enum(['ripgrep', 'builtin']),
    duration_ms: z.int(),
  })
  .meta({ id: 'SearchResult' });
export type SearchResult = z.infer<typeof SearchResult>;

const written = {
  run_id: RunId,
  receipt_id: ReceiptId.nullable().describe('null where the call changed nothing'),
};

export const WrittenFile = z
  .object({
    path: z.string().describe('Relative to the workspace, links followed'),
    size: z.int(),
    etag: Hash,
    created: z.boolean(),
    ...written,
  })
  .meta({ id: 'WrittenFile' });
export type WrittenFile = z.infer<typeof WrittenFile>;

export const DeletedFile = z.object({ path: z.string(), ...written }).meta({ id: 'DeletedFile' });
export type DeletedFile = z.infer<typeof DeletedFile>;

export const MoveRequest = z
  .strictObject({
    from: FilePath,
    to: FilePath,
    overwrite: z.boolean().optional().describe('Replace a file at `to`; without it that is a conflict'),
  })
  .meta({ id: 'MoveRequest' });
export type MoveRequest = z.infer<typeof MoveRequest>;

export const MovedFile = z.object({ from: z.string(), to: z.string(), ...written }).meta({ id: 'MovedFile' });
export type MovedFile = z.infer<typeof MovedFile>;

export const TextEdit = z
  .strictObject({
    old_text: z.string().min(1).describe('Must occur exactly once, unless `all` is true'),
    new_text: z.string(),
    all: z.boolean().optional(),
  })
  .meta({ id: 'TextEdit' });
export type TextEdit = z.infer<typeof TextEdit>;

export const EditRequest = z
  .strictObject({
    path: FilePath,
    edits: z
      .array(TextEdit)
      .min(1)
      .max(1000)
      .describe('Applied in order, each to the result of those before; all or nothing'),
  })
  .meta({ id: 'EditRequest' });
export type EditRequest = z.infer<typeof EditRequest>;

export const EditedFile = WrittenFile.extend({ replacements: z.int() }).meta({ id: 'EditedFile' });
export type EditedFile = z.infer<typeof EditedFile>;
