import { useQuery } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import { queries } from '../api/queries.ts';
import { goTo } from '../frame/route.ts';
import { curlExample } from '../keys/curl-example.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';

/** How an agent gets at the active workspace: a key first, then a call that can be copied. */
export function NextSteps({ workspace }: { workspace: RecentProject }) {
  const { api } = usePanel();
  const keys = useQuery(queries.keys(api)).data;
  if (keys === undefined) return null;
  const hasKey = keys.some(
    (key) => key.status === 'active' && (key.scopes === 'agent' || key.scopes === 'admin'),
  );
  return (
    <section aria-label={`Use ${workspace.name}`} className="mt-5 rounded-lg border border-line bg-inset p-4">
      <div className="flex items-center gap-4">
        <div className="min-w-0 flex-1">
          <h2 className="font-semibold">Let an agent work in {workspace.name}</h2>
          <p className="mt-0.5 text-muted">
            {hasKey
              ? 'Give it one of your keys and this call. What it runs shows up under Jobs.'
              : 'An agent needs an API key that may run commands. Create one, then try it with this call.'}
          </p>
        </div>
        {hasKey ? (
          <Button onClick={() => goTo('jobs')}>
            Watch jobs
            <ArrowRight className="size-4" aria-hidden />
          </Button>
        ) : (
          <Button variant="primary" onClick={() => goTo('keys', 'new')}>
            Create API key
          </Button>
        )}
      </div>
      <div className="mt-3">
        <CodeBlock text={curlExample({ workspaceId: workspace.ws_id })} label="Copy the example call" />
      </div>
    </section>
  );
}
