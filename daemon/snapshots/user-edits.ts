import type { Baseline } from './baseline.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { Finding } from './tree-scanner.ts';

export interface UserEditsOptions {
  readonly baseline: Baseline;
  readonly feed: ChangeFeed;
  readonly onFailed: (error: unknown) => void;
}

/** What changed while no command was under way: it moves the baseline, and is nobody's to account for. */
export class UserEdits {
  readonly #options: UserEditsOptions;

  constructor(options: UserEditsOptions) {
    this.#options = options;
  }

  /**
   * Moves the baseline on by all that is dirty. With `beginMs`, as a command is about to begin then: except by what
   * changed at that time or later.
   */
  fold(beginMs?: number): void {
    const { baseline, feed, onFailed } = this.#options;
    const dirty = feed.take();
    if (!dirty.all && dirty.paths.size === 0) return;
    try {
      const findings = baseline.look(dirty);
      // Of a begin that shows up only now, what was read above may be the command's doing already.
      const untilMs = beginMs ?? feed.earliestBeginMs();
      const isLater = (finding: Finding) =>
        untilMs !== Number.POSITIVE_INFINITY && baseline.changedAtMs(finding) >= untilMs;
      const later = findings.filter(isLater);
      baseline.commit(findings.filter((finding) => !later.includes(finding)));
      for (const { path } of later)
        this.#leave(path, beginMs !== undefined && dirty.paths.get(path) === false);
    } catch (error) {
      feed.restore(dirty);
      onFailed(error);
    }
  }

  /**
   * Of what changed about when the command began: that no event came for it since, and that the command left it alone.
   * It is moved over in silence. `found`: what is known to be the command's.
   */
  untouched(suspects: ReadonlySet<string>, found: readonly Finding[]): Finding[] {
    if (suspects.size === 0) return [];
    const known = new Set(found.map(({ path }) => path));
    return this.#options.baseline
      .look({ all: false, paths: new Map([...suspects].map((path) => [path, false])) })
      .filter(({ path }) => !known.has(path))
      .map((finding) => ({ ...finding, isSilent: true }));
  }

  /**
   * Where an event came before the begin, and none comes after it, the change is the user's; of what was found without
   * an event one can't know, and it counts as the command's.
   */
  #leave(path: string, hadEvent: boolean): void {
    const { feed } = this.#options;
    if (hadEvent) feed.suspect(path);
    else feed.restore({ all: false, paths: new Map([[path.replace(/\/$/, ''), false]]) });
  }
}
