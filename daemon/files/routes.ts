import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import type { ErrorCode } from '../contract/errors.ts';
import {
  DeletedFile,
  EditedFile,
  EditRequest,
  FilePath,
  MovedFile,
  MoveRequest,
  maxFileBytes,
  WrittenFile,
} from '../contract/files.ts';
import { actorOf, type Route, route, type WorkspaceOf } from '../http/route.ts';
import type { Door } from '../mutations/mutation-plan.ts';
import { etagOf } from './etags.ts';
import { type FileCall, FileChanges } from './file-changes.ts';
import { FileReads } from './file-reads.ts';
import { type AnyCall, pathErrors, readRoutes } from './read-routes.ts';

export interface FileRoutesOptions {
  readonly door: Door;
  readonly workspaceOf: WorkspaceOf;
  /** Of the daemon: where ripgrep and git's settings are looked for. */
  readonly environment?: NodeJS.ProcessEnv;
}

const changeErrors: readonly ErrorCode[] = [
  ...pathErrors,
  'receipts_damaged',
  'shutting_down',
  'storage_full',
  'storage_failed',
];

const Flag = z.enum(['true', 'false']).optional();

const ifMatch = { 'If-Match': 'Refused with 409 unless the file has this ETag' };
const conditional = { ...ifMatch, 'If-None-Match': '`*`: refused with 409 where there is a file already' };

export function fileRoutes({ door, workspaceOf, environment = process.env }: FileRoutesOptions): Route[] {
  const reads = new FileReads(environment);
  const changes = new FileChanges(door);
  const rootOf = (call: AnyCall) => workspaceOf(call).path;
  const fileCall = (call: AnyCall): FileCall => ({
    workspace: workspaceOf(call),
    actor: actorOf(call.principal),
  });
  return [...readRoutes(reads, rootOf), ...writeRoutes(changes, fileCall)];
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
