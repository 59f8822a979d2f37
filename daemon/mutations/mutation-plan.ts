import type { RunId } from '../contract/ids.ts';
import type { Actor, Receipt, Tool } from '../contract/receipts.ts';
import type { Expected } from '../lib/entry-stat.ts';
import type { EntryState } from '../snapshots/entry-state.ts';

/** One change of the tree. Paths are byte paths. What is to be there before is looked at again when it is applied. */
export type Step =
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly before: EntryState | null;
      /** Content from before; null where there was none, or it is over 10 MiB. */
      readonly beforeBytes: Buffer | null;
      readonly after: EntryState;
      /** Of a link: its target. */
      readonly content: Buffer;
      /** What was looked at, so that a change in the meantime is noticed. */
      readonly expect: Expected;
    }
  | {
      /** Removes a file, a link, or an empty folder (path with `/` at its end). */
      readonly kind: 'remove';
      readonly path: string;
      readonly before: EntryState;
      readonly beforeBytes: Buffer | null;
      readonly expect: Expected;
      /** Folders above that are left empty go too. */
      readonly pruneParents?: boolean;
    }
  /** Makes an empty folder (path with `/` at its end). */
  | { readonly kind: 'folder'; readonly path: string }
  | {
      readonly kind: 'rename';
      readonly from: string;
      readonly to: string;
      /** Every file, link and empty folder that moves along; a single one for a file. */
      readonly moved: readonly {
        readonly from: string;
        readonly to: string;
        readonly state: EntryState;
        readonly bytes: Buffer | null;
      }[];
      /** The file at `to` that is replaced. */
      readonly replaced: { readonly state: EntryState; readonly bytes: Buffer | null } | null;
      readonly expect: { readonly from: Expected; readonly to: Expected };
    };

export interface MutationRequest {
  readonly actor: Actor;
  readonly tool: Tool;
  /** Byte paths that the plan reads and changes; `all` where folders move or go, and for a rollback. */
  readonly locks: readonly string[] | 'all';
  /**
   * Looks at the files, checks what the caller demanded and says what to do; throws coded errors. Called when no other
   * mutation holds the paths, and again where a file changed under its feet. No steps: nothing to do, no receipt.
   */
  plan(): readonly Step[] | Promise<readonly Step[]>;
}

export interface MutationResult {
  readonly runId: RunId;
  /** Null where the plan had no steps. */
  readonly receipt: Receipt | null;
}

/** The one way to change a workspace. Resolves when the change and its receipt are durable. */
export interface Door {
  mutate(
    workspace: { readonly wsId: string; readonly path: string; readonly slug: string },
    request: MutationRequest,
  ): Promise<MutationResult>;
}
