import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import type { ErrorCode } from '../contract/errors.ts';
import {
  DeletedFile,
  EditedFile,
  EditRequest,
  FilePath,
  FolderPath,
  MovedFile,
  MoveRequest,
  maxFileBytes,
  maxPageEntries,
  maxSearchMatches,
  SearchResult,
  TreePage,
  WrittenFile,
} from '../contract/files.ts';
import { actorOf, type Call, type Route, route, type WorkspaceOf } from '../http/route.ts';
import type { Door } from '../mutations/mutation-plan.ts';
import { etagOf } from './etags.ts';
import { type FileCall, FileChanges } from './files.ts';
import { FileReads } from './reads.ts';

export interface FileRoutesOptions {
  readonly door: Door;
  readonly workspaceOf: WorkspaceOf;
  /** Of the daemon: where ripgrep and git's settings are looked for. */
  readonly environment: NodeJS.ProcessEnv;
}

/** What every call with a path can answer. */
const pathErrors: readonly ErrorCode[] = [
  'unknown_workspace',
  'no_active_workspace',
  'path_outside_workspace',
  'path_reserved',
  'conflict',
];
const changeErrors: readonly ErrorCode[] = [
  ...pathErrors,
  'receipts_damaged',
  'shutting_down',
  'storage_full',
  'storage_failed',
];

const Flag = z.enum(['true', 'false']).optional();
const count = (max: number) => z.coerce.number().int().min(1).max(max).optional();

const ifMatch = { 'If-Match': 'Refused with 409 unless the file has this ETag' };
const conditional = { ...ifMatch, 'If-None-Match': '`*`: refused with 409 where there is a file already' };

export function fileRoutes({ door, workspaceOf, environment }: FileRoutesOptions): Route[] {
  const reads = new FileReads(environment);
  const changes = new FileChanges(door);
  const rootOf = (call: AnyCall) => workspaceOf(call).path;
  const fileCall = (call: AnyCall): FileCall => ({
    workspace: workspaceOf(call),
    actor: actorOf(call.principal),
  });
  return [...readRoutes(reads, rootOf), ...writeRoutes(changes, fileCall)];
}

type AnyCall = Pick<Call<unknown, unknown, unknown>, 'principal' | 'namedWorkspace'>;

function readRoutes(reads: FileReads, rootOf: (call: AnyCall) => string): Route[] {
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

function writeRoutes(changes: FileChanges, fileCall: (call: AnyCall) => FileCall): Route[] {
  return [
    route({
      method: 'put',
      path: '/api/project/file',
      summary: 'Write a whole file; folders that are missing are made',
      scope: 'write',
      limit: 'per-key',
      workspace: true,
      headers: conditional,
      request: {
        query: z.strictObject({ path: FilePath }),
        rawBody: {
          maxBytes: maxFileBytes,
          contentTypes: ['application/octet-stream', 'text/plain'],
          parse: (bytes) => bytes,
        },
      },
      response: {
        200: { description: 'Replaced, or the same as before', schema: WrittenFile },
        201: { description: 'A new file', schema: WrittenFile },
      },
      errors: [...changeErrors, 'not_a_file', 'file_too_large'],
      handler: async (call) => {
        const written = await changes.write(fileCall(call), {
          path: call.query.path,
          content: call.body,
          ...conditionsOf(call.req),
        });
        return {
          status: written.created ? 201 : 200,
          body: written,
          headers: { ETag: etagOf(written.etag) },
        };
      },
    }),
    route({
      method: 'delete',
      path: '/api/project/file',
      summary: 'Delete a file, a link itself, or a folder with all that is in it',
      scope: 'write',
      limit: 'per-key',
      workspace: true,
      headers: ifMatch,
      request: {
        query: z.strictObject({ path: FilePath, recursive: Flag.describe('true: a folder may go, too') }),
      },
      response: { 200: { description: 'It is gone', schema: DeletedFile } },
      errors: [...changeErrors, 'file_not_found', 'not_a_file', 'too_many_files'],
      handler: async (call) => {
        const { path, recursive } = call.query;
        const options = { path, recursive: recursive === 'true', ifMatch: conditionsOf(call.req).ifMatch };
        return { status: 200, body: await changes.delete(fileCall(call), options) };
      },
    }),
    route({
      method: 'post',
      path: '/api/project/move',
      summary: 'Move or rename a file, a link itself, or a folder',
      scope: 'write',
      limit: 'per-key',
      workspace: true,
      request: { body: MoveRequest },
      response: { 200: { description: 'It is at its new path', schema: MovedFile } },
      errors: [...changeErrors, 'file_not_found', 'file_exists', 'not_a_file', 'too_many_files'],
      handler: async (call) => {
        const { from, to, overwrite = false } = call.body;
        return { status: 200, body: await changes.move(fileCall(call), { from, to, overwrite }) };
      },
    }),
    route({
      method: 'post',
      path: '/api/project/edit',
      summary: 'Replace exact pieces of a text file, all or none',
      scope: 'write',
      limit: 'per-key',
      workspace: true,
      headers: ifMatch,
      request: { body: EditRequest },
      response: { 200: { description: 'The file as it is now', schema: EditedFile } },
      errors: [
        ...changeErrors,
        'file_not_found',
        'not_a_file',
        'not_a_text_file',
        'edit_not_found',
        'edit_ambiguous',
        'file_too_large',
      ],
      handler: async (call) => {
        const edited = await changes.edit(fileCall(call), { ...call.body, ...conditionsOf(call.req) });
        return { status: 200, body: edited, headers: { ETag: etagOf(edited.etag) } };
      },
    }),
  ];
}

function conditionsOf({ headers }: IncomingMessage) {
  return { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] };
}

const oneHeader = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);

function goneSignal(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return gone.signal;
}
