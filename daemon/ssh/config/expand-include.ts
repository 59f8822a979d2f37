import { isAbsolute, join } from 'node:path';
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
  if (!/[*?[\\]/.test(anchored)) return (await store.isEntry(anchored)) ? [anchored] : [];
  let found = [anchored.startsWith('/') ? '/' : ''];
  const components = anchored.split('/').filter((component) => component !== '');
  for (const component of components) {
    const next: string[] = [];
    for (const folder of found) next.push(...(await matches(folder, component, store)));
    found = next;
  }
  return found.sort();
}

function anchor(pattern: string, base: IncludeBase): string | null {
  if (pattern.startsWith('~')) {
    const isOwn = pattern === '~' || pattern.startsWith('~/');
    return isOwn && base.home !== null ? base.home + pattern.slice(1) : null;
  }
  return isAbsolute(pattern) ? pattern : join(base.folder, '/', pattern);
}

async function matches(folder: string, component: string, store: ConfigStore): Promise<string[]> {
  if (!/[*?[\\]/.test(component)) {
    const path = join(folder, component);
    return (await store.isEntry(path)) ? [path] : [];
  }
  const names = await store.names(folder === '' ? '.' : folder);
  return names.filter((name) => matchComponent(name, component)).map((name) => join(folder, name));
}
