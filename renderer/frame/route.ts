import { useSyncExternalStore } from 'react';

const views = [
  'workspaces',
  'jobs',
  'files',
  'receipts',
  'hosts',
  'secrets',
  'keys',
  'security',
  'daemon',
] as const;
export type View = (typeof views)[number];

/** `#/files/src/main.ts?line=3`: the view, what is selected in it, and how it is shown. */
export type Route = { view: View; selected: string | null; options: URLSearchParams };

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return parseRoute(hash);
}

export function goTo(view: View, selected?: string, options?: Record<string, string>): void {
  location.hash = routeTo(view, selected, options).slice(1);
}

/** The address of a view, for links. */
export function routeTo(view: View, selected?: string, options: Record<string, string> = {}): string {
  const path = selected === undefined ? '' : `/${selected.split('/').map(encodeURIComponent).join('/')}`;
  const query = new URLSearchParams(options).toString();
  return `#/${view}${path}${query === '' ? '' : `?${query}`}`;
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  const [, name, ...rest] = path.split('/');
  const view = views.find((known) => known === name);
  const selected = view === undefined ? '' : rest.map(decoded).join('/');
  return {
    view: view ?? 'workspaces',
    selected: selected === '' ? null : selected,
    options: new URLSearchParams(query),
  };
}

/** An address typed by hand may have a lone % in it. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}
