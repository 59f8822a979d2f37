import { useSyncExternalStore } from 'react';

const views = ['workspaces', 'jobs', 'keys', 'daemon'] as const;
export type View = (typeof views)[number];

/** `#/jobs/j_…`: the view and what is selected in it. */
export type Route = { view: View; selected: string | null };

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return parseRoute(hash);
}

export function goTo(view: View, selected?: string): void {
  location.hash = selected === undefined ? `/${view}` : `/${view}/${selected}`;
}

function parseRoute(hash: string): Route {
  const [, name, selected] = hash.replace(/^#/, '').split('/');
  const view = views.find((known) => known === name);
  return { view: view ?? 'workspaces', selected: view === undefined ? null : selected || null };
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}
