import type { CreatedKey } from '../../daemon/contract/api-keys.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { useWorkspace } from '../workspaces/use-workspace.ts';
import { curlExample } from './curl-example.ts';

/** Shows a new key, the one time that it can be seen. */
export function NewKeyDialog({ created, onClose }: { created: CreatedKey | undefined; onClose: () => void }) {
  const workspace = useWorkspace();
  if (created === undefined) return null;
  return (
    <Dialog
      open
      insistent
      wide
      onClose={onClose}
      title={`Key “${created.name}” is ready`}
      description="Copy it now: it is shown this once, and only its fingerprint is kept."
    >
      <div className="flex items-center gap-2">
        <output
          aria-label="The new API key"
          className="min-w-0 flex-1 overflow-x-auto rounded-md border border-line-strong bg-inset px-3 py-1.5 font-mono text-xs whitespace-nowrap select-all"
        >
          {created.key}
        </output>
        <CopyButton text={created.key} label="Copy key" clearAfterMs={60_000} primary />
      </div>
      {(created.scopes === 'agent' || created.scopes === 'admin') && (
        <div className="mt-4">
          <p className="mb-1.5 text-muted">Try it{workspace === undefined ? '' : ` in ${workspace.name}`}:</p>
          <CodeBlock
            text={curlExample({ workspaceId: workspace?.ws_id, key: created.key })}
            label="Copy a call with this key"
          />
        </div>
      )}
      <DialogActions>
        <Button onClick={onClose}>I have copied it</Button>
      </DialogActions>
    </Dialog>
  );
}
