import { useConnection, usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { useNow } from '../ui/use-now.ts';

/** Says that what is shown may be old, once a lost connection has not come back by itself at once. */
export function ConnectionBanner() {
  const connection = useConnection();
  if (connection.status !== 'lost') return null;
  return <LostBanner since={connection.since} retryAt={connection.retryAt} />;
}

function LostBanner({ since, retryAt }: { since: number; retryAt: number }) {
  const { events } = usePanel();
  const now = useNow(500);
  if (now - since < graceMs) return null;
  const seconds = Math.ceil((retryAt - now) / 1000);
  return (
    <div
      role="alert"
      className="flex items-center gap-3 border-b border-warning/30 bg-warning-soft px-4 py-1.5 text-warning-text"
    >
      <p className="min-w-0 flex-1">
        The daemon does not answer. What you see may be out of date.{' '}
        <span className="tabular-nums" aria-hidden>
          {seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again…'}
        </span>
      </p>
      <Button small onClick={events.retryNow}>
        Try now
      </Button>
    </div>
  );
}

const graceMs = 1500;
