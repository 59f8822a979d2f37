import { CircleAlert, ShieldCheck, ShieldX, Wrench, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { ChainVerdict, Fault } from '../../daemon/contract/receipts.ts';
import { routeTo } from '../frame/route.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { CopyIcon } from '../ui/copy-button.tsx';
import { countWords, exactTime } from '../ui/time-words.ts';
import { shortHash } from './receipt-words.ts';
import type { ChainVerifier } from './use-verify-chain.ts';

type ChainVerificationProps = { workspace: RecentProject; verification: ChainVerifier };

/** How the verification of the whole chain goes, and then what it found, until it is put away. */
export function ChainVerification({ workspace, verification }: ChainVerificationProps) {
  const { state, dismiss, start } = verification;
  switch (state.phase) {
    case 'idle':
      return null;
    case 'running':
      return <Progress checked={state.checked} total={state.total} onStop={dismiss} />;
    case 'done':
      return (
        <Verdict verdict={state.verdict} at={state.at} workspaceName={workspace.name} onClose={dismiss} />
      );
    case 'failed':
      return (
        <Band tone="neutral" icon={<CircleAlert />} title="The chain was not verified" onClose={dismiss}>
          <p>{state.detail} This says nothing about the chain itself.</p>
          <Button small className="mt-2" onClick={start}>
            Try again
          </Button>
        </Band>
      );
    default:
      return state satisfies never;
  }
}

function Progress({ checked, total, onStop }: { checked: number; total: number; onStop: () => void }) {
  const words =
    total === 0
      ? 'Reading the chain…'
      : `${checked.toLocaleString('en')} of ${countWords(total, 'receipt')} verified`;
  return (
    <section
      aria-label="Verification"
      className="flex items-center gap-4 border-b border-line bg-inset px-4 py-3"
    >
      <div className="min-w-0 flex-1">
        <p className="mb-1.5 text-xs text-muted tabular-nums">{words}</p>
        <progress
          aria-label="Receipts verified"
          {...(total === 0 ? {} : { value: checked, max: total })}
          className="progress block h-1.5 w-full"
        />
      </div>
      <Button small onClick={onStop}>
        Stop
      </Button>
    </section>
  );
}

type VerdictProps = { verdict: ChainVerdict; at: string; workspaceName: string; onClose: () => void };

function Verdict({ verdict, at, workspaceName, onClose }: VerdictProps) {
  const { fault, valid } = verdict;
  return (
    <>
      {valid ? (
        <Band
          tone="success"
          icon={<ShieldCheck />}
          title={`Chain is intact: ${countWords(verdict.count, 'receipt')}`}
          onClose={onClose}
        >
          <p>
            Every byte, hash and link of the chain of {workspaceName} is as it was written.{' '}
            {signatureWords[verdict.signature]}
          </p>
          {verdict.head !== null && (
            <p className="mt-1 flex items-center gap-1">
              Head <code className="font-mono text-xs">{shortHash(verdict.head)}</code>
              <CopyIcon text={verdict.head} label="Copy verified head hash" />
              <span className="text-faint">verified {exactTime(at)}</span>
            </p>
          )}
        </Band>
      ) : (
        <Band tone="danger" icon={<ShieldX />} title={faultTitle(fault)} onClose={onClose}>
          {fault !== null && <p>{fault.detail}</p>}
          <p className="mt-1">
            {countWords(verdict.checked, 'receipt')} checked of {verdict.count.toLocaleString('en')}.{' '}
            {signatureWords[verdict.signature]}
          </p>
          {fault?.receipt_id != null && (
            <p className="mt-1">
              <a
                className="font-medium underline underline-offset-2"
                href={routeTo('receipts', fault.receipt_id)}
              >
                Show the receipt
              </a>
            </p>
          )}
        </Band>
      )}
      {verdict.repairs.length > 0 && <Repairs repairs={verdict.repairs} />}
    </>
  );
}

function faultTitle(fault: Fault | null): string {
  if (fault === null) return 'Tampering found';
  if (fault.receipt_id === null) return `Tampering found: ${fault.field}`;
  return `Tampering found: field ${fault.field} of receipt ${fault.receipt_id}`;
}

function Repairs({ repairs }: { repairs: string[] }) {
  return (
    <Band
      tone="neutral"
      icon={<Wrench />}
      title={`${countWords(repairs.length, 'repair')} after a crash, none of it tampering`}
    >
      <ul className="list-disc pl-4">
        {repairs.map((repair) => (
          <li key={repair}>{repair}</li>
        ))}
      </ul>
    </Band>
  );
}

const signatureWords: Record<ChainVerdict['signature'], string> = {
  verified: 'The signature of the checkpoint is right.',
  unverified: 'The signature of the checkpoint was not checked: its key is not at hand.',
  missing: 'There is no signed checkpoint.',
  invalid: 'The signature of the checkpoint is wrong.',
};

type BandProps = {
  tone: 'success' | 'danger' | 'neutral';
  icon: ReactNode;
  title: string;
  children: ReactNode;
  onClose?: () => void;
};

function Band({ tone, icon, title, children, onClose }: BandProps) {
  return (
    <section
      aria-label="Verification"
      role={tone === 'danger' ? 'alert' : 'status'}
      className={classNames(
        'flex items-start gap-3 border-b border-l-4 px-4 py-3 [&>svg]:mt-px [&>svg]:size-5 [&>svg]:shrink-0',
        bandTones[tone],
      )}
    >
      {icon}
      <div className="min-w-0 flex-1 select-text">
        <h2 className="text-base font-semibold break-words">{title}</h2>
        <div className="mt-0.5 break-words">{children}</div>
      </div>
      {onClose !== undefined && (
        <IconButton label="Put the verdict away" onClick={onClose}>
          <X />
        </IconButton>
      )}
    </section>
  );
}

const bandTones = {
  success: 'border-b-line border-l-success bg-success-soft text-success-text',
  danger: 'border-b-line border-l-danger bg-danger-soft text-danger-text',
  neutral: 'border-b-line border-l-line-strong bg-inset text-muted',
};
