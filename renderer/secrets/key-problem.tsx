import { KeyRound } from 'lucide-react';
import { goTo } from '../frame/route.ts';
import { Button } from '../ui/button.tsx';
import { ProblemPanel } from './problem-panel.tsx';

type KeyProblemProps = { state: 'locked' | 'missing'; detail: string; onRetry: () => void };

/** The store is there, but the key to it is not: the daemon says what to do. */
export function KeyProblem({ state, detail, onRetry }: KeyProblemProps) {
  return (
    <ProblemPanel
      icon={<KeyRound />}
      title={`The master key is ${state}`}
      actions={
        <>
          <Button variant="primary" onClick={onRetry}>
            Try again
          </Button>
          <Button onClick={() => goTo('security')}>Open Security</Button>
        </>
      }
    >
      <p className="text-text">{detail}</p>
      <p>
        Nothing is lost, and all but secrets goes on working. Until then, commands can run without them only.
      </p>
    </ProblemPanel>
  );
}
