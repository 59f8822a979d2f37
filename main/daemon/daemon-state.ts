import type { ListeningEvent } from '../../daemon/contract/daemon.ts';

/** A daemon that somebody else started (`tallystick serve`) on the same data folder. */
export type RunningDaemon = { url: string; version: string; pid: number };

/** What the desktop knows of the daemon; the window, the tray and quitting all follow from it. */
export type DaemonState =
  | { kind: 'starting' }
  | { kind: 'running'; listening: ListeningEvent; jobs: number }
  | { kind: 'attached'; daemon: RunningDaemon }
  | { kind: 'failed'; reason: string }
  | { kind: 'stopped' };

/** Origin that the panel is served from, while there is one. */
export function panelOrigin(state: DaemonState): string | null {
  switch (state.kind) {
    case 'running':
      return new URL(state.listening.url).origin;
    case 'attached':
      return new URL(state.daemon.url).origin;
    case 'starting':
    case 'failed':
    case 'stopped':
      return null;
    default:
      return state satisfies never;
  }
}
