import { ChevronRight, FilePen, FilePlus2, FileX2, type LucideIcon, ToggleLeft } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { FileDiff, Receipt, TouchedFile } from '../../daemon/contract/receipts.ts';
import { countLines } from '../diff/diff-rows.ts';
import { DiffView } from '../diff/diff-view.tsx';
import { LineCount } from '../diff/line-count.tsx';
import { routeTo } from '../frame/route.ts';
import { secretStorePath } from '../secrets/secret-store-path.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { CopyIcon } from '../ui/copy-button.tsx';
import { countWords } from '../ui/time-words.ts';
import { changeOf, type FileChange, modeWords, shortHash } from './receipt-words.ts';

/** The files that a receipt is about, each with what changed in it. */
export function FileChanges({ receipt }: { receipt: Receipt }) {
  const { files } = receipt;
  const diffs = new Map(receipt.diffs.map((diff) => [diff.path, diff]));
  const total = countLines(receipt.diffs.flatMap((diff) => diff.hunks));
  const [closed, setClosed] = useState<ReadonlySet<string>>(
    () => new Set(files.slice(openAtFirst).map((file) => file.path)),
  );
  const [count, setCount] = useState(filesAtFirst);
  const allClosed = closed.size === files.length;
  const toggle = (path: string) =>
    setClosed((paths) => {
      const next = new Set(paths);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  return (
    <section aria-label="Files changed">
      <header className="mb-2 flex min-h-7 items-center gap-3">
        <h3 className="font-semibold">{countWords(files.length, 'file')} changed</h3>
        <LineCount {...total} />
        {files.length > 1 && (
          <Button
            small
            variant="ghost"
            className="ml-auto"
            onClick={() => setClosed(new Set(allClosed ? [] : files.map((file) => file.path)))}
          >
            {allClosed ? 'Expand all' : 'Collapse all'}
          </Button>
        )}
      </header>
      <div className="space-y-2.5">
        {files.slice(0, count).map((file) => (
          <ChangedFile
            key={file.path_base64 ?? file.path}
            file={file}
            diff={diffs.get(file.path)}
            open={!closed.has(file.path)}
            onToggle={() => toggle(file.path)}
          />
        ))}
      </div>
      {count < files.length && (
        <Button small className="mt-3" onClick={() => setCount(count + filesAtFirst)}>
          Show {Math.min(filesAtFirst, files.length - count)} more of {countWords(files.length, 'file')}
        </Button>
      )}
    </section>
  );
}

const openAtFirst = 8;
const filesAtFirst = 100;

type ChangedFileProps = {
  file: TouchedFile;
  diff: FileDiff | undefined;
  open: boolean;
  onToggle: () => void;
};

function ChangedFile({ file, diff, open, onToggle }: ChangedFileProps) {
  const change = changeOf(file);
  const Icon = changeIcons[change];
  const mode = modeWords(file);
  return (
    <article className="overflow-clip rounded-lg border border-line">
      <h4 className="flex min-h-9 items-center bg-inset pr-1.5">
        <button
          type="button"
          aria-expanded={open}
          onClick={onToggle}
          className="flex min-w-0 flex-1 items-center gap-2 self-stretch px-2.5 py-1 text-left outline-offset-[-2px]"
        >
          <ChevronRight
            aria-hidden
            className={classNames('size-3.5 shrink-0 text-faint', open && 'rotate-90')}
          />
          <Icon aria-hidden className={classNames('size-3.5 shrink-0', changeTones[change])} />
          <span className="sr-only">{changeWords[change]} </span>
          <span className="min-w-0 font-mono text-xs break-all" title={file.path}>
            {file.path}
          </span>
          {mode !== undefined && <Badge>{mode}</Badge>}
          {file.path_base64 !== undefined && <Badge>not UTF-8</Badge>}
          {file.not_kept && <Badge tone="warning">not kept</Badge>}
          <span className="ml-auto" />
          {diff !== undefined && <LineCount {...countLines(diff.hunks)} />}
        </button>
        {canOpen(file) && (
          <a
            href={routeTo('files', file.path)}
            className="rounded-md px-2 py-1 text-xs font-medium text-muted hover:bg-hover hover:text-text"
            aria-label={`Open ${file.path}`}
          >
            Open
          </a>
        )}
      </h4>
      {open && (
        <>
          <Hashes file={file} />
          <Change file={file} diff={diff} change={change} />
        </>
      )}
    </article>
  );
}

function canOpen({ path, path_base64, after_hash }: TouchedFile): boolean {
  return (
    after_hash !== 'absent' && path_base64 === undefined && !path.endsWith('/') && path !== secretStorePath
  );
}

function Hashes({ file }: { file: TouchedFile }) {
  return (
    <p className="flex flex-wrap items-center gap-x-1 border-t border-line px-3 py-0.5 text-xs text-faint">
      <HashPart name="before" hash={file.before_hash} path={file.path} />
      <span aria-hidden className="px-1">
        →
      </span>
      <HashPart name="after" hash={file.after_hash} path={file.path} />
    </p>
  );
}

function HashPart({ name, hash, path }: { name: string; hash: string; path: string }) {
  if (hash === 'absent') return <span className="leading-7">{name}: no file</span>;
  return (
    <span className="flex items-center">
      {name}:{' '}
      <code className="ml-1 font-mono text-[11px]" title={hash}>
        {shortHash(hash)}
      </code>
      <CopyIcon text={hash} label={`Copy hash of ${path} ${name}`} />
    </span>
  );
}

function Change({
  file,
  diff,
  change,
}: {
  file: TouchedFile;
  diff: FileDiff | undefined;
  change: FileChange;
}) {
  if (file.path.endsWith('/'))
    return <Note>An empty folder was {change === 'deleted' ? 'removed' : 'made'}.</Note>;
  if (file.path === secretStorePath)
    return <Note>The encrypted secrets. Receipts hold their hash only, never what is in them.</Note>;
  return (
    <>
      {file.not_kept && (
        <Note>
          What it was before is over 10 MiB: it is known by its hash, but not kept, and can not be restored.
        </Note>
      )}
      {diff?.binary && <Note>Binary file: there are no lines to show.</Note>}
      {diff?.truncated && <Note>The diff is over 256 KiB and was left out of the receipt.</Note>}
      {diff !== undefined && diff.hunks.length > 0 && (
        <div className="border-t border-line">
          <DiffView hunks={diff.hunks} label={`Changes in ${file.path}`} />
        </div>
      )}
      {(diff === undefined || (diff.hunks.length === 0 && !diff.binary && !diff.truncated)) &&
        !file.not_kept && <Note>{change === 'mode' ? 'Only its mode changed.' : 'No lines changed.'}</Note>}
    </>
  );
}

function Note({ children }: { children: ReactNode }) {
  return <p className="border-t border-line px-3 py-2.5 text-muted">{children}</p>;
}

const changeIcons: Record<FileChange, LucideIcon> = {
  created: FilePlus2,
  deleted: FileX2,
  changed: FilePen,
  mode: ToggleLeft,
};
const changeWords: Record<FileChange, string> = {
  created: 'Created',
  deleted: 'Deleted',
  changed: 'Changed',
  mode: 'Mode changed:',
};
const changeTones: Record<FileChange, string> = {
  created: 'text-success-text',
  deleted: 'text-danger-text',
  changed: 'text-accent',
  mode: 'text-muted',
};
