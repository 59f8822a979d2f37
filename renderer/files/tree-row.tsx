import { ChevronRight, CornerDownRight, File, FileCog, FileQuestion, Folder, FolderOpen } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import type { TreeEntry } from '../../daemon/contract/files.ts';
import { usePanel } from '../panel-context.ts';
import { classNames } from '../ui/class-names.ts';
import { bytesWords } from '../ui/time-words.ts';
import { fileKey } from './open-files.ts';

type TreeRowProps = {
  entry: TreeEntry;
  level: number;
  open: boolean;
  selected: boolean;
  /** Whether Tab leads here: one row of the tree at a time. */
  reachable: boolean;
  workspaceId: string;
  onAct: () => void;
};

/** A file or folder of the tree. Its keys are handled by the tree. */
export function TreeRow({ entry, level, open, selected, reachable, workspaceId, onAct }: TreeRowProps) {
  const { files } = usePanel();
  const dirty = useSyncExternalStore(files.subscribe, files.dirty).includes(fileKey(workspaceId, entry.path));
  const folder = entry.type === 'folder';
  const notes = notesOf(entry, dirty);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of all its rows
    <div
      role="treeitem"
      aria-level={level}
      aria-selected={selected}
      {...(folder ? { 'aria-expanded': open } : {})}
      tabIndex={reachable ? 0 : -1}
      data-path={entry.path}
      title={[entry.path, ...notes].join('\n')}
      onClick={onAct}
      style={{ paddingLeft: (level - 1) * 14 + 4 }}
      className={classNames(
        'flex h-7 items-center gap-1.5 rounded-md pr-2 whitespace-nowrap -outline-offset-2',
        selected ? 'bg-selected' : 'hover:bg-hover',
        entry.ignored && 'text-faint',
      )}
    >
      <ChevronRight
        aria-hidden
        className={classNames('size-3.5 shrink-0 text-faint', open && 'rotate-90', !folder && 'invisible')}
      />
      <Icon entry={entry} open={open} />
      <span className={classNames('truncate', entry.ignored && 'opacity-80')}>{entry.name}</span>
      {entry.target !== undefined && <span className="min-w-0 truncate text-faint">→ {entry.target}</span>}
      {entry.utf8 === false && <span className="text-xs text-warning-text">not UTF-8</span>}
      {dirty && <span className="ml-auto size-2 shrink-0 rounded-full bg-accent" />}
      <span className="sr-only">{notes.join(', ')}</span>
    </div>
  );
}

function Icon({ entry, open }: { entry: TreeEntry; open: boolean }) {
  const classes = 'size-4 shrink-0';
  switch (entry.type) {
    case 'folder':
      return open ? (
        <FolderOpen aria-hidden className={`${classes} text-muted`} />
      ) : (
        <Folder aria-hidden className={`${classes} text-muted`} />
      );
    case 'link':
      return <CornerDownRight aria-hidden className={`${classes} text-accent`} />;
    case 'file':
      return entry.executable ? (
        <FileCog aria-hidden className={`${classes} text-success-text`} />
      ) : (
        <File aria-hidden className={`${classes} text-faint`} />
      );
    case 'other':
      return <FileQuestion aria-hidden className={`${classes} text-faint`} />;
    default:
      return entry.type satisfies never;
  }
}

function notesOf(entry: TreeEntry, dirty: boolean): string[] {
  return [
    dirty ? 'unsaved changes' : '',
    entry.type === 'link' ? `link to ${entry.target ?? 'nowhere'}` : '',
    entry.type === 'other' ? 'neither file, folder nor link' : '',
    entry.type === 'file' && entry.executable ? 'executable' : '',
    entry.ignored ? 'ignored by git' : '',
    entry.utf8 === false ? 'its name is not UTF-8, so it can not be opened here' : '',
    entry.size === null ? '' : bytesWords(entry.size),
  ].filter((note) => note !== '');
}
