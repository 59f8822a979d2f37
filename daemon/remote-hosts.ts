import type { OpenStreams } from './http/open-streams.ts';
import type { Route, WorkspaceOf } from './http/route.ts';
import { streamJob } from './shell/routes.ts';
import { sshRoutes } from './ssh/routes.ts';
import type { createSshCore, SshCoreOptions } from './ssh-core.ts';

export interface RemoteHostsOptions extends SshCoreOptions {
  readonly streams: OpenStreams;
  readonly workspaceOf: WorkspaceOf;
}

export interface RemoteHosts extends AsyncDisposable {
  readonly routes: readonly Route[];
}

/** The routes to other hosts. What is behind them is loaded when one is called for the first time. */
export function remoteHosts(options: RemoteHostsOptions): RemoteHosts {
  const { streams, workspaceOf } = options;
  let loading: Promise<ReturnType<typeof createSshCore>> | undefined;
  const core = () => {
    loading ??= import('./ssh-core.ts').then((module) => module.createSshCore(options));
    return loading;
  };
  return {
    routes: sshRoutes({ core, streams, streamJob, workspaceOf }),
    [Symbol.asyncDispose]: async () => (await loading)?.[Symbol.asyncDispose](),
  };
}
