import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** A file of ignore rules outside the project's folders, as it was when it was read. */
export interface ExcludeFile {
  /** Latin1 text; null where there is no such file. */
  readonly rules: string | null;
  /** Whether it, or the settings that name it, is another now. */
  changed(): boolean;
}

const maxRuleBytes = 4 * 1024 * 1024;

/**
 * .git/info/exclude and the file that core.excludesFile names (else git's default for it), the first counting before
 * the second. Both are read now.
 */
export function excludeFiles(root: string, environment: NodeJS.ProcessEnv): readonly ExcludeFile[] {
  const gitFolder = gitFolderOf(root);
  const home = environment.HOME || homedir();
  const configHome = environment.XDG_CONFIG_HOME || join(home, '.config');
  // What comes later counts more, as for git.
  const settings = ['/etc/gitconfig', join(configHome, 'git/config'), join(home, '.gitconfig')];
  if (gitFolder !== null) settings.push(join(gitFolder, 'config'));
  const before = settings.map(signatureOf);
  const named = settings.flatMap((file) => excludesFileIn(readFollowing(file), home)).at(-1);
  const settingsChanged = () => settings.some((file, at) => signatureOf(file) !== before[at]);
  const files = [excludeFile(named ?? join(configHome, 'git/ignore'), settingsChanged)];
  if (gitFolder !== null) files.unshift(excludeFile(join(gitFolder, 'info/exclude')));
  return files;
}

/** The text of a rule file in the project; null where there is none. As for git, a link in its place is none. */
export function readRuleFile(path: string | Buffer): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    // Missing, a link, or not ours to read: git, too, goes on without it.
    return null;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > maxRuleBytes) return null;
    return withoutByteOrderMark(readFileSync(file, 'latin1'));
  } finally {
    closeSync(file);
  }
}

function excludeFile(path: string, settingsChanged: () => boolean = () => false): ExcludeFile {
  const signature = signatureOf(path);
  const text = readFollowing(path);
  return {
    rules: text === null ? null : withoutByteOrderMark(text),
    changed: () => signatureOf(path) !== signature || settingsChanged(),
  };
}

/** The repository's own folder (of a worktree: the one it shares with the others); null outside of a repository. */
function gitFolderOf(root: string): string | null {
  const entry = join(root, '.git');
  const pointer = readRuleFile(entry);
  if (pointer === null) return signatureOf(join(entry, 'HEAD')) === '' ? null : entry;
  const target = /^gitdir: (.+?)\s*$/.exec(pointer)?.[1];
  if (target === undefined) return null;
  const folder = resolve(root, toText(target));
  const common = readFollowing(join(folder, 'commondir'))?.trim();
  return common ? resolve(folder, toText(common)) : folder;
}

/** The last `excludesFile` of section [core]; none where there is none. */
function excludesFileIn(config: string | null, home: string): string[] {
  let section = '';
  let found: string | undefined;
  for (const line of (config ?? '').split('\n')) {
    const header = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (header !== undefined) section = header.trim().toLowerCase();
    const value = /^\s*(?:\[[^\]]*\])?\s*excludesfile\s*=\s*(.*)$/i.exec(line)?.[1];
    if (section === 'core' && value !== undefined) found = unquote(value);
  }
  if (found === undefined || found === '') return [];
  const path = toText(found);
  if (path === '~' || path.startsWith('~/')) return [join(home, path.slice(1))];
  return [isAbsolute(path) ? path : resolve(home, path)];
}

function unquote(value: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(value)?.[1];
  return quoted === undefined ? value.replace(/\s*[#;].*$/, '').trim() : quoted.replace(/\\(.)/g, '$1');
}

function readFollowing(path: string): string | null {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= maxRuleBytes ? readFileSync(path, 'latin1') : null;
  } catch {
    // Missing or not ours to read: the same as none.
    return null;
  }
}

/** Differs where the file differs; empty where there is none. */
function signatureOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    // The same as none, as when it is read.
    return '';
  }
}

const withoutByteOrderMark = (latin1: string) => (latin1.startsWith('ï»¿') ? latin1.slice(3) : latin1);

const toText = (latin1: string) => Buffer.from(latin1, 'latin1').toString('utf8');
