import { useQuery } from '@tanstack/react-query';
import { FileDigit, FileQuestion, FileWarning } from 'lucide-react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { CopyIcon } from '../ui/copy-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { bytesWords } from '../ui/time-words.ts';
import { FileHeader } from './file-header.tsx';
import { fileAddress, maxEditableBytes, type OpenedFile } from './read-file.ts';
import { TextPane } from './text-pane.tsx';
import { useOpenFile } from './use-open-file.ts';

type FilePaneProps = { workspace: RecentProject; path: string; line: number | undefined };

/** One file: an editor where it is a text of a size for it, else what is known of it. */
export function FilePane({ workspace, path, line }: FilePaneProps) {
  const { query, file, missing } = useOpenFile(workspace.ws_id, path);
  return (
    <section aria-label="File" className="flex min-h-0 min-w-0 flex-col">
      {file !== undefined ? (
        <TextPane key={path} file={file} workspace={workspace} path={path} line={line} />
      ) : (
        <>
          <FileHeader workspace={workspace} path={path} present={query.data !== undefined} />
          {missing ? (
            <EmptyState icon={<FileQuestion />} title="There is no such file">
              It may have been deleted or renamed. Its receipts tell what became of it.
            </EmptyState>
          ) : query.data === undefined ? (
            <QueryState query={query} what="the file" />
          ) : (
            <Facts workspaceId={workspace.ws_id} path={path} file={query.data} />
          )}
        </>
      )}
    </section>
  );
}

/** Of what can't be edited here: why, how large it is, its hash, and a way to get at it. */
function Facts({ workspaceId, path, file }: { workspaceId: string; path: string; file: OpenedFile }) {
  const { api } = usePanel();
  const download = useQuery({
    queryKey: ['download', workspaceId, path],
    queryFn: async () => {
      const response = await api.open(fileAddress(path), { workspaceId });
      offer(await response.blob(), path.slice(path.lastIndexOf('/') + 1));
      return null;
    },
    enabled: false,
    gcTime: 0,
    retry: false,
  });
  const large = file.kind === 'large';
  const hash = file.etag.replaceAll('"', '');
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <EmptyState
        icon={large ? <FileWarning /> : <FileDigit />}
        title={large ? 'Too large for the editor' : 'Not a text file'}
        action={
          <Button disabled={download.isFetching} onClick={() => void download.refetch()}>
            {download.isFetching ? 'Fetching…' : 'Download'}
          </Button>
        }
      >
        {large
          ? `The editor takes files up to ${bytesWords(maxEditableBytes)}.`
          : 'Its bytes are no UTF-8 text: an editor would change more than you meant to.'}
        <dl className="mt-4 grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-4 rounded-lg border border-line px-3 py-1 text-left">
          <dt className="text-xs text-faint">Size</dt>
          <dd className="leading-8 text-text tabular-nums">
            {bytesWords(file.size)}{' '}
            <span className="text-faint">({file.size.toLocaleString('en')} bytes)</span>
          </dd>
          <dt className="text-xs text-faint">Hash</dt>
          <dd className="flex items-center">
            <code className="min-w-0 truncate font-mono text-[11px]" title={hash}>
              {hash}
            </code>
            <CopyIcon text={hash} label="Copy hash" />
          </dd>
        </dl>
      </EmptyState>
    </div>
  );
}

/** Hands a file to the browser to be kept. */
function offer(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
