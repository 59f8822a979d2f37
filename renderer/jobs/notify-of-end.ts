import type { PanelEvent } from '../../daemon/contract/events.ts';
import { desktopBridge } from '../desktop-bridge.ts';
import { durationWords } from '../ui/time-words.ts';

/** Tells the desktop's user of a command that took its time, if it ended while they looked elsewhere. */
export function notifyOfEnd(event: PanelEvent): void {
  const bridge = desktopBridge();
  if (bridge === undefined || event.type !== 'job.ended' || !document.hidden) return;
  const { command } = event;
  const tookMs = Date.parse(command.finished_at ?? command.started_at) - Date.parse(command.started_at);
  if (tookMs < worthTellingMs || command.reason === 'cancelled') return;
  const result = command.code === 0 ? 'Done' : `Failed with exit code ${command.code}`;
  void bridge.notify(
    `${result} after ${durationWords(tookMs)}`,
    `${command.host === undefined ? '' : `${command.host}: `}${command.cmd.slice(0, 120)}`,
  );
}

const worthTellingMs = 10_000;
