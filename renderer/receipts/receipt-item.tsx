import {
  ArrowRight,
  FileDown,
  FilePen,
  FilePlus2,
  FileX2,
  History,
  LockKeyhole,
  type LucideIcon,
  Server,
  ShieldAlert,
  SquareTerminal,
  Undo2,
} from 'lucide-react';
import { memo } from 'react';
import type { ReceiptSummary } from '../../daemon/contract/receipts.ts';
import { LineCount } from '../diff/line-count.tsx';
import { Badge } from '../ui/badge.tsx';
import { classNames } from '../ui/class-names.ts';
import { timeOfDay } from '../ui/days.ts';
import { countWords, exactTime } from '../ui/time-words.ts';
import { actorWords, costWords, deedWords, guardWords, placeWords } from './receipt-words.ts';

type ReceiptItemProps = {
  receipt: ReceiptSummary;
  /** Whether a later receipt rolled it back. */
  undone: boolean;
  keyNames: ReadonlyMap<string, string>;
  selected: boolean;
  onSelect: (receiptId: string) => void;
};

/** One receipt of the timeline: what was done, by whom and when, and how much it touched. */
export const ReceiptItem = memo(function ReceiptItem(props: ReceiptItemProps) {
  const { receipt, undone, keyNames, selected, onSelect } = props;
  const Icon = iconOf(receipt);
  return (
    <button
      type="button"
      data-receipt={receipt.receipt_id}
      aria-current={selected ? 'true' : undefined}
      onClick={() => onSelect(receipt.receipt_id)}
      className={classNames(
        'timeline-item relative flex w-full items-start gap-2.5 rounded-md px-2 py-2 text-left',
        selected ? 'bg-selected' : 'hover:bg-hover',
      )}
    >
      <span className="z-[1] mt-px grid size-5 shrink-0 place-items-center rounded-full border border-line-strong bg-surface text-muted">
        <Icon className="size-3" aria-hidden />
      </span>
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2">
          <Deed receipt={receipt} undone={undone} />
          <time
            dateTime={receipt.timestamp}
            title={exactTime(receipt.timestamp)}
            className="shrink-0 text-xs text-faint tabular-nums"
          >
            {timeOfDay(receipt.timestamp)}
          </time>
        </span>
        <span className="mt-0.5 flex min-w-0 items-center gap-2 text-xs text-faint">
          <span className="min-w-0 truncate">{actorWords(receipt.actor, keyNames)}</span>
          <span
            className="min-w-0 shrink-[4] truncate"
            title={receipt.files.map((file) => file.path).join('\n')}
          >
            {placeWords(receipt)}
          </span>
          <span className="ml-auto" />
          <LineCount added={receipt.added} removed={receipt.removed} />
        </span>
        <Marks receipt={receipt} undone={undone} />
      </span>
    </button>
  );
});

function Deed({ receipt, undone }: { receipt: ReceiptSummary; undone: boolean }) {
  const line = receipt.command?.cmd;
  const text = line === undefined ? deedWords(receipt) : firstLine(line);
  return (
    <span
      title={line ?? text}
      className={classNames(
        'min-w-0 flex-1 truncate',
        line === undefined ? 'font-medium' : 'font-mono text-xs leading-[19px]',
        undone && 'text-faint line-through',
      )}
    >
      {text}
    </span>
  );
}

function Marks({ receipt, undone }: { receipt: ReceiptSummary; undone: boolean }) {
  const exit = receipt.command?.exit_code;
  const cost = costWords(receipt.cost);
  const guards = guardWords(receipt.guards);
  const beside = receipt.concurrent_runs?.length ?? 0;
  const failed = exit !== undefined && exit !== 0;
  if (!failed && cost === undefined && guards.length === 0 && beside === 0 && !undone) return null;
  return (
    <span className="mt-1.5 flex flex-wrap gap-1.5">
      {undone && <Badge>Rolled back</Badge>}
      {failed && <Badge tone="danger">{exit === null ? 'No exit code' : `Exit ${exit}`}</Badge>}
      {guards.map(({ name, result }) => (
        <Badge key={name} tone={result === 'fail' ? 'danger' : 'warning'}>
          <ShieldAlert aria-hidden />
          {name}: {result}
        </Badge>
      ))}
      {beside > 0 && <Badge>{countWords(beside, 'run')} at the same time</Badge>}
      {cost !== undefined && <Badge>{cost}</Badge>}
    </span>
  );
}

function iconOf(receipt: ReceiptSummary): LucideIcon {
  switch (receipt.tool) {
    case 'file.write':
      return receipt.files[0]?.before_hash === 'absent' ? FilePlus2 : FilePen;
    case 'file.edit':
      return FilePen;
    case 'file.move':
      return ArrowRight;
    case 'file.delete':
      return FileX2;
    case 'shell.run':
      return SquareTerminal;
    case 'ssh.run':
      return Server;
    case 'ssh.pull':
      return FileDown;
    case 'rollback':
      return Undo2;
    case 'secret.set':
    case 'secret.delete':
    case 'secret.import':
    case 'secret.recover':
    case 'secret.rotate':
      return LockKeyhole;
    default:
      receipt.tool satisfies never;
      return History;
  }
}

function firstLine(cmd: string): string {
  const [first = '', ...rest] = cmd.trim().split('\n');
  return rest.length === 0 ? first : `${first} …`;
}
