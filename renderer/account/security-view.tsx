import { useEffect, useRef } from 'react';
import { ScrollView, ViewHeader } from '../ui/view-header.tsx';
import { AuditLog } from './audit-log.tsx';
import { MasterKeySection } from './master-key-section.tsx';

/** The key that all secrets are encrypted with, and the record of who used them. */
export function SecurityView({ selected }: { selected: string | null }) {
  const log = useRef<HTMLElement>(null);
  useEffect(() => {
    if (selected === 'audit-log') log.current?.scrollIntoView();
  }, [selected]);
  return (
    <ScrollView>
      <ViewHeader
        title="Security"
        note="The master key that encrypts the secrets of all workspaces, and the record of who used what."
      />
      <MasterKeySection rotating={selected === 'rotate'} />
      <section ref={log} aria-labelledby="audit-log" className="mt-8 scroll-mt-4">
        <h2 id="audit-log" className="font-semibold">
          Audit log
        </h2>
        <p className="mt-0.5 mb-3 text-muted">
          Every use of secrets and keys, newest first. It is only ever added to, and holds no values.
        </p>
        <AuditLog />
      </section>
    </ScrollView>
  );
}
