import { type ConfigLine, readLine } from './line-words.ts';
import { type Criteria, parseCriteria } from './match-criteria.ts';

export interface Entry extends ConfigLine {
  /** From 1. */
  readonly line: number;
}

export interface HostCondition {
  readonly kind: 'host';
  readonly patterns: readonly string[];
}

export type Condition =
  /** What stands before the first Host or Match line. */
  | { readonly kind: 'always' }
  | HostCondition
  | { readonly kind: 'match'; readonly criteria: Criteria }
  /** A Host or Match line that can't be read: nobody knows what follows it applies to. */
  | { readonly kind: 'broken'; readonly why: string };

/** A Host or Match line with what stands below it. */
export interface Section {
  readonly line: number;
  readonly condition: Condition;
  readonly entries: readonly Entry[];
}

export interface ParsedFile {
  readonly sections: readonly Section[];
  /** Sections that can apply to a name because they name it, by that name. */
  readonly named: ReadonlyMap<string, readonly number[]>;
  /** Sections that have to be asked for every name, in order. */
  readonly general: readonly number[];
  /** Whether a `Match final` asks for a second reading. */
  readonly wantsFinalPass: boolean;
}

/** Splits a configuration file into its sections, found fast by the name of a host. */
export function parseFile(text: string): ParsedFile {
  const sections = readSections(text);
  const named = new Map<string, number[]>();
  const general: number[] = [];
  sections.forEach(({ condition, entries }, index) => {
    const names = condition.kind === 'host' ? condition.patterns.filter(isPositive) : null;
    if (names === null || names.some(isWildcard)) {
      if (entries.length > 0 || literalAliases(condition).length > 0) general.push(index);
      return;
    }
    for (const name of new Set(names)) {
      const indexes = named.get(name);
      if (indexes === undefined) named.set(name, [index]);
      else indexes.push(index);
    }
  });
  const wantsFinalPass = sections.some(
    ({ condition }) => condition.kind === 'match' && condition.criteria.wantsFinalPass,
  );
  return { sections, named, general, wantsFinalPass };
}

/** The names that a Host line gives without wildcard. */
export function literalAliases(condition: Condition): string[] {
  if (condition.kind !== 'host') return [];
  return condition.patterns.filter((pattern) => isPositive(pattern) && !isWildcard(pattern));
}

function readSections(text: string): Section[] {
  let entries: Entry[] = [];
  const sections: Section[] = [{ line: 1, condition: { kind: 'always' }, entries }];
  text.split('\n').forEach((source, index) => {
    const read = readLine(source);
    if (read === null) return;
    const line = index + 1;
    if (read.keyword !== 'host' && read.keyword !== 'match') {
      entries.push({ ...read, line });
      return;
    }
    entries = [];
    sections.push({ line, condition: readCondition(read), entries });
  });
  return sections;
}

function readCondition({ keyword, words, rest }: ConfigLine): Condition {
  if (words === null) return { kind: 'broken', why: 'a quote is not closed' };
  if (rest === '' || words.includes('')) return { kind: 'broken', why: `${keyword} without a value` };
  if (keyword === 'host') return { kind: 'host', patterns: words };
  const criteria = parseCriteria(rest);
  return typeof criteria === 'string' ? { kind: 'broken', why: criteria } : { kind: 'match', criteria };
}

function isPositive(pattern: string): boolean {
  return !pattern.startsWith('!');
}

function isWildcard(pattern: string): boolean {
  return /[*?]/.test(pattern);
}
