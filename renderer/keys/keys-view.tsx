import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import type { CreatedKey, KeyListing } from '../../daemon/contract/api-keys.ts';
import { queries } from '../api/queries.ts';
import { goTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { countWords } from '../ui/time-words.ts';
import { ScrollView, ViewHeader } from '../ui/view-header.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyTable } from './key-table.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';
import { RevokeDialog } from './revoke-dialog.tsx';

export function KeysView({ creating }: { creating: boolean }) {
  const { api } = usePanel();
  const keys = useQuery(queries.keys(api));
  const [created, setCreated] = useState<CreatedKey>();
  const [revoking, setRevoking] = useState<KeyListing>();
  const create = (
    <Button variant="primary" onClick={() => goTo('keys', 'new')}>
      <Plus className="size-4" aria-hidden />
      Create key
    </Button>
  );
  return (
    <ScrollView>
      <ViewHeader
        title="API keys"
        note="What an agent signs in with. Each key can be revoked on its own."
        action={create}
      />
      {keys.data === undefined && <QueryState query={keys} what="API keys" />}
      {keys.data?.length === 0 && (
        <div className="rounded-lg border border-dashed border-line-strong">
          <EmptyState icon={<KeyRound />} title="No API key yet" action={create}>
            Give each agent a key of its own: then you can tell what it did, and stop it without stopping the
            others.
          </EmptyState>
        </div>
      )}
      {keys.data !== undefined && keys.data.length > 0 && <Keys keys={keys.data} onRevoke={setRevoking} />}
      <CreateKeyDialog open={creating} onClose={() => goTo('keys')} onCreated={setCreated} />
      <NewKeyDialog created={created} onClose={() => setCreated(undefined)} />
      <RevokeDialog apiKey={revoking} onClose={() => setRevoking(undefined)} />
    </ScrollView>
  );
}

function Keys({ keys, onRevoke }: { keys: KeyListing[]; onRevoke: (key: KeyListing) => void }) {
  const [showOld, setShowOld] = useState(false);
  const active = keys.filter((key) => key.status === 'active');
  const old = keys.filter((key) => key.status !== 'active');
  return (
    <>
      {active.length === 0 && <p className="pb-3 text-muted">None of your keys works now.</p>}
      {active.length > 0 && <KeyTable keys={active} label="Active keys" onRevoke={onRevoke} />}
      {old.length > 0 && (
        <div className="mt-4">
          <Button small variant="ghost" aria-expanded={showOld} onClick={() => setShowOld(!showOld)}>
            {showOld ? 'Hide' : 'Show'} {countWords(old.length, 'revoked or expired key')}
          </Button>
          {showOld && (
            <div className="mt-2">
              <KeyTable keys={old} label="Revoked and expired keys" />
            </div>
          )}
        </div>
      )}
    </>
  );
}
