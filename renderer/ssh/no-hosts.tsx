import { RotateCw, Server } from 'lucide-react';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { EmptyState } from '../ui/empty-state.tsx';

/** How to add a host, where there is none. */
export function NoHosts({ onRefresh }: { onRefresh: () => void }) {
  return (
    <div className="h-full overflow-y-auto">
      <h1 className="sr-only">SSH hosts</h1>
      <EmptyState icon={<Server />} title="No SSH hosts yet">
        Hosts come from your SSH configuration. Add one to{' '}
        <code className="font-mono text-xs whitespace-nowrap">~/.ssh/config</code>, and run commands on it or
        pull files from it.
      </EmptyState>
      <div className="mx-auto -mt-8 flex max-w-[420px] flex-col gap-4 px-6 pb-10">
        <CodeBlock text={example} label="Copy the example" />
        <Button className="self-center" onClick={onRefresh}>
          <RotateCw className="size-4" aria-hidden />
          Look again
        </Button>
      </div>
    </div>
  );
}

const example = `Host web-1
  HostName web-1.example.com
  User deploy
  IdentityFile ~/.ssh/id_ed25519`;
