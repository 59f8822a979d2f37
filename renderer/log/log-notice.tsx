import { Button } from '../ui/button.tsx';
import type { LogSnapshot } from './log-client.ts';

/** What stands in the place of output where there is none. */
export function LogNotice({ log, onRunAgain }: { log: LogSnapshot; onRunAgain: () => void }) {
  if (log.end > log.first) return null;
  const { state } = log;
  if (state.phase === 'gone') {
    return (
      <Centered>
        <p className="font-medium text-text">Output no longer kept</p>
        <p className="mt-1 mb-4 max-w-[320px]">
          The daemon keeps a command’s output only for a while after it has ended.
        </p>
        <Button onClick={onRunAgain}>Run again</Button>
      </Centered>
    );
  }
  if (state.phase === 'streaming') return <Centered>No output yet</Centered>;
  if (state.phase === 'ended') return <Centered>This command printed nothing</Centered>;
  if (state.phase === 'failed') return <Centered>{state.detail}</Centered>;
  return null;
}

function Centered({ children }: { children: React.ReactNode }) {
  return (
    <div className="absolute inset-0 flex flex-col items-center justify-center bg-[var(--log)] p-6 text-center text-muted">
      {children}
    </div>
  );
}
