import { problemText } from '../api/problem.ts';
import { Button } from './button.tsx';

/** What stands in a list's place while it is fetched, or when that failed. */
export function QueryState({
  query,
  what,
}: {
  query: { error: unknown; refetch: () => unknown };
  what: string;
}) {
  if (query.error === null) {
    return (
      <p role="status" className="py-10 text-center text-faint">
        Loading {what}…
      </p>
    );
  }
  return (
    <div role="alert" className="flex flex-col items-center gap-3 py-10 text-center text-muted">
      <p>
        Could not load {what}. {problemText(query.error)}
      </p>
      <Button small onClick={() => void query.refetch()}>
        Try again
      </Button>
    </div>
  );
}
