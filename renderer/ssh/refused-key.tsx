import { useQuery } from '@tanstack/react-query';
import { ShieldAlert } from 'lucide-react';
import type { SshHostKey } from '../../daemon/contract/ssh.ts';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { DialogActions } from '../ui/dialog.tsx';
import { forgetKeyCommand } from './host-words.ts';
import { KeyFact, KeyFacts } from './key-facts.tsx';

type RefusedKeyProps = { kind: 'changed' | 'revoked'; hostKey: SshHostKey; onClose: () => void };

/** A key that nothing here can override: why that is, and what is left to do. */
export function RefusedKey({ kind, hostKey, onClose }: RefusedKeyProps) {
  return (
    <>
      <div role="alert" className="flex gap-3 rounded-lg bg-danger-soft px-4 py-3 text-danger-text">
        <ShieldAlert className="mt-0.5 size-5 shrink-0" aria-hidden />
        <p className="font-medium">{warnings[kind]}</p>
      </div>
      <KeyFacts hostKey={hostKey}>
        <KeyFact name="Offered now" copy={hostKey.fingerprint} strong>
          {hostKey.fingerprint}
        </KeyFact>
        {hostKey.known_fingerprints.map((fingerprint) => (
          <KeyFact key={fingerprint} name={kind === 'changed' ? 'Known' : 'Revoked'} copy={fingerprint}>
            {fingerprint}
          </KeyFact>
        ))}
      </KeyFacts>
      {kind === 'changed' ? (
        <ForgetOldKey hostKey={hostKey} />
      ) : (
        <p className="mt-4 text-muted">
          Ask whoever runs the host which key it should have. It can be used again once it has another one.
        </p>
      )}
      <DialogActions>
        <Button variant="primary" onClick={onClose}>
          Close
        </Button>
      </DialogActions>
    </>
  );
}

const warnings: Record<RefusedKeyProps['kind'], string> = {
  changed:
    'Someone may be between you and the host and read along. Or the host was set up anew. Nothing was run and nothing was sent.',
  revoked:
    'Your known_hosts says that this key must not be trusted any more: it may be in the wrong hands. Nothing was run and nothing was sent.',
};

function ForgetOldKey({ hostKey }: { hostKey: SshHostKey }) {
  const { api } = usePanel();
  const folder = useQuery(queries.status(api)).data?.data_dir;
  return (
    <div className="mt-4 space-y-1.5">
      <p className="text-muted">
        Find out why from whoever runs the host. Only if the new key is right, forget the old one in a
        terminal, and try again:
      </p>
      <CodeBlock text={forgetKeyCommand(hostKey)} />
      {folder !== undefined && (
        <>
          <p className="pt-1 text-muted">Or this, if the old key was accepted here in the panel:</p>
          <CodeBlock text={forgetKeyCommand(hostKey, `${folder}/known_hosts`)} />
        </>
      )}
    </div>
  );
}
