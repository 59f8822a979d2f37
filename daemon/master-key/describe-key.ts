import type { WorkspaceId } from '../contract/ids.ts';
import type { MasterKeyStatus } from '../contract/master-key.ts';
import type { FoundRing } from './find-ring.ts';
import { faultOf, type KeyFault, type KeySources } from './key-source.ts';
import type { MasterKeyRecord } from './store.ts';

/** Stores that a rotation is done with, and those that it began with. */
export interface RotationProgress {
  readonly done: number;
  readonly total: number;
}

export interface DescribeKeyOptions {
  readonly sources: KeySources;
  readonly record: MasterKeyRecord;
  /** Null where no rotation runs. */
  readonly progress: RotationProgress | null;
  readonly slugOf: (wsId: WorkspaceId) => string | undefined;
}

/** What was found, in the words of the interface. An empty keychain is asked whether it is open for certain. */
export async function describeKey(
  found: FoundRing,
  { sources, record, progress, slugOf }: DescribeKeyOptions,
): Promise<MasterKeyStatus> {
  const fault = await faultIn(found);
  const { key_id, rotation, retired } = record;
  return {
    state: fault === null ? 'ready' : fault.code === 'master_key_locked' ? 'locked' : 'missing',
    source: found.source,
    key_id: rotation?.to ?? key_id,
    detail: fault?.detail ?? null,
    managed: found.source === 'file' ? await sources.files.isWritable() : found.source === 'keychain',
    rotation: rotation && {
      started_at: rotation.started_at,
      ...(progress ?? { done: 0, total: 0 }),
      running: progress !== null,
    },
    retired: retired.map(({ key_id, retired_at, ws_ids }) => ({
      key_id,
      retired_at,
      workspaces: ws_ids.map((ws_id) => ({ ws_id, slug: slugOf(ws_id) ?? ws_id })),
    })),
  };
}

async function faultIn(found: FoundRing): Promise<KeyFault | null> {
  if ('fault' in found) return found.fault;
  if ('ring' in found) return null;
  try {
    await found.empty.prove();
    return null;
  } catch (error) {
    return faultOf(error);
  }
}
