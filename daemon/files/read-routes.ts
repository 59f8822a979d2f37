import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import type { ErrorCode } from '../contract/errors.ts';
import {
  FilePath,
  FolderPath,
  maxPageEntries,
  maxSearchMatches,
  SearchResult,
  TreePage,
} from '../contract/files.ts';
import { type Call, type Route, route } from '../http/route.ts';
import type { FileReads } from './file-reads.ts';

export type AnyCall = Pick<Call<unknown, unknown, unknown>, 'principal' | 'namedWorkspace'>;

/** What every call with a path can answer. */
export const pathErrors: readonly ErrorCode[] = [
  'unknown_workspace',
  'no_active_workspace',
  'path_outside_workspace',
  'path_reserved',
  'conflict',
];
const Flag = z.enum(['true', 'false']).optional();
const count = (max: number) => z.coerce.number().int().min(1).max(max).optional();

export function readRoutes(reads: FileReads, rootOf: (call: AnyCall) => string): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/project/files',
      summary: 'The files and folders of a folder, or of all below it',
      scope: 'read',
      limit: 'per-key',
      workspace: true,
      request: {
        query: z.strictObject({
          path: FolderPath.optional().describe('A folder; without it, the workspace'),
          after: z.string().max(8192).optional().describe('`next` of the page before'),
          limit: count(maxPageEntries).describe(`Entries on a page, 1 to ${maxPageEntries}; 1000 without it`),
          recursive: Flag.describe('true: also what is in its folders, but for those that git ignores'),
        }),
      },
      response: { 200: { description: 'A page of entries', schema: TreePage } },
      errors: [...pathErrors, 'folder_not_found'],
      handler: async (call) => {
        const { path = '', after, limit = maxPageEntries, recursive } = call.query;
        const options = { path, after, limit, recursive: recursive === 'true' };
        return { status: 200, body: await reads.list(rootOf(call), options) };
      },
    }),
    route({
      method: 'get',
      path: '/api/project/file',
      summary: "A file's content; a link is followed inside the workspace",
      scope: 'read',
      limit: 'per-key',
      workspace: true,
      headers: {
        'If-None-Match': 'Answered with 304 where the file still has this ETag',
        Range: 'One range of bytes',
        'If-Range': 'The range is heeded only where the file still has this ETag',
      },
      request: { query: z.strictObject({ path: FilePath }) },
      response: {
        200: {
          description: 'The bytes, with their SHA-256 as ETag',
          schema: z.string(),
          contentType: 'text/plain',
        },
        206: { description: 'The range that was asked for', schema: z.string(), contentType: 'text/plain' },
        304: { description: 'The caller has it already' },
      },
      errors: [...pathErrors, 'file_not_found', 'not_a_file', 'file_too_large', 'range_not_satisfiable'],
      handler: async (call) => {
        const { headers } = call.req;
        const answer = await reads.content(rootOf(call), call.query.path, {
          ifNoneMatch: headers['if-none-match'],
          range: headers.range,
          ifRange: oneHeader(headers['if-range']),
        });
        if (!('unsatisfiable' in answer)) return answer;
        call.res.setHeader('Content-Range', `bytes */${answer.size}`);
        throw answer.unsatisfiable;
      },
    }),
    route({
      method: 'get',
      path: '/api/project/search',
      summary: 'Lines of text files that match; what git ignores is left out',
      scope: 'read',
      limit: 'per-key',
      workspace: true,
      request: {
        query: z.strictObject({
          q: z
            .string()
            .min(1)
            .max(1000)
            .refine((text) => !/[\0\n\r]/.test(text), 'must be one line')
            .describe('What to look for'),
          regex: Flag.describe('true: q is a regular expression'),
          case: Flag.describe('true: upper and lower case are told apart'),
          path: FolderPath.optional().describe('A folder or file to look in; without it, the workspace'),
          glob: z
            .string()
            .min(1)
            .max(1000)
            .refine((text) => !/[\0\n\r]/.test(text), 'must be one line')
            .optional()
            .describe('Files to look at, as in .gitignore: `*.ts`; with ! in front, files to leave out'),
          limit: count(maxSearchMatches).describe(`Matches, 1 to ${maxSearchMatches}; 200 without it`),
        }),
      },
      response: { 200: { description: 'By path and line', schema: SearchResult } },
      errors: [...pathErrors, 'file_not_found'],
      handler: async (call) => {
        const { q, regex, case: caseSensitive, path = '', glob, limit = 200 } = call.query;
        const body = await reads.search(rootOf(call), {
          pattern: q,
          regex: regex === 'true',
          caseSensitive: caseSensitive === 'true',
          path,
          glob,
          limit,
          signal: goneSignal(call.res),
        });
        return { status: 200, body };
      },
    }),
  ];
}

const oneHeader = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);

function goneSignal(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return gone.signal;
}
