import { useRef } from 'react';

/**
 * For a dialog's `onCloseAutoFocus`: the focus goes back to where it was when the dialog opened, unless something has
 * taken it. Where that is gone, as the row of something deleted, it goes to the view.
 */
export function useReturnFocus(open: boolean): (event: Event) => void {
  const wasOpen = useRef(false);
  const before = useRef<Element | null>(null);
  // Read while rendering: by the time of an effect, the dialog's own first field has the focus.
  if (open && !wasOpen.current) before.current = document.activeElement;
  wasOpen.current = open;
  return (event) => {
    event.preventDefault();
    const { activeElement } = document;
    if (activeElement !== null && activeElement !== document.body) return;
    const target = before.current?.isConnected === true ? before.current : document.getElementById('main');
    if (target instanceof HTMLElement) target.focus();
  };
}
