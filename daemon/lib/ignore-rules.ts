import ignore from 'ignore';
import { parentOf, systemPath } from './byte-path.ts';
import { type ExcludeFile, excludeFiles, readRuleFile } from './git-excludes.ts';

export interface IgnoreRulesOptions {
  /** HOME and XDG_CONFIG_HOME say where git's own settings are. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
}

/**
 * Which paths of the project at `root` git leaves out: by the .gitignore of every level, .git/info/exclude and
 * core.excludesFile, in git's order. No git is needed, and the project need not be a repository.
 *
 * Each rule file is read (synchronously) once, when it is first needed: make a new instance to see changes. What has
 * the name `.git` is not looked at here.
 */
export class IgnoreRules {
  readonly #root: string;
  readonly #ignoreCase: boolean;
  readonly #outside: readonly ExcludeFile[];
  readonly #chains = new Map<string, readonly Level[]>();

  constructor(root: string, options: IgnoreRulesOptions = {}) {
    const { environment = process.env, platform = process.platform } = options;
    this.#root = root;
    this.#ignoreCase = platform === 'darwin' || platform === 'win32';
    this.#outside = excludeFiles(root, environment);
  }

  /** `path` is a byte path (without a `/` at its end). What is in an ignored folder is ignored, too. */
  ignores(path: string, isFolder: boolean): boolean {
    for (let cut = path.indexOf('/'); cut !== -1; cut = path.indexOf('/', cut + 1))
      if (this.ignoresInside(parentOf(path.slice(0, cut)), path.slice(0, cut), true)) return true;
    return this.ignoresInside(parentOf(path), path, isFolder);
  }

  /** The same for a `path` whose `folder` is known not to be ignored: cheaper for who walks down the tree. */
  ignoresInside(folder: string, path: string, isFolder: boolean): boolean {
    for (const level of this.#chain(folder)) {
      const verdict = level.match(path, isFolder);
      if (verdict !== undefined) return verdict;
    }
    return false;
  }

  /** Whether a rule file that is in no folder of the project (such as core.excludesFile) is another than was read. */
  changedOutside(): boolean {
    return this.#outside.some((file) => file.changed());
  }

  /** The deepest level comes first: its word counts before that of those above it. */
  #chain(folder: string): readonly Level[] {
    const known = this.#chains.get(folder);
    if (known) return known;
    const above = folder === '' ? this.#outsideLevels() : this.#chain(parentOf(folder));
    const rules = readRuleFile(systemPath(this.#root, folder === '' ? '.gitignore' : `${folder}/.gitignore`));
    const chain = rules === null ? above : [new Level(folder, rules, this.#ignoreCase), ...above];
    this.#chains.set(folder, chain);
    return chain;
  }

  #outsideLevels(): Level[] {
    return this.#outside.flatMap(({ rules }) =>
      rules === null ? [] : [new Level('', rules, this.#ignoreCase)],
    );
  }
}

interface Rule {
  readonly ignores: boolean;
  readonly matches: (below: string) => boolean;
}

/** The package remembers every path it was asked; after so many it starts anew. */
const maxRemembered = 20_000;

/** The rules of one file, which count for what is below its folder. */
class Level {
  readonly #folder: string;
  readonly #rules: string;
  readonly #ignoreCase: boolean;
  #matcher: ignore.Ignore;
  #asked = 0;
  #rulesAlone: readonly Rule[] | undefined;

  constructor(folder: string, rules: string, ignoreCase: boolean) {
    this.#folder = folder;
    this.#rules = rules;
    this.#ignoreCase = ignoreCase;
    this.#matcher = this.#compile();
  }

  /** Undefined where no rule of this file is about the path. */
  match(path: string, isFolder: boolean): boolean | undefined {
    if (this.#asked++ > maxRemembered) {
      this.#asked = 0;
      this.#matcher = this.#compile();
    }
    const below = this.#folder === '' ? path : path.slice(this.#folder.length + 1);
    const { ignored, unignored } = this.#matcher.test(isFolder ? `${below}/` : below);
    if (unignored) return false;
    if (!ignored) return undefined;
    // The package says "ignored" of all that is in a folder that this file ignores. But who asks knows that the folder
    // is not ignored: a file further down took it back. Then only a rule about the path itself counts.
    const parent = parentOf(below);
    if (parent === '' || !this.#matcher.test(`${parent}/`).ignored) return true;
    return this.#matchItself(isFolder ? `${below}/` : below);
  }

  #matchItself(below: string): boolean | undefined {
    this.#rulesAlone ??= rulesAlone(this.#rules, this.#ignoreCase);
    return this.#rulesAlone.find(({ matches }) => matches(below))?.ignores;
  }

  #compile(): ignore.Ignore {
    // Git compares bytes, and so do byte paths with rules read as latin1.
    return ignore({ ignoreCase: this.#ignoreCase, allowRelativePaths: true }).add(this.#rules);
  }
}

/** Each rule of a file by itself, the last first. Turned into an exception, a rule tells of the path alone, not of the folders above. */
function rulesAlone(rules: string, ignoreCase: boolean): Rule[] {
  const lines = rules.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  return lines.reverse().map((line) => {
    const ignores = !line.startsWith('!');
    const matcher = ignore({ ignoreCase, allowRelativePaths: true }).add(ignores ? `!${line}` : line);
    return { ignores, matches: (below) => matcher.test(below).unignored };
  });
}
