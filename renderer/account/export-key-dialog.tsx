import { useQueryClient } from '@tanstack/react-query';
import { Download, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { ExportedMasterKey } from '../../daemon/contract/master-key.ts';
import { problemText } from '../api/problem.ts';
import { usePanel } from '../panel-context.ts';
import { clearAfterMs, clipboardWords } from '../secrets/clipboard-words.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { saveFile } from '../ui/save-file.ts';
import { useCall } from '../ui/use-call.ts';

/** Hands out the master key, to be kept for the day when the keychain or the computer is gone. */
export function ExportKeyDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  if (!open) return null;
  return <ExportKey onClose={onClose} />;
}

function ExportKey({ onClose }: { onClose: () => void }) {
  const { api } = usePanel();
  const cache = useQueryClient();
  const [exported, setExported] = useState<ExportedMasterKey>();
  const fetchKey = useCall(async () => {
    const path = '/api/account/master-key/export';
    setExported(await api.json<ExportedMasterKey>(path, { method: 'POST', body: { confirm: true } }));
    await cache.invalidateQueries({ queryKey: ['audit-log'] });
  });
  if (exported !== undefined) return <RecoveryKey exported={exported} onClose={onClose} />;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Export the recovery key?"
      description="With it you get your secrets back when the keychain or this computer is lost."
    >
      <p className="flex gap-2.5 rounded-md bg-warning-soft px-3 py-2 text-warning-text">
        <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
        <span>
          Whoever has this key and a copy of a workspace can read all its secrets. Keep it in a password
          manager, not beside your projects. The export is written to the audit log.
        </span>
      </p>
      {fetchKey.error !== null && (
        <p role="alert" className="mt-3 text-danger-text">
          Not exported. {problemText(fetchKey.error)}
        </p>
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" disabled={fetchKey.busy} onClick={() => fetchKey.run()}>
          Show recovery key
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function RecoveryKey({ exported, onClose }: { exported: ExportedMasterKey; onClose: () => void }) {
  const { key, key_id: keyId } = exported;
  const save = () =>
    saveFile(new Blob([`${key}\n`], { type: 'text/plain' }), `tallystick-recovery-key-${keyId}.txt`);
  return (
    <Dialog
      open
      insistent
      wide
      onClose={onClose}
      title="Recovery key"
      description={
        <>
          This opens what is encrypted with <code className="font-mono text-xs">{keyId}</code>, until the key
          is rotated.
        </>
      }
    >
      <output
        aria-label="The recovery key"
        className="block overflow-x-auto rounded-md border border-line-strong bg-inset px-3 py-2 font-mono text-xs whitespace-nowrap select-all"
      >
        {key}
      </output>
      <p className="mt-2 text-xs text-faint">{clipboardWords()}</p>
      <DialogActions>
        <CopyButton text={key} label="Copy" clearAfterMs={clearAfterMs} />
        <Button onClick={save}>
          <Download className="size-4" aria-hidden />
          Save as file
        </Button>
        <Button variant="primary" autoFocus onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
