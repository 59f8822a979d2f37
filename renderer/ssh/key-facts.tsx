import type { ReactNode } from 'react';
import type { SshHostKey } from '../../daemon/contract/ssh.ts';
import { CopyIcon } from '../ui/copy-button.tsx';
import { keyTypeWords, placeOf } from './host-words.ts';

/** Whose key it is and of what kind; `children` are its fingerprints. */
export function KeyFacts({ hostKey, children }: { hostKey: SshHostKey; children: ReactNode }) {
  const { host, hop, hostname, port, key_type } = hostKey;
  return (
    <dl className="mt-4 divide-y divide-line rounded-lg border border-line">
      <KeyFact name="Host">
        {hop} <span className="text-faint">({placeOf(hostname, port)})</span>
        {hop !== host && <span className="text-muted">, on the way to {host}</span>}
      </KeyFact>
      <KeyFact name="Kind of key">{keyTypeWords(key_type)}</KeyFact>
      {children}
    </dl>
  );
}

type KeyFactProps = { name: string; children: ReactNode; copy?: string; strong?: boolean };

export function KeyFact({ name, children, copy, strong = false }: KeyFactProps) {
  return (
    <div className="flex min-h-9 items-center gap-3 py-1 pr-1 pl-3">
      <dt className="w-[104px] shrink-0 text-muted">{name}</dt>
      <dd
        className={`min-w-0 flex-1 wrap-anywhere select-text ${copy === undefined ? '' : 'font-mono text-xs'} ${strong ? 'font-semibold' : ''}`}
      >
        {children}
      </dd>
      {copy !== undefined && <CopyIcon text={copy} label={`Copy: ${name}`} />}
    </div>
  );
}
