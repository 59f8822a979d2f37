import { join } from 'node:path';
import { Baseline, changesOf } from './baseline.ts';
import { BaselineLog } from './baseline-log.ts';
import { fromHex, toHex } from './blob.ts';
import { ChangeFeed } from './change-feed.ts';
import { noteDoorWrite } from './door-write.ts';
import type { SnapshotRecord, TreeChange } from './entry-state.ts';
import { inSlices } from './in-slices.ts';
import { ObjectStore } from './object-store.ts';
import { diffsOf } from './run-diffs.ts';
import { Runs } from './runs.ts';
import { isSkippedPath } from './skipped-paths.ts';
import { SnapshotRing } from './snapshot-ring.ts';
import { takeOver } from './take-over.ts';
import { tidyStore } from './tidy-store.ts';
import {
  type Content,
  cookieFolder,
  type KeeperNotice,
  type RunChanges,
  type TreeCalls,
  type TreeWorkerData,
} from './tree-calls.ts';
import { UserEdits } from './user-edits.ts';

export interface TreeSessionOptions {
  readonly data: TreeWorkerData;
  readonly onNotice: (notice: KeeperNotice) => void;
  readonly onReady: (isWatching: boolean) => void;
  readonly onUnwatched: () => void;
}

const settleAfterMs = 200;

/** The worker's side of `TreeKeeper`: what is the user's and what a command's doing, and in which order. */
export class TreeSession implements TreeCalls {
  readonly #options: TreeSessionOptions;
  readonly #store: ObjectStore;
  readonly #ring: SnapshotRing;
  readonly #log: BaselineLog;
  readonly #baseline: Baseline;
  readonly #feed: ChangeFeed;
  readonly #edits: UserEdits;
  readonly #runs: Runs;
  readonly #beginning = new Set<Promise<boolean>>();
  readonly #loaded = Promise.withResolvers<void>();
  #settling: NodeJS.Timeout | undefined;
  #isLoaded = false;
  #isClosed = false;

