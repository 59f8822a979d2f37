import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyId, UserId, WorkspaceId } from '../../contract/ids.ts';
import type { Actor, Receipt } from '../../contract/receipts.ts';
import { toBytePath } from '../../lib/byte-path.ts';
import { hashContent } from '../../lib/content-hash.ts';
import { newId } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import { readEntry } from '../../lib/read-entry.ts';
import { tempFolder } from '../../lib/testing/temp-folder.ts';
import { receiptIdOf, sealReceipt } from '../../receipts/receipt-format.ts';
import { ReceiptStore } from '../../receipts/receipt-store.ts';
import { openSigningKey } from '../../receipts/signing-key.ts';
import { verifyRun } from '../../receipts/verify-run.ts';
import { TreeKeeper } from '../../snapshots/tree-keeper.ts';
import type { MutationRequest, MutationResult, Step } from '../mutation-plan.ts';
import { Mutations, type Workspace } from '../mutations.ts';
import { newRunId } from '../receipt-draft.ts';
import { WorkspaceDoor } from '../workspace-door.ts';

export const actor: Actor = { type: 'key', key_id: KeyId.parse(newId('key')) };

/** A workspace with all that its mutations need, on folders of its own; without a daemon around it. */
export async function realMutations() {
  const base = await tempFolder();
  const project = join(base.path, 'project');
  const data = join(base.path, 'data');
  await mkdir(project);
  await mkdir(data);
  const workspace: Workspace = { wsId: WorkspaceId.parse(newId('ws')), slug: 'project', path: project };
  const logger = createLogger('silent');
  const receipts: Receipt[] = [];
  const notices: string[] = [];
  const fatal: Error[] = [];
  let trusted: { count: number; head: string } | null = null;
  const signingKey = await openSigningKey({
    dataDir: data,
    known: null,
    onNotice: (text) => notices.push(text),
  });
  const openStore = (
    _: Workspace,
    pending: Parameters<Parameters<typeof WorkspaceDoor.open>[0]['openStore']>[0] = [],
  ) =>
    ReceiptStore.open({
      folder: join(data, 'receipts'),
      wsId: workspace.wsId,
      signingKey,
      trusted: {
        get: () => trusted,
        set: (checkpoint) => {
          trusted = { ...checkpoint };
        },
      },
      pending,
      onNotice: (text) => notices.push(text),
    });
  let door: WorkspaceDoor | undefined;
  const start = () =>
    new Mutations({
      openDoor: async () => {
        door = await WorkspaceDoor.open({
          wsId: workspace.wsId,
          root: project,
          folder: data,
          userId: UserId.parse(newId('u')),
          clock: Date.now,
          format: { receiptIdOf, sealReceipt },
          mask: (text) => text,
          openStore: (pending) => openStore(workspace, pending),
          openKeeper: (interrupted) =>
            TreeKeeper.open({
              root: project,
              folder: join(data, 'snapshots'),
              logger,
              interrupted,
              onNotice: ({ detail }) => notices.push(detail),
            }),
          syncTrusted: async () => undefined,
          onReceipt: (receipt) => receipts.push(receipt),
          onNotice: (text) => notices.push(text),
          onFatal: (error) => fatal.push(error),
        });
        return door;
      },
      openStore,
      verifyRun,
      replacementOf: () => async () => undefined,
    });
  let mutations = start();
  return {
    project,
    data,
    workspace,
    receipts,
    notices,
    fatal,
    get mutations() {
      return mutations;
    },
    get door() {
      if (door === undefined) throw new Error('the door was not opened');
      return door;
    },
    /** Ends in order, and starts anew. */
    async restart() {
      await mutations[Symbol.asyncDispose]();
      mutations = start();
    },
    write: (path: string, content: string) =>
      mutations.mutate(
        workspace,
        request([path], () => [writeStep(project, path, content)]),
      ),
    /** Does what a command would do, between its begin and its end. */
    async command(work: () => void | Promise<void>, cmd = 'work') {
      const bracket = await mutations.bracket(workspace);
      const runId = newRunId();
      await bracket.begin({ runId, actor, cmd });
      await work();
      return { runId, ...(await bracket.end(runId, { exitCode: 0 })) };
    },
    rollBack: (runId: MutationResult['runId'], force = false) =>
      mutations.rollBack(workspace, { runId, force, actor }),
    async [Symbol.asyncDispose]() {
      await mutations[Symbol.asyncDispose]();
      await base[Symbol.asyncDispose]();
    },
  };
}

export function request(locks: MutationRequest['locks'], plan: MutationRequest['plan']): MutationRequest {
  return { actor, tool: 'file.write', locks, plan };
}

export function writeStep(root: string, path: string, content: string): Step {
  const found = readEntry(root, toBytePath(path));
  const bytes = Buffer.from(content);
  return {
    kind: 'write',
    path: toBytePath(path),
    before: found?.state ?? null,
    beforeBytes: found?.bytes ?? null,
    after: { mode: '100644', size: bytes.length, ...hashContent(bytes) },
    content: bytes,
    expect: found?.stat ?? 'absent',
  };
}
