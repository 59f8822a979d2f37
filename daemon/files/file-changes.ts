import { CodedError } from '../contract/errors.ts';
import type { DeletedFile, EditedFile, MovedFile, TextEdit, WrittenFile } from '../contract/files.ts';
import type { Actor } from '../contract/receipts.ts';
import { statInside } from '../lib/confined-reads.ts';
import { hashContentInTurns } from '../lib/content-hash.ts';
import type { Door, MutationRequest, Step } from '../mutations/mutation-plan.ts';
import type { Conditions } from './etags.ts';
import { asFileError } from './file-errors.ts';
import { locateFile, textOf } from './locate.ts';
import { planDelete } from './plan-delete.ts';
import { planEdit } from './plan-edit.ts';
import { planMove } from './plan-move.ts';
import { planWrite } from './plan-write.ts';

/** Where a call works, and who makes it. */
export interface FileCall {
  readonly workspace: Parameters<Door['mutate']>[0];
  readonly actor: Actor;
}

/**
 * The calls that change files. Each goes through the door as one mutation, answers when the change and its receipt are
 * durable, and changes nothing where it throws.
 *
 * @throws CodedError: path_outside_workspace, path_reserved, conflict, invalid_request and those of the plans
 */
export class FileChanges {
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  async write(
    call: FileCall,
    {
      path: requested,
      content,
      ...conditions
    }: Conditions & { readonly path: string; readonly content: Buffer },
  ): Promise<WrittenFile> {
    const hashed = await hashContentInTurns(content);
    const path = this.#locate(call, requested, 'follow');
    const { planned, written } = await this.#mutate(call, { tool: 'file.write', locks: [path] }, () => {
      this.#checkSame(path, locateFile(call.workspace.path, requested, 'follow'));
      return planWrite(call.workspace.path, path, { ...conditions, content, hashed });
    });
    const { etag, size, created } = planned;
    return { path: textOf(path), size, etag, created, ...written };
  }

  async edit(
    call: FileCall,
    {
      path: requested,
      ...options
    }: Conditions & { readonly path: string; readonly edits: readonly TextEdit[] },
  ): Promise<EditedFile> {
    const path = this.#locate(call, requested, 'follow');
    const { planned, written } = await this.#mutate(call, { tool: 'file.edit', locks: [path] }, () => {
      this.#checkSame(path, locateFile(call.workspace.path, requested, 'follow'));
      return planEdit(call.workspace.path, path, options);
    });
    const { etag, size, created, replacements } = planned;
    return { path: textOf(path), size, etag, created, replacements, ...written };
  }

  async delete(
    call: FileCall,
    {
      path: requested,
      ...options
    }: Pick<Conditions, 'ifMatch'> & { readonly path: string; readonly recursive: boolean },
  ): Promise<DeletedFile> {
    const root = call.workspace.path;
    const path = this.#locate(call, withoutSlash(requested), 'keep');
    const locks = this.#locksFor(root, [path]);
    const { written } = await this.#mutate(call, { tool: 'file.delete', locks }, async () => {
      this.#checkSame(path, locateFile(root, withoutSlash(requested), 'keep'));
      this.#checkLocks(root, locks, path);
      return { steps: await planDelete(root, path, options) };
    });
    return { path: textOf(path), ...written };
  }

  async move(
    call: FileCall,
    { from, to, overwrite }: { readonly from: string; readonly to: string; readonly overwrite: boolean },
  ): Promise<MovedFile> {
    const root = call.workspace.path;
    const find = () => ({
      from: locateFile(root, withoutSlash(from), 'keep'),
      to: locateFile(root, withoutSlash(to), 'as-written'),
    });
    const paths = translated(find);
    const locks = this.#locksFor(root, [paths.from, paths.to]);
    const { written } = await this.#mutate(call, { tool: 'file.move', locks }, async () => {
      const now = find();
      this.#checkSame(paths.from, now.from);
      this.#checkSame(paths.to, now.to);
      this.#checkLocks(root, locks, paths.from);
      return { steps: await planMove(root, { ...paths, overwrite }) };
    });
    return { from: textOf(paths.from), to: textOf(paths.to), ...written };
  }

  #locate({ workspace }: FileCall, requested: string, leaf: 'follow' | 'keep'): string {
    return translated(() => locateFile(workspace.path, requested, leaf));
  }

  /** Nobody else is to work in a folder while it moves or goes. */
  #locksFor(root: string, paths: readonly string[]): readonly string[] | 'all' {
    return translated(() => paths.some((path) => statInside(root, path)?.kind === 'folder')) ? 'all' : paths;
  }

  #checkLocks(root: string, locks: MutationRequest['locks'], path: string): void {
    if (locks !== 'all' && statInside(root, path)?.kind === 'folder') throw changedMeanwhile();
  }

  /** The lock is on the path that was found first: where links lead elsewhere by now, it is of no use. */
  #checkSame(before: string, now: string): void {
    if (before !== now) throw changedMeanwhile();
  }

  async #mutate<Planned extends { readonly steps: readonly Step[] }>(
    { workspace, actor }: FileCall,
    { tool, locks }: Pick<MutationRequest, 'tool' | 'locks'>,
    plan: () => Promise<Planned>,
  ) {
    let planned: Planned | undefined;
    const request: MutationRequest = {
      actor,
      tool,
      locks,
      plan: async () => {
        planned = await plan();
        return planned.steps;
      },
    };
    try {
      const { runId, receipt } = await this.#door.mutate(workspace, request);
      if (planned === undefined) throw new Error('the door has answered without looking at the plan');
      return { planned, written: { run_id: runId, receipt_id: receipt?.receipt_id ?? null } };
    } catch (error) {
      throw asFileError(error);
    }
  }
}

const withoutSlash = (path: string) => path.replace(/(?<=[^/])\/+$/, '');

const changedMeanwhile = () =>
  new CodedError('conflict', 'The path leads elsewhere by now: its links or folders have changed.');

function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asFileError(error);
  }
}
