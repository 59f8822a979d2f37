import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentOf } from '../lib/byte-path.ts';
import { Baseline, changesOf, entryOf } from './baseline.ts';
import { BaselineLog } from './baseline-log.ts';
import { fromHex, toHex } from './blob.ts';
import { ChangeFeed } from './change-feed.ts';
import type { SnapshotRecord, TreeChange } from './entry-state.ts';
import { ObjectStore } from './object-store.ts';
import { diffsOf } from './run-diffs.ts';
import { Runs } from './runs.ts';
import { SnapshotRing } from './snapshot-ring.ts';
import { tidyStore } from './tidy-store.ts';
import {
  type Content,
  cookieFolder,
  type KeeperNotice,
  type RunChanges,
  type TreeCalls,
  type TreeWorkerData,
} from './tree-calls.ts';
import { isSameState, stateOf } from './tree-index.ts';
import type { Finding } from './tree-scanner.ts';

export interface TreeSessionOptions {
  readonly data: TreeWorkerData;
  readonly onNotice: (notice: KeeperNotice) => void;
  readonly onReady: (isWatching: boolean) => void;
  readonly onUnwatched: () => void;
}

/** While the tree is first read, others get a turn after so long. */
const sliceMs = 15;

/** The worker's side of `TreeKeeper`: what is the user's and what a command's doing, and in which order. */
export class TreeSession implements TreeCalls {
  readonly #options: TreeSessionOptions;
  readonly #store: ObjectStore;
  readonly #ring: SnapshotRing;
  readonly #log: BaselineLog;
  readonly #baseline: Baseline;
  readonly #feed: ChangeFeed;
  readonly #runs: Runs;
  /** Changes of a command over which the door wrote before the command ended. */
  #carried: TreeChange[] = [];
  readonly #loaded = Promise.withResolvers<void>();
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
  }

  /** Compares the whole tree with the saved baseline, or makes the first. */
  async load(): Promise<void> {
    const hadBaseline = this.#log.load(this.#baseline.index);
    this.#log.release(this.#ring.runs());
    const scanner = this.#baseline.scanner();
    let sliceEnd = performance.now() + sliceMs;
    for (const _ of scanner.walk('')) {
      if (performance.now() < sliceEnd) continue;
      await nextTurn();
      if (this.#isClosed) return;
      sliceEnd = performance.now() + sliceMs;
    }
    this.#store.flush();
    const changes = this.#baseline.commit([...scanner.findings.values()]);
    if (hadBaseline && !this.#runs.isNone) this.#carried = changes;
    if (!hadBaseline || this.#log.isLong(this.#baseline.index)) this.#log.rewrite(this.#baseline.index);
    this.#isLoaded = true;
    this.#foldWhenIdle();
    this.#options.onReady(this.#feed.isWatching);
    this.#loaded.resolve();
  }

  begin(runId: string, cookie: string | null): void {
    if (!this.#feed.tellsOf(cookie))
      this.#begin(runId, this.#feed.timeOf(cookie) ?? Number.POSITIVE_INFINITY);
  }

  async end(runId: string, cookie: string | null): Promise<RunChanges> {
    await this.#feed.reach(cookie);
    const dirty = this.#feed.take();
    try {
      const findings = this.#baseline.look(dirty);
      findings.push(...this.#suspects(findings));
      const changes = [...this.#carried, ...changesOf(findings)];
      const before = changes.flatMap(({ before }) => (before?.oid ? [before.oid] : []));
      // What the receipt of these changes refers to has to be there before the receipt is.
      this.#store.flushIfPending(before.map(fromHex));
      this.#log.hold(runId, before);
      this.#baseline.commit(findings);
      this.#carried = [];
      const diffs = diffsOf(changes, this.#store);
      return { changes, diffs, concurrent: this.#runs.end(runId).filter((other) => other !== runId) };
    } catch (error) {
      this.#feed.restore(dirty);
      throw error;
    } finally {
      setImmediate(() => this.#settleStore());
    }
  }

  cancel(runId: string): void {
    this.#runs.cancel(runId);
    this.#foldWhenIdle();
  }

  async note(changes: readonly TreeChange[], contents: readonly Content[]): Promise<void> {
    await this.#loaded.promise;
    for (const { oid, bytes } of contents) this.#store.add(bytes, fromHex(oid));
    this.#store.flushIfLarge();
    for (const change of changes) this.#note(change);
    setImmediate(() => this.#tidyLog());
  }

  store(blobs: readonly Uint8Array[]): string[] {
    const oids = blobs.map((bytes) => toHex(this.#store.add(bytes)));
    this.#store.flush();
    this.#log.hold('', oids);
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
    this.#log.release(new Set(snapshots.map(({ run_id }) => run_id)));
    this.#tidy();
  }

  snapshot(snapshotId: string): SnapshotRecord | null {
    return this.#ring.get(snapshotId);
  }

  close(): void {
    this.#isClosed = true;
    this.#feed.close();
    try {
      if (this.#isLoaded) {
        this.#store.flush();
        this.#log.rewrite(this.#baseline.index);
      }
    } finally {
      this.#store.close();
    }
  }

  /** What is dirty by now is the user's, except what changed at `atMs` or later. */
  #begin(runId: string, atMs: number): void {
    if (this.#runs.isNone) this.#fold(atMs);
    this.#runs.begin(runId);
  }

  #foldWhenIdle(): void {
    if (this.#isLoaded && this.#runs.isNone && this.#feed.isWatching) this.#fold(undefined);
  }

  /** Moves the baseline on by what no command did. */
  #fold(limitMs: number | undefined): void {
    const dirty = this.#feed.take();
    if (!dirty.all && dirty.paths.size === 0) return;
    try {
      const findings = this.#baseline.look(dirty);
      // Of a begin that shows up only now, what was read above may be the command's doing already.
      const untilMs = limitMs ?? this.#feed.earliestBeginMs();
      const isEarlier = (finding: Finding) =>
        untilMs === Number.POSITIVE_INFINITY || this.#baseline.changedAtMs(finding) < untilMs;
      this.#baseline.commit(findings.filter(isEarlier));
      for (const { path } of findings.filter((finding) => !isEarlier(finding)))
        this.#leave(path, limitMs !== undefined && dirty.paths.get(path) === false);
      setImmediate(() => this.#settleStore());
    } catch (error) {
      this.#feed.restore(dirty);
      this.#options.onNotice({
        code: 'fold_failed',
        detail: `Your own changes could not be told from those of a command: ${String(error)}`,
      });
    }
  }

  /**
   * Changed about when a command began. Where an event came before the begin, and none comes after it, it is the
   * user's; of what was found without an event one can't know, and it counts as the command's.
   */
  #leave(path: string, hadEvent: boolean): void {
    if (hadEvent) this.#feed.suspect(path);
    else this.#feed.restore({ all: false, paths: new Map([[path.replace(/\/$/, ''), false]]) });
  }

  /** What turned out not to be touched by the command: to be moved over in silence. */
  #suspects(findings: readonly Finding[]): Finding[] {
    const found = new Set(findings.map(({ path }) => path));
    const paths = new Map([...this.#feed.takeSuspects()].map((path) => [path, false] as const));
    if (paths.size === 0) return [];
    return this.#baseline
      .look({ all: false, paths })
      .filter(({ path }) => !found.has(path))
      .map((finding) => ({ ...finding, isSilent: true }));
  }

  #note({ path, before, after }: TreeChange): void {
    const name = path.replace(/\/$/, '');
    if (this.#baseline.rules.ignores(name, name !== path)) return;
    const known = this.#baseline.index.get(path);
    const noted = after && entryOf(after);
    if (!this.#runs.isNone && !isSameState(known, noted) && !isSameState(known, before && entryOf(before)))
      this.#carried.push({ path, before: stateOf(known), after: before });
    this.#baseline.set(path, after);
    if (after === null) this.#noteEmptied(parentOf(name));
  }

  /** The door took the last thing out of a folder. */
  #noteEmptied(folder: string): void {
    if (folder === '' || this.#baseline.index.hasLeavesBelow(folder)) return;
    const scanner = this.#baseline.scanner();
    scanner.checkEmptiness(folder);
    this.#baseline.commit([...scanner.findings.values()]);
  }

  #onUnwatched(reason: string): void {
    this.#options.onNotice({
      code: 'watcher_off',
      detail: `The workspace can not be watched, so every command waits for a scan of it (${reason}).`,
    });
    this.#options.onUnwatched();
  }

  /** After the answer: what the next command may need is made durable. */
  #settleStore(): void {
    if (this.#isClosed) return;
    try {
      this.#store.flush();
      this.#tidy();
      this.#tidyLog();
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

  #tidyLog(): void {
    if (!this.#isClosed && this.#log.isLong(this.#baseline.index)) this.#log.rewrite(this.#baseline.index);
  }
}
