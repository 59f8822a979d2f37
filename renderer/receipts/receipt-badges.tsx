import type { Receipt } from '../../daemon/contract/receipts.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { costWords } from './receipt-words.ts';

/** How a command ended. */
export function ExitCode({ code }: { code: number | null }) {
  return (
    <Badge tone={code === 0 ? 'success' : 'danger'}>{code === null ? 'No exit code' : `Exit ${code}`}</Badge>
  );
}

/** What each guard said, or that none ran. */
export function Guards({ guards }: { guards: Receipt['guards'] }) {
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

/** What the models that took part cost, or that none did. */
export function Cost({ receipt: { cost, models } }: { receipt: Pick<Receipt, 'cost' | 'models'> }) {
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
