import { useQuery } from '@tanstack/react-query';
import { ClipboardPaste, Plus } from 'lucide-react';
import { useState } from 'react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { SecretListing } from '../../daemon/contract/secrets.ts';
import { queries } from '../api/queries.ts';
import { goTo, routeTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { ScrollView, ViewHeader } from '../ui/view-header.tsx';
import { DeleteSecretDialog } from './delete-secret-dialog.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { KeyProblem } from './key-problem.tsx';
import { NoSecrets } from './no-secrets.tsx';
import { RevealDialog } from './reveal-dialog.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { SecretList } from './secret-list.tsx';
import { SecretProblem } from './secret-problem.tsx';
import { secretStorePath } from './secret-store-path.ts';

type WorkspaceSecretsProps = { workspace: RecentProject; selected: string | null };

export function WorkspaceSecrets({ workspace, selected }: WorkspaceSecretsProps) {
  const { api } = usePanel();
  const query = useQuery(queries.secrets(api, workspace.ws_id));
  const [asked, setAsked] = useState<{ deed: Deed; secret: SecretListing }>();
  // A list from before the key was locked or the store was damaged no longer tells what can be done.
  const secrets = query.error === null ? query.data : undefined;
  const ask = (deed: Deed) => (secret: SecretListing) => setAsked({ deed, secret });
  const askedFor = (deed: Deed) => (asked?.deed === deed ? asked.secret : undefined);
  const done = () => setAsked(undefined);
  const close = () => goTo('secrets');
  return (
    <ScrollView>
      <ViewHeader
        title="Secrets"
        note="Commands get these as environment variables. Their output shows *** instead."
        action={secrets !== undefined && secrets.length > 0 && <Actions />}
      />
      {secrets === undefined && (
        <SecretProblem workspace={workspace} query={query} onRetry={() => void query.refetch()} />
      )}
      {secrets?.length === 0 && <FirstSecret workspaceName={workspace.name} />}
      {secrets !== undefined && secrets.length > 0 && (
        <SecretList
          secrets={secrets}
          onReveal={ask('reveal')}
          onChange={ask('change')}
          onDelete={ask('delete')}
        />
      )}
      {secrets !== undefined && (
        <p className="mt-3 text-xs text-faint">
          Every change has a{' '}
          <a className={linkClasses} href={routeTo('receipts', undefined, { path: secretStorePath })}>
            receipt
          </a>{' '}
          and can be rolled back. The{' '}
          <a className={linkClasses} href={routeTo('security', 'audit-log')}>
            audit log
          </a>{' '}
          says who looked.
        </p>
      )}
      {secrets !== undefined && (
        <>
          <SecretDialog
            workspaceId={workspace.ws_id}
            open={selected === 'new' || askedFor('change') !== undefined}
            secret={askedFor('change')}
            secrets={secrets}
            onClose={selected === 'new' ? close : done}
          />
          <ImportDialog workspaceId={workspace.ws_id} open={selected === 'import'} onClose={close} />
          <RevealDialog workspaceId={workspace.ws_id} secret={askedFor('reveal')} onClose={done} />
          <DeleteSecretDialog workspaceId={workspace.ws_id} secret={askedFor('delete')} onClose={done} />
        </>
      )}
    </ScrollView>
  );
}

type Deed = 'reveal' | 'change' | 'delete';

/** Without a key there is nothing to open, but nothing can be added either: better said before than after. */
function FirstSecret({ workspaceName }: { workspaceName: string }) {
  const { api } = usePanel();
  const key = useQuery(queries.masterKey(api));
  if (key.data === undefined || key.data.state === 'ready')
    return <NoSecrets workspaceName={workspaceName} action={<Actions />} />;
  const { state, detail } = key.data;
  return <KeyProblem state={state} detail={detail ?? ''} onRetry={() => void key.refetch()} />;
}

function Actions() {
  return (
    <span className="flex shrink-0 gap-2">
      <Button onClick={() => goTo('secrets', 'import')}>
        <ClipboardPaste className="size-4" aria-hidden />
        Paste .env
      </Button>
      <Button variant="primary" onClick={() => goTo('secrets', 'new')}>
        <Plus className="size-4" aria-hidden />
        Add secret
      </Button>
    </span>
  );
}

const linkClasses = 'text-muted underline underline-offset-2 hover:text-text';
