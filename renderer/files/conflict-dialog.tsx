import { lazy, Suspense, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import type { OnDisk, OpenFile } from './open-file.ts';

const Comparison = lazy(() => import('./comparison.tsx'));

type ConflictDialogProps = {
  file: OpenFile;
  path: string;
  onDisk: OnDisk | undefined;
  onOverwrite: (onDisk: OnDisk) => void;
  onReload: (onDisk: OnDisk) => void;
  onClose: () => void;
};

/** Asks what shall become of unsaved changes to a file that changed on disk meanwhile. */
export function ConflictDialog({ file, path, onDisk, onOverwrite, onReload, onClose }: ConflictDialogProps) {
  const [comparing, setComparing] = useState(false);
  const close = () => {
    setComparing(false);
    onClose();
  };
  if (onDisk === undefined) return null;
  const gone = onDisk === 'gone';
  const name = path.slice(path.lastIndexOf('/') + 1);
  return (
    <Dialog
      open
      onClose={close}
      wide
      title={gone ? `${name} was deleted on disk` : `${name} has changed on disk`}
      description={
        gone
          ? 'Somebody deleted the file since you opened it. Your changes are still here, unsaved.'
          : 'Somebody changed the file since you opened it. Saving would replace what they wrote.'
      }
    >
      {comparing && !gone && onDisk.kind === 'text' && (
        <Suspense fallback={<p className="py-6 text-center text-faint">Comparing…</p>}>
          <Comparison before={onDisk.text} after={file.editor?.read() ?? ''} />
        </Suspense>
      )}
      <DialogActions>
        {!gone && onDisk.kind === 'text' && !comparing && (
          <Button className="mr-auto" onClick={() => setComparing(true)}>
            Compare
          </Button>
        )}
        <Button
          onClick={() => {
            onReload(onDisk);
            close();
          }}
        >
          {gone ? 'Discard my changes' : 'Reload, discard mine'}
        </Button>
        <Button
          variant="danger"
          onClick={() => {
            onOverwrite(onDisk);
            close();
          }}
        >
          {gone ? 'Write it again' : 'Overwrite with mine'}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
