import { join } from 'node:path';
import { isReservedName } from './files/reserved-names.ts';
import type { Clock } from './lib/clock.ts';
import type { Logger } from './lib/logger.ts';
import type { Door } from './mutations/mutation-plan.ts';
import { checkTimeout, type JobTable } from './shell/job-table.ts';
import type { ShellJobsOptions } from './shell/shell-jobs.ts';
import { SshHosts } from './ssh/config/ssh-hosts.ts';
import { SshConnections } from './ssh/connect/ssh-connections.ts';
import { AcceptedHostKeys } from './ssh/host-keys/store.ts';
import { Pulls } from './ssh/pull/pulls.ts';
import type { SshCore } from './ssh/routes.ts';
import { SshJobs } from './ssh/ssh-jobs.ts';

export interface SshCoreOptions extends Pick<ShellJobsOptions, 'bracketOf' | 'secretsOf'> {
  readonly dataDir: string;
  /** The SSH client configuration; where it is the user's own, undefined. */
  readonly configFile: string | undefined;
  readonly home: string;
  readonly user: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly jobs: JobTable;
  readonly door: Door;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** What speaks to other hosts. Loaded with the first call that needs it: it would be a good part of the start-up time. */
export function createSshCore(options: SshCoreOptions): SshCore & AsyncDisposable {
  const { dataDir, configFile, home, user, environment, logger, clock, door } = options;
  const hosts = new SshHosts({
    configFile: configFile ?? join(home, '.ssh', 'config'),
    ...(configFile === undefined ? {} : { systemConfigFile: null }),
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
  return {
    hosts,
    jobs: new SshJobs({ ...options, connections, checkTimeout }),
    pulls: new Pulls({ connections, door, isReservedName }),
    test: async (alias) => {
      // One that is open already would prove nothing.
      using lease = await connections.lease(alias, { fresh: true });
      const { connectedMs, server, keyType, fingerprint } = lease;
      return { connected_ms: connectedMs, server, key_type: keyType, fingerprint };
    },
    accept: (alias, request) => connections.accept(alias, request),
    [Symbol.asyncDispose]: () => connections[Symbol.asyncDispose](),
  };
}
