import type { MasterKeyStatus } from '../../daemon/contract/master-key.ts';
import { problemText } from '../api/problem.ts';
import { Button } from '../ui/button.tsx';
import { exactTime } from '../ui/time-words.ts';

type RotationProgressProps = {
  rotation: MasterKeyStatus['rotation'];
  running: boolean;
  failure: Error | null;
  onFinish: () => void;
};

/** How far a rotation is; of one that was cut short, how it is finished. */
export function RotationProgress({ rotation, running, failure, onFinish }: RotationProgressProps) {
  const { done, total } = rotation ?? { done: 0, total: 0 };
  const cutShort = rotation !== null && !running;
  if (!running && !cutShort)
    return failure === null ? null : (
      <p role="alert" className="border-t border-line px-3 py-2.5 text-danger-text">
        The key was not rotated. {problemText(failure)}
      </p>
    );
  return (
    <div className={`border-t border-line px-3 py-2.5 ${cutShort ? 'bg-warning-soft' : ''}`}>
      <div className="flex items-center gap-3">
        <p role="status" className="min-w-0 flex-1">
          {running ? 'Rotating the key' : 'A rotation was cut short'}
          {total > 0 && (
            <span className="text-muted tabular-nums">
              : {done} of {total} {total === 1 ? 'workspace' : 'workspaces'} done
            </span>
          )}
        </p>
        {cutShort && (
          <Button small variant="primary" onClick={onFinish}>
            Finish rotation
          </Button>
        )}
      </div>
      {running && (
        <progress
          aria-label="Rotation"
          className="mt-2 block h-1 w-full appearance-none overflow-hidden rounded-full bg-selected [&::-moz-progress-bar]:bg-accent-fill [&::-webkit-progress-bar]:bg-selected [&::-webkit-progress-value]:bg-accent-fill"
          {...(total > 0 ? { value: done, max: total } : {})}
        />
      )}
      {cutShort && (
        <p className="mt-1 text-xs text-muted">
          {failure !== null && <span className="text-danger-text">{problemText(failure)} </span>}
          It began on {exactTime(rotation.started_at)}. All secrets can be used; the old key is kept until it
          is finished.
        </p>
      )}
    </div>
  );
}
