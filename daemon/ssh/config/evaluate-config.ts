import type { ConfigNode } from './config-tree.ts';
import { expandHostname, finalHostname } from './final-hostname.ts';
import { lowercase } from './line-words.ts';
import { evaluateCriteria, type MatchSubject, type Verdict } from './match-criteria.ts';
import { matchPattern } from './match-pattern.ts';
import { type Entry, literalAliases, type ParsedFile, type Section } from './parse-file.ts';
import { applyEntry, isLastResort, type Settings, wouldSet } from './settings.ts';

/** What the command line would give: it comes before all files. */
export interface Preset {
  readonly user?: string;
  readonly port?: number;
  /** Another hop leads there: what the files say of the way does not count. */
  readonly isReached?: boolean;
}

export interface Evaluation {
  readonly settings: Readonly<Partial<Settings>>;
  /** With tokens expanded, as it is connected to. */
  readonly hostname: string;
  /** Whether a Host line that applies names the alias literally. */
  readonly isLiteral: boolean;
  /** What keeps the settings from being known; null where nothing does. */
  readonly problem: string | null;
}

/** Gathers the settings of one alias from the files, the user's first, as ssh does, but without running anything. */
export function evaluateConfig(
  roots: readonly ConfigNode[],
  alias: string,
  localUser: string,
  preset: Preset = {},
): Evaluation {
  const pass = new Pass(alias, localUser, preset);
  for (const root of roots) pass.walk(root, 'yes');
  const hostname = pass.finishHostname();
  const { canonicalizeHostname = 'no' } = pass.settings;
  if (roots.some((root) => root.wantsFinalPass) || canonicalizeHostname !== 'no') {
    pass.beginFinal(hostname);
    for (const root of roots) pass.walk(root, 'yes');
  }
  return { settings: pass.settings, hostname, isLiteral: pass.isLiteral, problem: pass.problem };
}

class Pass {
  readonly settings: Partial<Settings>;
  isLiteral = false;
  problem: string | null = null;
  readonly #alias: string;
  readonly #localUser: string;
  #host: string;
  #finalPass = false;

  constructor(alias: string, localUser: string, { user, port, isReached }: Preset) {
    this.#alias = alias;
    this.#host = alias;
    this.#localUser = localUser;
    this.settings = {
      ...(user === undefined ? {} : { user }),
      ...(port === undefined ? {} : { port }),
      ...(isReached === true ? { proxyJump: [], proxyCommand: 'none' } : {}),
    };
  }

  walk(node: ConfigNode, outer: Exclude<Verdict, 'no'>): void {
    if (node.problem !== null) this.problem ??= node.problem;
    for (const index of applicable(node.file, this.#host)) {
      const section = node.file.sections[index];
      if (section === undefined) continue;
      const verdict = this.#judge(section, node);
      if (verdict === 'no') continue;
      if (!this.#finalPass && literalAliases(section.condition).includes(this.#alias)) this.isLiteral = true;
      const both = outer === 'yes' ? verdict : outer;
      for (const entry of section.entries) this.#take(entry, node, both);
    }
  }

  finishHostname(): string {
    try {
      return finalHostname(this.#alias, this.settings);
    } catch (error) {
      this.problem ??= `HostName: ${messageOf(error)}`;
      return lowercase(this.#alias);
    }
  }

  beginFinal(hostname: string): void {
    this.#finalPass = true;
    this.#host = hostname;
    this.settings.hostname = hostname;
  }

  #judge({ condition, line }: Section, { path }: ConfigNode): Verdict {
    switch (condition.kind) {
      case 'always':
        return 'yes';
      case 'host':
        return hostApplies(condition.patterns, this.#host) ? 'yes' : 'no';
      case 'match': {
        const verdict = evaluateCriteria(condition.criteria, this.#subject());
        if (typeof verdict === 'string') return verdict;
        return { undecided: `${path} line ${line}: ${verdict.undecided}` };
      }
      case 'broken':
        return { undecided: `${path} line ${line}: ${condition.why}` };
      default:
        return condition satisfies never;
    }
  }

  #subject(): MatchSubject {
    const { hostname, user = this.#localUser, tag = '' } = this.settings;
    return {
      originalHost: this.#alias,
      hostname: this.#hostnameSoFar(hostname),
      user,
      localUser: this.#localUser,
      tag,
      finalPass: this.#finalPass,
    };
  }

  #hostnameSoFar(written: string | undefined): string {
    if (this.#finalPass) return this.#host;
    try {
      return expandHostname(this.#alias, written);
    } catch (error) {
      this.problem ??= `HostName: ${messageOf(error)}`;
      return this.#host;
    }
  }

  #take(entry: Entry, node: ConfigNode, verdict: Exclude<Verdict, 'no'>): void {
    const included = node.includes.get(entry);
    if (included !== undefined) {
      if (included.problem !== null) this.problem ??= included.problem;
      for (const child of included.nodes) this.walk(child, verdict);
      return;
    }
    if (verdict !== 'yes') {
      if (wouldSet(this.settings, entry) && !isLastResort(entry))
        this.problem ??= `${verdict.undecided} is not evaluated here, and could decide ${entry.keyword}`;
      return;
    }
    try {
      applyEntry(this.settings, entry, node.isUser);
    } catch (error) {
      this.problem ??= `${node.path} line ${entry.line}: ${entry.keyword}: ${messageOf(error)}`;
    }
  }
}

/** The sections that could apply to a host, in the order of the file. */
function* applicable(file: ParsedFile, host: string): Generator<number> {
  const named = file.named.get(host) ?? [];
  let at = 0;
  for (const index of file.general) {
    for (let next = named[at]; next !== undefined && next < index; next = named[++at]) yield next;
    yield index;
  }
  yield* named.slice(at);
}

function hostApplies(patterns: readonly string[], host: string): boolean {
  let applies = false;
  for (const pattern of patterns) {
    if (pattern.startsWith('!')) {
      if (matchPattern(host, pattern.slice(1))) return false;
    } else if (!applies) applies = matchPattern(host, pattern);
  }
  return applies;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
