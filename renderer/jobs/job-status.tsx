import { Ban, Check, CircleHelp, Clock, LoaderCircle, Unplug, X } from 'lucide-react';
import { Badge } from '../ui/badge.tsx';
import type { JobEntry } from './job-entries.ts';

type Ending = Pick<JobEntry, 'code' | 'reason'>;

/** How a command stands, in one small badge. */
export function JobStatus({ entry }: { entry: JobEntry }) {
  if (entry.running !== undefined) {
    return (
      <Badge tone="accent">
        <LoaderCircle className="animate-spin" aria-hidden />
        Running
      </Badge>
    );
  }
  return <EndedStatus {...entry} />;
}

function EndedStatus({ code, reason }: Ending) {
  switch (reason) {
    case 'cancelled':
      return (
        <Badge>
          <Ban aria-hidden />
          Stopped
        </Badge>
      );
    case 'timeout':
      return (
        <Badge tone="warning">
          <Clock aria-hidden />
          Timed out
        </Badge>
      );
    case 'revoked':
      return (
        <Badge tone="warning">
          <Ban aria-hidden />
          Key revoked
        </Badge>
      );
    case 'shutdown':
      return (
        <Badge>
          <Ban aria-hidden />
          Daemon stopped
        </Badge>
      );
    case 'connection_lost':
      return (
        <Badge tone="danger">
          <Unplug aria-hidden />
          Connection lost
        </Badge>
      );
    case null:
      return <ExitStatus code={code} />;
    default:
      return reason satisfies never;
  }
}

function ExitStatus({ code }: { code: number | null }) {
  if (code === null) {
    return (
      <Badge>
        <CircleHelp aria-hidden />
        Unknown
      </Badge>
    );
  }
  return (
    <Badge tone={code === 0 ? 'success' : 'danger'}>
      {code === 0 ? <Check aria-hidden /> : <X aria-hidden />}
      Exit {code}
    </Badge>
  );
}
