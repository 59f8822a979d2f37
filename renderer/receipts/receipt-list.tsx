import { FileX2 } from 'lucide-react';
import { type KeyboardEvent, useMemo } from 'react';
import type { ReceiptSummary } from '../../daemon/contract/receipts.ts';
import { routeTo } from '../frame/route.ts';
import { byDay, dayWords } from '../ui/days.ts';
import { LoadMore } from '../ui/load-more.tsx';
import { countWords } from '../ui/time-words.ts';
import { useNow } from '../ui/use-now.ts';
import { ReceiptItem } from './receipt-item.tsx';
import { useKeyNames } from './use-receipts.ts';

type ReceiptListProps = {
  receipts: ReceiptSummary[];
  unreadable: readonly string[];
  selected: string | undefined;
  more: boolean;
  fetching: boolean;
  failed: boolean;
  onMore: () => void;
  onSelect: (receiptId: string) => void;
};

/** The chain as a timeline, newest first, by day. Arrow keys move through it; its end fetches what is older. */
export function ReceiptList(props: ReceiptListProps) {
  const { receipts, unreadable, selected, more, fetching, failed, onMore, onSelect } = props;
  const now = useNow(30_000);
  const keyNames = useKeyNames();
  const days = useMemo(() => byDay(receipts), [receipts]);
  const undone = useMemo(() => new Set(receipts.map((one) => one.rolled_back_run_id)), [receipts]);
  return (
    <nav aria-label="Receipts" onKeyDown={moveFocus} className="h-full overflow-y-auto pb-2">
      {unreadable.length > 0 && <Unreadable ids={unreadable} />}
      {days.map(({ day, items }) => (
        <section key={day} aria-label={dayWords(day, now)}>
          <h2 className="sticky top-0 z-10 border-b border-line bg-surface px-4 pt-3 pb-1.5 text-xs font-medium text-faint">
            {dayWords(day, now)}
          </h2>
          <div className="timeline px-2 pt-1">
            {items.map((receipt) => (
              <ReceiptItem
                key={receipt.receipt_id}
                receipt={receipt}
                undone={undone.has(receipt.run_id)}
                keyNames={keyNames}
                selected={receipt.receipt_id === selected}
                onSelect={onSelect}
              />
            ))}
          </div>
        </section>
      ))}
      {more && (
        <LoadMore
          what="older receipts"
          fetching={fetching}
          failed={failed}
          shown={receipts.length}
          onMore={onMore}
        />
      )}
      {!more && receipts.length > 0 && (
        <p className="px-4 py-4 text-center text-xs text-faint">The beginning of the chain</p>
      )}
    </nav>
  );
}

/** Receipts that the chain has, but whose file is gone or no receipt any more. */
function Unreadable({ ids }: { ids: readonly string[] }) {
  return (
    <section aria-label="Unreadable receipts" className="border-b border-line bg-danger-soft px-4 py-3">
      <h2 className="flex items-center gap-2 font-medium text-danger-text">
        <FileX2 className="size-4 shrink-0" aria-hidden />
        {countWords(ids.length, 'receipt')} can not be read
      </h2>
      <p className="mt-0.5 text-xs text-muted">
        Altered or removed on the disk. Verify the chain to see how.
      </p>
      {ids.slice(0, 20).map((id) => (
        <a
          key={id}
          href={routeTo('receipts', id)}
          className="mt-1 block truncate font-mono text-[11px] text-danger-text underline underline-offset-2"
        >
          {id}
        </a>
      ))}
    </section>
  );
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-receipt]')];
  const at = items.findIndex((item) => item.contains(document.activeElement));
  const next = items[Math.max(0, Math.min(items.length - 1, at + step))];
  next?.focus();
  next?.click();
}
