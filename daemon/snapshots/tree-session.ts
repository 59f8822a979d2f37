import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Baseline, changesOf, entryOf } from './baseline.ts';
import { BaselineLog } from './baseline-log.ts';
import { type Digest, fromHex, toHex } from './blob.ts';
import { Cookies } from './cookies.ts';
import type { SnapshotRecord, TreeChange } from './entry-state.ts';
import { ObjectStore } from './object-store.ts';
import { orNull } from './pinned-folder.ts';
import { diffsOf } from './run-diffs.ts';
import { Runs } from './runs.ts';
import { isSkippedName } from './skipped-paths.ts';
import { SnapshotRing } from './snapshot-ring.ts';
import {
  type Content,
  cookieFolder,
  type KeeperNotice,
  type RunChanges,
  type TreeCalls,
  type TreeWorkerData,
} from './tree-calls.ts';
import { isSameState, stateOf } from './tree-index.ts';
import { TreeWatch } from './tree-watch.ts';
