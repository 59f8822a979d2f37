import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Receipt } from '../../daemon/contract/receipts.ts';
import { classNames } from '../ui/class-names.ts';
import { CopyIcon } from '../ui/copy-button.tsx';
import { countWords } from '../ui/time-words.ts';
import { useStored } from '../ui/use-stored.ts';
import { Cost, ExitCode, Guards } from './receipt-badges.tsx';
import { actorWords, shortHash, toolWords } from './receipt-words.ts';
import { useKeyNames } from './use-receipts.ts';

/** Every field of a receipt but its files, folded away until it is asked for. */
export function ReceiptFacts({ receipt }: { receipt: Receipt }) {
  const [open, setOpen] = useStored('tallystick.receipt-fields', false);
  return (
    <section aria-label="Record" className="rounded-lg border border-line">
      <h3 className="flex items-center pr-1">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex h-8 min-w-0 flex-1 items-center gap-2 px-2.5 text-left -outline-offset-2"
        >
          <ChevronRight
            aria-hidden
            className={classNames('size-3.5 shrink-0 text-faint', open && 'rotate-90')}
          />
          <span className="font-medium">Record</span>
          {!open && (
            <span className="min-w-0 truncate font-mono text-[11px] text-faint">
              {receipt.receipt_id} · {shortHash(receipt.self_hash)}
            </span>
          )}
        </button>
        {!open && <CopyIcon text={receipt.self_hash} label="Copy hash of the receipt" />}
      </h3>
      {open && <Facts receipt={receipt} />}
    </section>
  );
}

function Facts({ receipt }: { receipt: Receipt }) {
  const keyNames = useKeyNames();
  const { actor, command } = receipt;
  return (
    <dl className="grid grid-cols-[128px_minmax(0,1fr)] border-t border-line">
      <Fact name="Position">
        <span className="tabular-nums">{receipt.seq.toLocaleString('en')}</span>
        <Id text={receipt.receipt_id} label="Copy receipt id" />
      </Fact>
      <Fact name="Made by">
        {actorWords(actor, keyNames)}
        <Id text={actor.type === 'key' ? actor.key_id : actor.session_id} />
      </Fact>
      <Fact name="Kind">
        {toolWords[receipt.tool] ?? receipt.tool}
        <Id text={receipt.tool} />
      </Fact>
      {command !== undefined && (
        <Fact name="Result">
          <ExitCode code={command.exit_code} />
          {command.host !== undefined && `on ${command.host}`}
          {command.exit_code === null && (
            <span className="text-muted">The daemon ended before the command did.</span>
          )}
        </Fact>
      )}
      <Fact name="Guards">
        <Guards guards={receipt.guards} />
        {receipt.symbols_checked > 0 && (
          <span className="text-muted">{countWords(receipt.symbols_checked, 'symbol')} checked</span>
        )}
      </Fact>
      <Fact name="Cost">
        <Cost receipt={receipt} />
      </Fact>
      <Fact name="Run">
        <Id text={receipt.run_id} label="Copy run id" />
      </Fact>
      <Fact name="Snapshot">
        <Id text={receipt.snapshot_id} label="Copy snapshot id" />
      </Fact>
      <Fact name="Previous hash">
        <Id text={receipt.prev_receipt_hash} label="Copy previous hash" />
      </Fact>
      <Fact name="Own hash">
        <Id text={receipt.self_hash} label="Copy own hash" />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="col-span-2 grid grid-cols-subgrid border-b border-line last:border-b-0">
      <dt className="px-3 py-[7px] text-xs leading-[18px] text-faint">{name}</dt>
      <dd className="flex min-h-8 min-w-0 flex-wrap items-center gap-x-2 py-0.5 pr-1">{children}</dd>
    </div>
  );
}

/** An id or a hash; with a label it can be copied. */
function Id({ text, label }: { text: string; label?: string }) {
  return (
    <span className="flex min-w-0 flex-1 items-center gap-1">
      <code className="min-w-0 flex-1 truncate font-mono text-[11px] text-muted select-text" title={text}>
        {text}
      </code>
      {label !== undefined && <CopyIcon text={text} label={label} />}
    </span>
  );
}
