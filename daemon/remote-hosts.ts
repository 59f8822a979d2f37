import { join } from 'node:path';
import { isReservedName } from './files/reserved-names.ts';
import type { OpenStreams } from './http/open-streams.ts';
import type { Route, WorkspaceOf } from './http/route.ts';
import type { Clock } from './lib/clock.ts';
import type { Logger } from './lib/logger.ts';
import type { Door } from './mutations/mutation-plan.ts';
import { checkTimeout, type JobTable } from './shell/job-table.ts';
import { streamJob } from './shell/routes.ts';
import type { ShellJobsOptions } from './shell/shell-jobs.ts';
import { SshHosts } from './ssh/config/ssh-hosts.ts';
import { SshConnections } from './ssh/connect/ssh-connections.ts';
import { AcceptedHostKeys } from './ssh/host-keys/store.ts';
import { Pulls } from './ssh/pull/pulls.ts';
import { sshRoutes } from './ssh/routes.ts';
import { SshJobs } from './ssh/ssh-jobs.ts';

export interface RemoteHostsOptions extends Pick<ShellJobsOptions, 'bracketOf' | 'secretsOf'> {
  readonly dataDir: string;
  /** The SSH client configuration; where it is the user's own, undefined. */
  readonly configFile: string | undefined;
  readonly home: string;
  readonly user: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly jobs: JobTable;
  readonly door: Door;
  readonly streams: OpenStreams;
  readonly workspaceOf: WorkspaceOf;
  readonly logger: Logger;
  readonly clock: Clock;
}

export interface RemoteHosts extends AsyncDisposable {
  readonly routes: readonly Route[];
}

/** Puts together what speaks to other hosts. Nothing is read or connected before it is asked for. */
export function remoteHosts(options: RemoteHostsOptions): RemoteHosts {
  const { dataDir, home, user, environment, logger, clock, door, streams, workspaceOf } = options;
  const hosts = new SshHosts({
    configFile: options.configFile ?? join(home, '.ssh', 'config'),
    ...(options.configFile === undefined ? {} : { systemConfigFile: null }),
    home,
    user,
    environment,
  });
  const connections = new SshConnections({
    resolve: (alias) => hosts.resolve(alias),
    hostKeys: new AcceptedHostKeys(join(dataDir, 'known_hosts')),
    logger,
    clock,
  });
  const jobs = new SshJobs({ ...options, connections, checkTimeout });
  const pulls = new Pulls({ connections, door, isReservedName });
  const test = async (alias: string) => {
    // One that is open already would prove nothing.
    using lease = await connections.lease(alias, { fresh: true });
    const { connectedMs, server, keyType, fingerprint } = lease;
    return { connected_ms: connectedMs, server, key_type: keyType, fingerprint };
  };
  const routes = sshRoutes({
    hosts,
    jobs,
    pulls,
    test,
    accept: (alias, request) => connections.accept(alias, request),
    streams,
    streamJob,
    workspaceOf,
  });
  return { routes, [Symbol.asyncDispose]: () => connections[Symbol.asyncDispose]() };
}
