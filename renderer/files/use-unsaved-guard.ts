import { useEffect } from 'react';
import { desktopBridge } from '../desktop-bridge.ts';
import { usePanel } from '../panel-context.ts';

/**
 * Asks before a page with unsaved changes is closed. Inside the panel nothing needs to be asked: changes stay while
 * other views and files are looked at.
 */
export function useUnsavedGuard(): void {
  const { files } = usePanel();
  useEffect(() => {
    // The desktop's window would silently stay open: there a page can not ask.
    if (desktopBridge() !== undefined) return;
    const ask = (event: BeforeUnloadEvent) => {
      if (files.dirty().length > 0) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [files]);
}
