import { useQuery } from '@tanstack/react-query';
import { KeyRound, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { MasterKeySource, MasterKeyStatus } from '../../daemon/contract/master-key.ts';
import { queries } from '../api/queries.ts';
import { goTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CopyIcon } from '../ui/copy-button.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { ExportKeyDialog } from './export-key-dialog.tsx';
import { ImportKeyDialog } from './import-key-dialog.tsx';
import { sourceNotes, sourceWords, stateTones, stateWords } from './master-key-words.ts';
import { RetiredKeys } from './retired-keys.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { RotationProgress } from './rotation-progress.tsx';
import { useRotate } from './use-rotate.ts';

/** The master key: where it is, how it stands, and what can be done with it. */
export function MasterKeySection({ rotating }: { rotating: boolean }) {
  const { api } = usePanel();
  const query = useQuery(queries.masterKey(api));
  return (
    <section aria-labelledby="master-key">
      <h2 id="master-key" className="mb-2 font-semibold">
        Master key
      </h2>
      {query.data === undefined ? (
        <QueryState query={query} what="the state of the master key" />
      ) : (
        <MasterKey status={query.data} asked={rotating} onRetry={() => void query.refetch()} />
      )}
    </section>
  );
}

type MasterKeyProps = { status: MasterKeyStatus; asked: boolean; onRetry: () => void };

function MasterKey({ status, asked, onRetry }: MasterKeyProps) {
  const [dialog, setDialog] = useState<'export' | 'import'>();
  const rotate = useRotate();
  const close = () => setDialog(undefined);
  const running = rotate.isPending || status.rotation?.running === true;
  // One that was cut short is finished first.
  const canRotate =
    status.managed && status.state === 'ready' && status.key_id !== null && status.rotation === null;
  return (
    <>
      {status.detail !== null && <Trouble status={status} onRetry={onRetry} />}
      <div className="rounded-lg border border-line">
        <dl className="divide-y divide-line">
          <Fact name="State">
            <Badge tone={stateTones[status.state]}>{stateWords(status)}</Badge>
          </Fact>
          <Fact name="Kept in">
            {status.source === null ? 'Nowhere yet' : sourceWords[status.source]}
            {status.source !== null && (
              <span className="min-w-0 truncate text-faint">{sourceNotes[status.source]}</span>
            )}
          </Fact>
          <Fact name="Key id">
            {status.key_id === null ? (
              <span className="text-faint">It is made with the first secret</span>
            ) : (
              <>
                <code className="font-mono text-xs">{status.key_id}</code>
                <CopyIcon text={status.key_id} label="Copy key id" />
              </>
            )}
          </Fact>
        </dl>
        <RotationProgress
          rotation={status.rotation}
          running={running}
          failure={rotate.error}
          onFinish={() => rotate.mutate()}
        />
        <RetiredKeys retired={status.retired} />
        <div className="flex flex-wrap items-center gap-2 border-t border-line bg-inset px-3 py-2.5">
          <Button small disabled={!canRotate || running} onClick={() => goTo('security', 'rotate')}>
            Rotate key…
          </Button>
          <Button
            small
            disabled={status.state !== 'ready' || status.key_id === null}
            onClick={() => setDialog('export')}
          >
            Export recovery key…
          </Button>
          <Button small onClick={() => setDialog('import')}>
            Import recovery key…
          </Button>
        </div>
      </div>
      {!status.managed && status.source !== null && status.state === 'ready' && (
        <NotManaged source={status.source} />
      )}
      <RotateDialog
        open={asked && canRotate && !running}
        onClose={() => goTo('security')}
        onRotate={() => {
          goTo('security');
          rotate.mutate();
        }}
      />
      <ExportKeyDialog open={dialog === 'export'} onClose={close} />
      <ImportKeyDialog open={dialog === 'import'} onClose={close} />
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-h-9 items-center gap-3 px-3 py-1">
      <dt className="w-[100px] shrink-0 text-muted">{name}</dt>
      <dd className="flex min-w-0 flex-1 items-center gap-2">{children}</dd>
    </div>
  );
}

function Trouble({ status, onRetry }: { status: MasterKeyStatus; onRetry: () => void }) {
  return (
    <div
      role="alert"
      className="mb-3 flex items-start gap-3 rounded-lg border border-warning/40 bg-warning-soft px-3 py-2.5"
    >
      <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warning-text" aria-hidden />
      <p className="min-w-0 flex-1 break-words">{status.detail}</p>
      <Button small onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
}

/** How to rotate a key that the daemon has no hand on. */
function NotManaged({ source }: { source: MasterKeySource }) {
  return (
    <div className="mt-3 flex gap-3 rounded-lg bg-inset px-3 py-2.5 text-muted">
      <KeyRound className="mt-0.5 size-4 shrink-0" aria-hidden />
      {source === 'environment' ? (
        <p>
          This key comes from <code className="font-mono text-xs">SERVICE_SECRET_KEY</code>, so it can’t be
          rotated here. To rotate it, import the same key here: that puts it into the keychain. Then start the
          daemon without that variable.
        </p>
      ) : (
        <p>
          The daemon may not write where this key is kept, so it can’t be rotated here. To rotate it, start
          the daemon as a user who may write the folder of the key file.
        </p>
      )}
    </div>
  );
}
