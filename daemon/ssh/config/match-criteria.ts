import { nextWord } from './line-words.ts';
import { matchHostName, matchPatternList } from './match-pattern.ts';

/** What is known of a connection while its settings are being gathered. */
export interface MatchSubject {
  readonly originalHost: string;
  readonly hostname: string;
  readonly user: string;
  readonly localUser: string;
  readonly tag: string;
  readonly finalPass: boolean;
}

export interface Criterion {
  readonly name: string;
  readonly negated: boolean;
  /** Empty for `all`, `final` and `canonical`. */
  readonly argument: string;
}

export interface Criteria {
  readonly list: readonly Criterion[];
  readonly wantsFinalPass: boolean;
}

/** `undecided`: only running a command, or what is known later, could tell; with the criterion that stands against it. */
export type Verdict = 'yes' | 'no' | { readonly undecided: string };

const bare = new Set(['all', 'final', 'canonical']);
/** Of newer versions of OpenSSH, or bound to what is run: never evaluated here. */
const undecidable = new Set(['exec', 'localnetwork', 'command', 'sessiontype', 'version']);
const decidable = new Set(['host', 'originalhost', 'user', 'localuser', 'tagged']);

/** The criteria of a Match line, or what is wrong with it. */
export function parseCriteria(text: string): Criteria | string {
  const list: Criterion[] = [];
  const cursor: { text: string | null } = { text };
  for (let word = nextWord(cursor); word; word = nextWord(cursor)) {
    if (word.startsWith('#')) break;
    const negated = word.startsWith('!');
    const name = (negated ? word.slice(1) : word).toLowerCase();
    const argument = bare.has(name) ? '' : nextWord(cursor);
    if (!argument && !bare.has(name)) return `Match ${name} without a value`;
    if (argument?.startsWith('#')) return `Match ${name} without a value`;
    if (!bare.has(name) && !undecidable.has(name) && !decidable.has(name))
      return `Match ${name} is not known`;
    list.push({ name, negated, argument: argument ?? '' });
  }
  const all = list.findIndex(({ name }) => name === 'all');
  if (all >= 0 && (all > 1 || all < list.length - 1))
    return 'Match all can not be combined with other criteria';
  if (list.length === 0) return 'Match without criteria';
  return { list, wantsFinalPass: list.some(({ name }) => name === 'final') };
}

/** Whether all criteria hold. One that does not rules the rest out, also what can't be decided. */
export function evaluateCriteria(criteria: Criteria, subject: MatchSubject): Verdict {
  let undecided: string | null = null;
  for (const { name, negated, argument } of criteria.list) {
    if (undecidable.has(name)) undecided ??= name;
    else if (holds(name, argument, subject) === negated) return 'no';
  }
  return undecided === null ? 'yes' : { undecided: `Match ${undecided}` };
}

function holds(name: string, argument: string, subject: MatchSubject): boolean {
  switch (name) {
    case 'all':
      return true;
    case 'final':
    case 'canonical':
      return subject.finalPass;
    case 'host':
      return matchHostName(subject.hostname, argument);
    case 'originalhost':
      return matchHostName(subject.originalHost, argument);
    case 'user':
      return matchPatternList(subject.user, argument);
    case 'localuser':
      return matchPatternList(subject.localUser, argument);
    case 'tagged':
      return matchPatternList(subject.tag, argument);
    default:
      throw new Error(`unexpected criterion ${name}`);
  }
}
