import { useQuery } from '@tanstack/react-query';
import { Save, TriangleAlert } from 'lucide-react';
import { lazy, Suspense } from 'react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { ReceiptSummary } from '../../daemon/contract/receipts.ts';
import { routeTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { actorWords } from '../receipts/receipt-words.ts';
import { useKeyNames } from '../receipts/use-receipts.ts';
import { Button } from '../ui/button.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { FileHeader } from './file-header.tsx';
import { lineBreaksOf } from './line-breaks.ts';
import type { OnDisk, OpenFile } from './open-file.ts';
import { useOpenFileState, useReread } from './use-open-file.ts';
import { useSave } from './use-save.ts';

const Editor = lazy(() => import('./editor.tsx'));

type TextPaneProps = { file: OpenFile; workspace: RecentProject; path: string; line: number | undefined };

/** A text file in the editor, with saving and what stands in its way. */
export function TextPane({ file, workspace, path, line }: TextPaneProps) {
  const { files } = usePanel();
  const workspaceId = workspace.ws_id;
  const state = useOpenFileState(file);
  const { save, overwrite, conflict, setConflict } = useSave(file, workspaceId, path);
  const reread = useReread(workspaceId, path);
  const breaks = lineBreaksOf(state.base.text);
  const reload = (onDisk: OnDisk) => {
    if (onDisk !== 'gone' && onDisk.kind === 'text') file.take(onDisk);
    else {
      // It is no text any more, or no file: what it is now shows in this one's place.
      files.close(workspaceId, path);
      reread();
    }
  };
  return (
    <>
      <FileHeader workspace={workspace} path={path} dirty={state.dirty} present={state.newer !== 'gone'}>
        {breaks !== 'lf' && (
          <span
            className="text-xs whitespace-nowrap text-faint"
            title={
              breaks === 'crlf'
                ? 'Lines end with CR LF, and are saved so'
                : 'Lines end in different ways, and are saved as they are'
            }
          >
            {breaks === 'crlf' ? 'CRLF' : 'mixed line breaks'}
          </span>
        )}
        <Button small variant="primary" disabled={!state.dirty || state.saving} onClick={save}>
          <Save className="size-3.5" aria-hidden />
          {state.saving ? 'Saving…' : 'Save'}
        </Button>
      </FileHeader>
      {state.newer !== undefined && (
        <NewerBanner
          workspaceId={workspaceId}
          path={path}
          newer={state.newer}
          onReload={reload}
          onCompare={setConflict}
        />
      )}
      <div className="min-h-0 flex-1 border-t border-line">
        <Suspense fallback={<p className="py-10 text-center text-faint">Loading the editor…</p>}>
          <Editor file={file} path={path} line={line} onSave={save} />
        </Suspense>
      </div>
      <ConflictDialog
        file={file}
        path={path}
        onDisk={conflict}
        onOverwrite={overwrite}
        onReload={reload}
        onClose={() => setConflict(undefined)}
      />
    </>
  );
}

type NewerBannerProps = {
  workspaceId: string;
  path: string;
  newer: OnDisk;
  onReload: (onDisk: OnDisk) => void;
  onCompare: (onDisk: OnDisk) => void;
};

/** Says that the disk holds something newer than what is being edited. */
function NewerBanner({ workspaceId, path, newer, onReload, onCompare }: NewerBannerProps) {
  const keyNames = useKeyNames();
  // Set when a receipt comes in; there is nothing to fetch.
  const { data: receipt } = useQuery<ReceiptSummary>({
    queryKey: ['last-change', workspaceId, path],
    enabled: false,
  });
  const known = receipt !== undefined && newer !== 'gone' && newer.etag === `"${hashAfter(receipt, path)}"`;
  return (
    <div
      role="alert"
      className="flex items-center gap-3 border-t border-warning/30 bg-warning-soft px-4 py-1.5 text-warning-text"
    >
      <TriangleAlert className="size-4 shrink-0" aria-hidden />
      <p className="min-w-0 flex-1">
        {newer === 'gone' ? 'This file was deleted on disk.' : 'This file has changed on disk.'}{' '}
        {known && (
          <a
            href={routeTo('receipts', receipt.receipt_id)}
            className="font-medium underline underline-offset-2"
          >
            Changed by {actorWords(receipt.actor, keyNames)}
          </a>
        )}
      </p>
      <Button small onClick={() => onCompare(newer)}>
        {newer === 'gone' ? 'Keep mine…' : 'Compare…'}
      </Button>
      <Button small onClick={() => onReload(newer)}>
        {newer === 'gone' ? 'Close' : 'Reload'}
      </Button>
    </div>
  );
}

function hashAfter(receipt: ReceiptSummary, path: string): string | undefined {
  return receipt.files.find((file) => file.path === path)?.after_hash;
}