  constructor(options: TreeSessionOptions) {
    const { data, onNotice } = options;
    this.#options = options;
    this.#store = new ObjectStore(data.folder, (name) =>
      onNotice({ code: 'pack_damaged', detail: `The snapshot pack ${name} can not be read.` }),
    );
    this.#ring = new SnapshotRing(join(data.folder, 'ring.jsonl'));
    this.#log = new BaselineLog(join(data.folder, 'baseline.jsonl'));
    this.#runs = new Runs(data.interrupted);
    this.#feed = new ChangeFeed({
      ...data,
      cookieFolder: join(data.folder, cookieFolder),
      isIgnoredFolder: (path) => this.#baseline.rules.ignores(path, true),
      onBegin: (runId, atMs) => this.#begin(runId, atMs),
      onDirty: () => this.#foldWhenIdle(),
      onLost: (reason) => this.#onUnwatched(reason),
    });
    this.#baseline = new Baseline({
      root: data.root,
      store: this.#store,
      log: this.#log,
      onFolder: this.#feed.onFolder,
    });
    this.#edits = new UserEdits({
      baseline: this.#baseline,
      feed: this.#feed,
      onFailed: (error) =>
        onNotice({
          code: 'fold_failed',
          detail: `Your own changes could not be told from those of a command: ${String(error)}`,
        }),
    });
  }

  /** Compares the whole tree with the saved baseline, or makes the first. */
  async load(): Promise<void> {
    const hadBaseline = this.#log.load(this.#baseline.index);
    this.#log.release(this.#ring.runs(), this.#ring.ids());
    const scanner = this.#baseline.scanner();
    if (!(await inSlices(scanner.walk(''), () => this.#isClosed))) return;
    this.#store.flush();
    takeOver([...scanner.findings.values()], {
      baseline: this.#baseline,
      log: this.#log,
      interrupted: hadBaseline ? this.#options.data.interrupted : [],
    });
    if (!hadBaseline || this.#log.isLong(this.#baseline.index)) this.#log.rewrite(this.#baseline.index);
    this.#isLoaded = true;
    this.#tidy();
    this.#foldWhenIdle();
    this.#options.onReady(this.#feed.isWatching);
    this.#loaded.resolve();
  }

  async begin(runId: string, cookie: string | null): Promise<void> {
    const reached = this.#feed.reach(cookie);
    this.#beginning.add(reached);
    // Where the cookie is seen, the feed has told of the begin just then.
    if (!(await reached)) {
      this.#feed.distrust();
      this.#begin(runId, this.#feed.timeOf(cookie));
    }
    this.#beginning.delete(reached);
  }

  async end(runId: string, cookie: string | null): Promise<RunChanges> {
    if (!(await this.#feed.reach(cookie))) this.#feed.distrust();
    const dirty = this.#feed.take();
    const suspects = this.#feed.takeSuspects();
    try {
      const findings = this.#baseline.look(dirty);
      const changes = [...this.#log.carried, ...changesOf(findings)];
      // What the receipt of these changes refers to has to be there before the receipt is.
      this.#store.flushIfPending(changes.flatMap(({ before }) => (before?.oid ? [fromHex(before.oid)] : [])));
      const diffs = diffsOf(changes, this.#store);
      const untouched = this.#edits.untouched(suspects, findings);
      this.#baseline.handOut({ run: runId, changes }, [...findings, ...untouched]);
      const concurrent = this.#runs.end(runId).filter((other) => other !== runId);
      return { changes, diffs, concurrent };
    } catch (error) {
      this.#feed.restore(dirty);
      this.#feed.restore({ all: false, paths: new Map([...suspects].map((path) => [path, false])) });
      throw error;
    } finally {
      setImmediate(() => this.#settleStore());
    }
  }

  async cancel(runId: string): Promise<void> {
    await this.#begun();
    this.#runs.end(runId);
    this.#foldWhenIdle();
  }

  async note(changes: readonly TreeChange[], contents: readonly Content[]): Promise<void> {
    await this.#loaded.promise;
    await this.#begun();
    for (const { oid, bytes } of contents) this.#store.add(bytes, fromHex(oid));
    this.#store.flushIfLarge();
    const [baseline, log, isCommandRunning] = [this.#baseline, this.#log, !this.#runs.isNone];
    for (const change of changes)
      if (!isSkippedPath(change.path)) noteDoorWrite(change, { baseline, log, isCommandRunning });
    this.#settleSoon();
  }

  store(blobs: readonly Uint8Array[]): string[] {
    const oids = blobs.map((bytes) => toHex(this.#store.add(bytes)));
    this.#store.flush();
    this.#log.reserve(oids);
    return oids;
  }

  read(oid: string): Uint8Array | null {
    return this.#store.read(fromHex(oid));
  }

  has(oid: string): boolean {
    return this.#store.has(fromHex(oid));
  }

  flush(snapshots: readonly SnapshotRecord[], blobs: readonly Uint8Array[]): void {
    for (const bytes of blobs) this.#store.add(bytes);
    this.#store.flush();
    this.#ring.add(snapshots);
    this.#log.release(new Set(snapshots.map(({ run_id }) => run_id)), this.#ring.ids());
    this.#tidy();
  }

  snapshot(snapshotId: string): SnapshotRecord | null {
    return this.#ring.get(snapshotId);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#settling);
    this.#feed.close();
    try {
      if (this.#isLoaded) {
        this.#store.flush();
        this.#log.rewrite(this.#baseline.index);
      }
    } catch (error) {
      // The log as it was appended to serves as well: what it does not name is read again.
      this.#options.onNotice({
        code: 'not_stored',
        detail: `The baseline could not be saved: ${String(error)}`,
      });
    } finally {
      this.#store.close();
    }
  }

  /** Messages and events come by different ways: a begin that was called earlier may be seen later. */
  async #begun(): Promise<void> {
    while (this.#beginning.size > 0) await Promise.all(this.#beginning);
  }

  /** What is dirty by now is the user's, except what changed at `beginMs` or later. */
  #begin(runId: string, beginMs: number | undefined): void {
    if (this.#runs.isNone) this.#edits.fold(beginMs);
    this.#runs.begin(runId);
    this.#settleSoon();
  }

  #foldWhenIdle(): void {
    if (!this.#isLoaded || !this.#runs.isNone || !this.#feed.isWatching) return;
    this.#edits.fold();
    this.#settleSoon();
  }

  #onUnwatched(reason: string): void {
    this.#options.onNotice({
      code: 'watcher_off',
      detail: `The workspace can not be watched, so every command waits for a scan of it (${reason}).`,
    });
    this.#options.onUnwatched();
  }

  /** A daemon that is killed loses what only its memory has, and with it what a command may be about to change. */
  #settleSoon(): void {
    if (!this.#store.hasPending && !this.#log.isLong(this.#baseline.index)) return;
    this.#settling ??= setTimeout(() => this.#settleStore(), settleAfterMs);
  }

  /** After the answer: what the next command may need is made durable. */
  #settleStore(): void {
    clearTimeout(this.#settling);
    this.#settling = undefined;
    if (this.#isClosed) return;
    try {
      this.#store.flush();
      this.#tidy();
      if (this.#log.isLong(this.#baseline.index)) this.#log.rewrite(this.#baseline.index);
    } catch (error) {
      // It stays in memory; the next run that needs it fails where it still can't be written.
      this.#options.onNotice({
        code: 'not_stored',
        detail: `Contents could not be stored: ${String(error)}`,
      });
    }
    this.#foldWhenIdle();
  }

  #tidy(): void {
    if (!this.#isLoaded) return;
    const { limits } = this.#options.data;
    tidyStore({ store: this.#store, ring: this.#ring, baseline: this.#baseline, log: this.#log, limits });
  }
}
