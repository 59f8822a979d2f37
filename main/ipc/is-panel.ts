import type { IpcMainInvokeEvent, WebContents } from 'electron';

/** Whether a call comes from the main frame of our window while that shows the panel, and from nowhere else. */
export function isPanel(
  event: IpcMainInvokeEvent,
  panel: WebContents | null,
  origin: string | null,
): boolean {
  const frame = event.senderFrame;
  // A frame that has navigated away or was destroyed since it called is null, and is nobody.
  if (frame === null || panel === null || origin === null) return false;
  return event.sender === panel && frame.parent === null && URL.parse(frame.url)?.origin === origin;
}
