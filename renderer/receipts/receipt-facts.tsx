import type { ReactNode } from 'react';
import type { Receipt } from '../../daemon/contract/receipts.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { CopyIcon } from '../ui/copy-button.tsx';
import { countWords } from '../ui/time-words.ts';
import { actorWords, costWords, toolWords } from './receipt-words.ts';
import { useKeyNames } from './use-receipts.ts';

/** Every field of a receipt but its files. */
export function ReceiptFacts({ receipt }: { receipt: Receipt }) {
  const keyNames = useKeyNames();
  const { actor, command } = receipt;
  return (
    <dl className="grid grid-cols-[128px_minmax(0,1fr)] rounded-lg border border-line">
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
          <Badge tone={command.exit_code === 0 ? 'success' : 'danger'}>
            {command.exit_code === null ? 'No exit code' : `Exit ${command.exit_code}`}
          </Badge>
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

function Guards({ guards }: { guards: Receipt['guards'] }) {
  const entries = Object.entries(guards);
  if (entries.every(([, result]) => result === 'skipped'))
    return <span className="text-muted">None ran</span>;
  return entries.map(([name, result]) => (
    <Badge key={name} tone={guardTones[result]}>
      {name}: {result}
    </Badge>
  ));
}

const guardTones: Record<Receipt['guards']['write'], Tone> = {
  pass: 'success',
  warn: 'warning',
  fail: 'danger',
  skipped: 'neutral',
};

function Cost({ receipt: { cost, models } }: { receipt: Receipt }) {
  const words = costWords(cost);
  if (words === undefined && models.length === 0)
    return <span className="text-muted">No model was used</span>;
  return (
    <>
      <span className="tabular-nums">{words ?? '$0'}</span>
      <span className="text-xs text-muted tabular-nums">
        {cost.tokens_in.toLocaleString('en')} tokens in, {cost.tokens_out.toLocaleString('en')} out
      </span>
      {models.map((model) => (
        <Badge key={model}>{model}</Badge>
      ))}
    </>
  );
}
