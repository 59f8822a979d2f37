import { isAbsolute, join, parse, sep } from 'node:path';
import { matchComponent } from './glob-component.ts';
import type { ConfigStore } from './store.ts';

export interface IncludeBase {
  /** Relative patterns live here. */
  readonly folder: string;
  /** What `~` stands for; null where it is not allowed, in the system's configuration. */
  readonly home: string | null;
}

/** The files that a pattern of an Include line stands for, in glob(3)'s order, or what is wrong with it. */
export async function expandInclude(
  pattern: string,
  base: IncludeBase,
  store: ConfigStore,
): Promise<string[] | string> {
  const anchored = anchor(pattern, base);
  if (anchored === null) return `${pattern} can not be followed`;
  // On Windows a backslash parts folders, elsewhere it takes a character's meaning.
  const rest = sep === '\\' ? anchored.rest.replaceAll('\\', '/') : anchored.rest;
  let found = [anchored.folder];
  for (const component of rest.split('/').filter(Boolean)) {
    const next: string[] = [];
    for (const folder of found) next.push(...(await matches(folder, component, store)));
    found = next;
  }
  return found.sort();
}

/** The folder that a pattern begins at, and what of it is still a pattern; null where there is no such folder. */
function anchor(pattern: string, { folder, home }: IncludeBase): { folder: string; rest: string } | null {
  if (pattern.startsWith('~')) {
    const isOwn = pattern === '~' || pattern.startsWith('~/');
    return isOwn && home !== null ? { folder: home, rest: pattern.slice(1) } : null;
  }
  if (!isAbsolute(pattern)) return { folder, rest: pattern };
  const { root } = parse(pattern);
  return { folder: root, rest: pattern.slice(root.length) };
}

async function matches(folder: string, component: string, store: ConfigStore): Promise<string[]> {
  if (!/[*?[\\]/.test(component)) {
    const path = join(folder, component);
    return (await store.isEntry(path)) ? [path] : [];
  }
  const names = await store.names(folder);
  return names.filter((name) => matchComponent(name, component)).map((name) => join(folder, name));
}
