import type { DaemonState } from '../daemon/daemon-state.ts';

export type TrayView = { image: 'idle' | 'running' | 'failed'; toolTip: string };

/** How the tray shows a state. */
export function trayView(state: DaemonState): TrayView {
  switch (state.kind) {
    case 'starting':
      return { image: 'idle', toolTip: 'Tallystick: starting' };
    case 'running':
      return {
        image: state.jobs > 0 ? 'running' : 'idle',
        toolTip: `Tallystick: ${countCommands(state.jobs)} running`,
      };
    case 'attached':
      return { image: 'idle', toolTip: 'Tallystick: attached to a daemon that was started in a terminal' };
    case 'failed':
      return { image: 'failed', toolTip: 'Tallystick: the daemon could not be kept running' };
    case 'stopped':
      return { image: 'idle', toolTip: 'Tallystick: stopped' };
    default:
      return state satisfies never;
  }
}

/** "no commands", "1 command", "3 commands". */
export function countCommands(count: number): string {
  if (count === 0) return 'no commands';
  return count === 1 ? '1 command' : `${count} commands`;
}
