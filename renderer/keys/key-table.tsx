import type { KeyListing } from '../../daemon/contract/api-keys.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { agoWords, exactTime, untilWords } from '../ui/time-words.ts';
import { useNow } from '../ui/use-now.ts';

type KeyTableProps = { keys: KeyListing[]; label: string; onRevoke?: (key: KeyListing) => void };

export function KeyTable({ keys, label, onRevoke }: KeyTableProps) {
  const now = useNow(30_000);
  return (
    <div className="overflow-x-auto rounded-lg border border-line">
      <table className="w-full min-w-[700px] text-left" aria-label={label}>
        <thead className="border-b border-line bg-inset text-xs text-faint">
          <tr>
            <th className="px-3 py-2 font-medium">Name</th>
            <th className="px-3 py-2 font-medium">Scope</th>
            <th className="px-3 py-2 font-medium">Expires</th>
            <th className="px-3 py-2 font-medium">Last used</th>
            <th className="px-3 py-2 font-medium">Weekly cap</th>
            <th className="px-3 py-2 text-right font-medium">
              {onRevoke === undefined ? 'Status' : <span className="sr-only">Actions</span>}
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {keys.map((key) => (
            <tr
              key={key.key_id}
              className={classNames('hover:bg-hover', key.status !== 'active' && 'opacity-65')}
            >
              <td className="px-3 py-2">
                <div className="max-w-[260px] truncate font-medium" title={key.name}>
                  {key.name}
                </div>
                <code className="font-mono text-[11px] leading-4 text-faint">{key.preview}</code>
              </td>
              <td className="px-3 py-2">
                <Badge tone={key.scopes === 'admin' ? 'warning' : 'neutral'}>{key.scopes}</Badge>
              </td>
              <Moment {...expiryOf(key)} now={now} />
              <Moment time={key.last_used_at} none="not yet" words={agoWords} now={now} />
              <td className="px-3 py-2 whitespace-nowrap text-muted tabular-nums">{capWords(key)}</td>
              <td className="px-3 py-2 text-right whitespace-nowrap">
                {onRevoke === undefined ? (
                  <Badge>{key.status}</Badge>
                ) : (
                  <Button small aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
                    Revoke
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** When it ends, or that it did; of a revoked key it no longer matters. */
function expiryOf(key: KeyListing): Omit<MomentProps, 'now'> {
  if (key.status === 'revoked') return { time: null, none: '–', words: untilWords };
  return { time: key.expires_at, none: 'never', words: key.status === 'expired' ? agoWords : untilWords };
}

type MomentProps = {
  time: string | null;
  none: string;
  words: (time: string, now: number) => string;
  now: number;
};

function Moment({ time, none, words, now }: MomentProps) {
  return (
    <td
      className="px-3 py-2 whitespace-nowrap text-muted tabular-nums"
      title={time === null ? undefined : exactTime(time)}
    >
      {time === null ? none : words(time, now)}
    </td>
  );
}

function capWords(key: KeyListing): string {
  if (key.weekly_spend_cap === null) return 'no cap';
  return `$${key.spent_this_week.toFixed(2)} of $${key.weekly_spend_cap.toFixed(2)}`;
}
