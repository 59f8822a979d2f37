import { useEffect, useRef } from 'react';
import { goTo, type View } from './route.ts';

/** The page's keys: the palette with Ctrl/Cmd-K anywhere, the others while nothing is being typed. */
export function useShortcuts(actions: { onPalette: () => void; onHelp: () => void }): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    let goPressedAt = -Infinity;
    function onKeyDown(event: KeyboardEvent) {
      if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        latest.current.onPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || dialogIsOpen()) return;
      const view = event.timeStamp - goPressedAt < goWindowMs ? goKeys[event.key] : undefined;
      goPressedAt = event.key === 'g' ? event.timeStamp : -Infinity;
      if (view !== undefined) goTo(view);
      else if (event.key === '?') latest.current.onHelp();
      else if (event.key === 'r') focusRunBar(event);
      else if (event.key === 'n') goTo('keys', 'new');
    }
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

export const runFieldId = 'run-command';

/** Puts the cursor into the command field, of the Jobs view that is shown or else of a new one. */
export function focusRunBar(event?: Event): void {
  event?.preventDefault();
  const field = document.getElementById(runFieldId);
  if (field === null) goTo('jobs', 'run');
  else field.focus();
}

/** True while a key press belongs to a text field. */
function isTyping(event: Event): boolean {
  const { target } = event;
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  );
}

export function dialogIsOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null;
}

const goWindowMs = 1500;
const goKeys: Record<string, View> = {
  w: 'workspaces',
  j: 'jobs',
  f: 'files',
  r: 'receipts',
  h: 'hosts',
  s: 'secrets',
  k: 'keys',
  m: 'security',
  d: 'daemon',
};
