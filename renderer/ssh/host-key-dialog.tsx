import { useMutation } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { AcceptedHostKey } from '../../daemon/contract/ssh.ts';
import { problemText } from '../api/problem.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { hostKeyProblem } from './host-key-problem.ts';
import type { HostKeyQuestion } from './host-key-questions.ts';
import { readFingerprintCommand } from './host-words.ts';
import { KeyFact, KeyFacts } from './key-facts.tsx';
import { RefusedKey } from './refused-key.tsx';

/** Shows the key that a host was refused for. One that is not known can be accepted, any other can not. */
export function HostKeyDialog() {
  const { hostKeys } = usePanel();
  const question = useSyncExternalStore(hostKeys.subscribe, hostKeys.snapshot);
  const close = () => hostKeys.close();
  return (
    <Dialog open={question !== undefined} onClose={close} title={titleOf(question)} wide>
      {question?.kind === 'unknown' && <UnknownKey question={question} onClose={close} />}
      {question !== undefined && question.kind !== 'unknown' && (
        <RefusedKey kind={question.kind} hostKey={question.key} onClose={close} />
      )}
    </Dialog>
  );
}

function titleOf(question: HostKeyQuestion | undefined): string {
  if (question === undefined) return '';
  const { kind, key } = question;
  switch (kind) {
    case 'unknown':
      return `Is this really ${key.hop}?`;
    case 'changed':
      return `The host key of ${key.hop} has changed`;
    case 'revoked':
      return `The host key of ${key.hop} is revoked`;
    default:
      return kind satisfies never;
  }
}

function UnknownKey({ question, onClose }: { question: HostKeyQuestion; onClose: () => void }) {
  const { key } = question;
  const accept = useAccept(question);
  return (
    <>
      <p className="text-muted">
        This computer has not seen this host’s key before. Ask whoever runs the host for its fingerprint, and
        accept the key only if it is the same.
      </p>
      <KeyFacts hostKey={key}>
        <KeyFact name="Fingerprint" copy={key.fingerprint} strong>
          {key.fingerprint}
        </KeyFact>
      </KeyFacts>
      <p className="mt-4 mb-1.5 text-muted">On the host itself, this prints it:</p>
      <CodeBlock text={readFingerprintCommand(key.key_type)} />
      {accept.error !== null && (
        <p role="alert" className="mt-4 rounded-md bg-danger-soft px-3 py-2 text-danger-text">
          The key was not accepted. {problemText(accept.error)}
        </p>
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" disabled={accept.isPending} onClick={() => accept.mutate()}>
          Accept and continue
        </Button>
      </DialogActions>
    </>
  );
}

/** Makes the key known, and goes on with what it was asked for. */
function useAccept(question: HostKeyQuestion) {
  const { api, hostKeys } = usePanel();
  const { key, goOn } = question;
  return useMutation({
    mutationFn: () =>
      api.json<AcceptedHostKey>(`/api/shell/ssh-hosts/${encodeURIComponent(key.host)}/accept-key`, {
        method: 'POST',
        body: { hop: key.hop, fingerprint: key.fingerprint },
      }),
    onSuccess: () => {
      hostKeys.close();
      goOn();
    },
    onError: (error) => {
      // The host may have another key by now, or the user's files may revoke it.
      const other = hostKeyProblem(error);
      if (other !== undefined) hostKeys.ask({ ...other, goOn });
    },
  });
}
