import { useQuery } from '@tanstack/react-query';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';
import { CodeBlock } from '../ui/code-block.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { countWords } from '../ui/time-words.ts';
import { verifyCommand } from './verify-command.ts';

type ChainHeadDialogProps = { workspace: RecentProject; open: boolean; onClose: () => void };

/** The one hash that stands for the whole chain, and how to check it without this daemon. */
export function ChainHeadDialog({ workspace, open, onClose }: ChainHeadDialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      wide
      title="Chain head"
      description="The hash of the newest receipt stands for all before it. Keep it where nobody on this computer can change it: whoever has it can tell whether the chain was rewritten since."
    >
      <Head workspace={workspace} />
    </Dialog>
  );
}

function Head({ workspace }: { workspace: RecentProject }) {
  const { api } = usePanel();
  const query = useQuery(queries.chainHead(api, workspace.ws_id));
  if (query.data === undefined) return <QueryState query={query} what="the chain head" />;
  return (
    <div className="space-y-4">
      <section>
        <h3 className="mb-1.5 font-medium">Head of {countWords(query.data.count, 'receipt')}</h3>
        <CodeBlock text={query.data.head} label="Copy head hash" />
      </section>
      <section>
        <h3 className="mb-1.5 font-medium">Verify it without the daemon</h3>
        <CodeBlock text={verifyCommand(workspace.path, query.data)} label="Copy verify command" />
      </section>
    </div>
  );
}
