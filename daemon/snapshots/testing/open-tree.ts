import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '../../lib/logger.ts';
import { tempFolder } from '../../lib/testing/temp-folder.ts';
import type { KeeperNotice, RunChanges } from '../tree-calls.ts';
import { TreeKeeper, type TreeKeeperOptions } from '../tree-keeper.ts';

export interface OpenTree extends AsyncDisposable {
  /** The project. */
  readonly root: string;
  /** What the keeper keeps. */
  readonly folder: string;
  readonly keeper: TreeKeeper;
  readonly notices: KeeperNotice[];
  /** Runs something as a command's doing. */
  run(act: () => void, runId?: string): Promise<RunChanges>;
  reopen(options?: Partial<TreeKeeperOptions>): Promise<TreeKeeper>;
}

/** A keeper of a new project, which `fill` may put files into before it is opened. */
export async function openTree(
  fill: (root: string) => void = () => undefined,
  options: Partial<TreeKeeperOptions> = {},
): Promise<OpenTree> {
  const temp = await tempFolder();
  const root = join(temp.path, 'project');
  const folder = join(temp.path, 'data/snapshots');
  const notices: KeeperNotice[] = [];
  mkdirSync(root);
  fill(root);
  const open = async (more: Partial<TreeKeeperOptions>) => {
    const logger = createLogger('silent');
    const onNotice = (notice: KeeperNotice) => notices.push(notice);
    const keeper = TreeKeeper.open({ root, folder, logger, onNotice, ...options, ...more });
    await keeper.ready;
    return keeper;
  };
  let keeper = await open({});
  let runs = 0;
  return {
    root,
    folder,
    notices,
    get keeper() {
      return keeper;
    },
    async run(act, runId = `run_${++runs}`) {
      await keeper.begin(runId);
      act();
      return await keeper.end(runId);
    },
    async reopen(more = {}) {
      await keeper.close();
      keeper = await open(more);
      return keeper;
    },
    async [Symbol.asyncDispose]() {
      await keeper.close();
      await temp[Symbol.asyncDispose]();
    },
  };
}
