import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { LoginTokens } from './account/login-tokens.ts';
import { sessionRoutes } from './account/routes.ts';
import { Sessions, sessionTokenPrefix } from './account/sessions.ts';
import { ApiKeys } from './api-keys/api-keys.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { AuditLog } from './audit/audit-log.ts';
import { auditRoutes } from './audit/routes.ts';
import type { Config } from './config.ts';
import type { DaemonStatus } from './contract/daemon.ts';
import type { WorkspaceId } from './contract/ids.ts';
import { fileRoutes } from './files/routes.ts';
import { createApp } from './http/app.ts';
import { EventHub } from './http/event-hub.ts';
import { OpenStreams } from './http/open-streams.ts';
import { describeApi } from './http/openapi.ts';
import { RateLimiter } from './http/rate-limit.ts';
import { credentialId, type Principal, type Route, type WorkspaceOf } from './http/route.ts';
import { type LoopbackServer, listenOnLoopback } from './http/server.ts';
import { systemRoutes } from './http/system-routes.ts';
import { type Clock, systemClock, timestamp } from './lib/clock.ts';
import { acquireDataFolderLock } from './lib/data-folder-lock.ts';
import { removeStaleTempFiles } from './lib/durable-file.ts';
import { makeFolderDurably } from './lib/durable-folder.ts';
import { createLogger, type Logger } from './lib/logger.ts';
import { sliceOf } from './lib/state-slice.ts';
import { masterKeyRoutes } from './master-key/routes.ts';
import type { Mutations } from './mutations/mutations.ts';
import { rollbackRoutes } from './mutations/routes.ts';
import { receiptRoutes } from './receipts/routes.ts';
import { remoteHosts } from './remote-hosts.ts';
import { secretRoutes } from './secrets/routes.ts';
import { childEnvironment } from './shell/child-environment.ts';
import type { PortLeases } from './shell/free-port.ts';
import { JobTable } from './shell/job-table.ts';
import { sweepOrphans } from './shell/orphans.ts';
import { RecentCommands } from './shell/recent-commands.ts';
import { shellRoutes } from './shell/routes.ts';
import { ShellJobs } from './shell/shell-jobs.ts';
import { openRecents, RunningJobs } from './shell/store.ts';
import { openState } from './state.ts';
import { version } from './version.ts';
import { hasLeftovers, workspaceDoors } from './workspace-doors.ts';
import { newSecretMasks, workspaceSecrets } from './workspace-secrets.ts';
import { projectRoutes } from './workspaces/routes.ts';
import { workspaceFolder } from './workspaces/store.ts';
import { Workspaces } from './workspaces/workspaces.ts';

/** What tests put in the place of the real thing. */
export interface Overrides {
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly ports?: PortLeases;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  /** Milliseconds that an exit frame waits for the command's receipt. */
  readonly settleMs?: number;
}

export interface Daemon extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly version: string;
  readonly routes: readonly Route[];
  /** A one-time token that signs a person in, good for five minutes. */
  mintLoginToken(): string;
  runningJobs(): number;
  /** Resolves when the daemon can't go on: the disk failed a write. */
  readonly failed: Promise<Error>;
}

/** Jobs get this long to end when the daemon does; with the rest it stays under five seconds. */
const shutdownJobsMs = 3_500;
/** Long enough not to stand in the way of who waits for the daemon to start. */
const warmUpMs = 200;
const builtRoot = join(import.meta.dirname, '..');

/**
 * The composition root. Resolves once requests are accepted; disposing ends the jobs, then all the rest, within 5 s.
 *
 * @throws DataFolderHeldError where another daemon has the data folder; the listen error where the port is taken
 */
export async function createDaemon(config: Config, overrides: Overrides = {}): Promise<Daemon> {
  const stack = new AsyncDisposableStack();
  try {
    return await compose(config, overrides, stack);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** What is on `stack` is ended with the daemon, last first. */
async function compose(config: Config, overrides: Overrides, stack: AsyncDisposableStack): Promise<Daemon> {
  const { dataDir, env } = config;
  const { clock = systemClock, graceMs } = overrides;
  await makeFolderDurably(dataDir);
  const lock = stack.adopt(await acquireDataFolderLock(dataDir), (held) => held.release());
  const masks = newSecretMasks();
  const logger =
    overrides.logger ?? createLogger(config.logLevel, join(dataDir, 'logs'), (line) => masks.all.text(line));
  const notices: string[] = [];
  const notice = (message: string) => {
    // What is met again and again is told once.
    if (!notices.includes(message)) notices.push(message);
    logger.warn(message);
  };
  await removeStaleTempFiles(dataDir);
  const failure = Promise.withResolvers<Error>();
  const state = stack.use(
    await openState({ dataDir, nowMs: clock(), onSetAside: notice, onFatal: failure.resolve }),
  );

  const events = new EventHub(clock());
  const publish = events.publish.bind(events);
  const streams = new OpenStreams();
  const keys = new ApiKeys({ slice: sliceOf(state, 'keys'), env, clock });
  const userId = state.value.account.user_id;
  const sessions = new Sessions({ slice: sliceOf(state, 'sessions'), userId, clock });
  const loginTokens = new LoginTokens(clock);
  const workspaces = new Workspaces({ slice: sliceOf(state, 'workspaces'), dataDir, clock });

  const callers = [
    ...state.value.keys.map(({ key_id }) => key_id),
    ...state.value.sessions.map(({ session_id }) => session_id),
  ];
  workspaces.keepCallers(new Set(callers));

  const runningJobs = stack.use(new RunningJobs(dataDir));
  const recents = stack.use(
    new RecentCommands(async (wsId) => {
      const folder = workspaceFolder(dataDir, workspaces.byId(wsId).slug);
      await makeFolderDurably(folder);
      return openRecents(folder, { onSetAside: notice, onFatal: failure.resolve });
    }),
  );
  const audit = stack.use(
    await AuditLog.open({ dataDir, clock, onNotice: notice, onFatal: failure.resolve }),
  );
  const { keys: masterKeys, ...vault } = workspaceSecrets({
    dataDir,
    environmentKey: config.environment.SERVICE_SECRET_KEY,
    keyFile: config.keyFile,
    useKeychain: config.useKeychain,
    slices: { masterKey: sliceOf(state, 'master_key'), secrets: sliceOf(state, 'secrets') },
    masks,
    workspaces: () => state.value.workspaces.list.map((record) => ({ ...record, wsId: record.ws_id })),
    door: () => doors,
    audit,
    publish,
    clock,
    notice,
  });
  const doors: Mutations = stack.use(
    workspaceDoors({
      secrets: vault.forDoors,
      dataDir,
      useKeychain: config.useKeychain,
      userId,
      slice: sliceOf(state, 'receipts'),
      clock,
      logger,
      publish,
      notice,
      onFatal: failure.resolve,
    }),
  );
  const jobs = stack.use(
    new JobTable({
      recents,
      runningJobs,
      publish,
      logger,
      clock,
      ...(graceMs === undefined ? {} : { graceMs }),
      ...(overrides.settleMs === undefined ? {} : { settleMs: overrides.settleMs }),
    }),
  );
  const shell = stack.use(
    new ShellJobs({
      jobs,
      bracketOf: (workspace) => doors.bracket(workspace),
      secretsOf: vault.forCommands,
      environment: childEnvironment(config.environment),
      ...(overrides.ports === undefined ? {} : { ports: overrides.ports }),
    }),
  );
  const remote = stack.use(
    remoteHosts({
      dataDir,
      configFile: config.sshConfig,
      home: homedir(),
      user: userInfo().username,
      environment: config.environment,
      jobs,
      bracketOf: (workspace) => doors.bracket(workspace),
      secretsOf: vault.forCommands,
      door: doors,
      streams,
      workspaceOf: (call) => workspaceOf(call),
      logger,
      clock,
    }),
  );
  const swept = await sweepOrphans({ runningJobs, recents, nowMs: clock(), logger });
  if (swept > 0)
    notice(
      `The daemon had not ended properly; what it left running was ended: ${swept === 1 ? '1 command' : `${swept} commands`}.`,
    );

  for (const { slug } of state.value.workspaces.list)
    await removeStaleTempFiles(workspaceFolder(dataDir, slug));
  const prepareDoor = (wsId: WorkspaceId) =>
    doors.prepare({ ...workspaces.byId(wsId), wsId }, (error) =>
      logger.warn({ err: error, wsId }, 'the workspace could not be opened'),
    );
  for (const { ws_id, slug } of state.value.workspaces.list)
    if (hasLeftovers(dataDir, slug)) prepareDoor(ws_id);

  const workspaceOf: WorkspaceOf = ({ principal, namedWorkspace }) =>
    workspaces.resolve(credentialId(principal), namedWorkspace);
  const authenticate = (credential: string): Principal => {
    if (credential.startsWith(sessionTokenPrefix))
      return { kind: 'session', sessionId: sessions.authenticate(credential), userId, scope: 'admin' };
    return { kind: 'key', userId, ...keys.authenticate(credential) };
  };

  const startedMs = clock();
  let server: LoopbackServer | undefined;
  const status = (): DaemonStatus => ({
    version,
    env,
    url: server?.url ?? '',
    pid: process.pid,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    data_dir: dataDir,
    started_at: timestamp(startedMs),
    memory_bytes: process.memoryUsage.rss(),
    running_jobs: jobs.runningCount,
    open_streams: streams.count,
    notices,
  });

  const routes: Route[] = [
    ...systemRoutes({ version, status, events, streams, openapi: () => describeApi(routes, version) }),
    ...sessionRoutes({
      sessions,
      loginTokens,
      activeWorkspace: (sessionId) => workspaces.activeOf(sessionId),
      onEnded: (sessionId) => {
        streams.endForSession(sessionId);
        workspaces.forgetCaller(sessionId);
      },
    }),
    ...apiKeyRoutes({
      keys,
      publish,
      audit: (record) => audit.append(record),
      onRevoked: (keyId) => {
        jobs.endJobsOfKey(keyId);
        streams.endForKey(keyId);
        workspaces.forgetCaller(keyId);
      },
    }),
    ...projectRoutes({ workspaces, publish, onLoaded: prepareDoor }),
    ...fileRoutes({ door: doors, workspaceOf }),
    ...shellRoutes({ jobs, shell, recents, streams, workspaceOf }),
    ...receiptRoutes({
      streams,
      receiptsOf: ({ principal, namedWorkspace }, named) =>
        doors.receiptsOf(workspaceOf({ principal, namedWorkspace: named ?? namedWorkspace })),
    }),
    ...rollbackRoutes({ mutations: doors, workspaceOf }),
    ...secretRoutes({ secrets: vault.secrets, workspaceOf }),
    ...remote.routes,
    ...masterKeyRoutes({ keys: masterKeys, rotation: vault.rotation, audit, publish }),
    ...auditRoutes({ auditLog: audit }),
  ];
  const rateLimiter = new RateLimiter(config.requestsPerMinute, clock);
  const pages = { panelDir: join(builtRoot, 'panel'), docsDir: join(builtRoot, 'docs') };
  const app = createApp({
    routes,
    logger,
    mask: (text) => masks.all.text(text),
    version,
    pages,
    authenticate,
    rateLimiter,
  });
  server = stack.use(await listenOnLoopback({ port: config.port, version, logger, app }));
  // Who waits for the daemon need not wait for this too: until it is written, others see a daemon that is starting.
  const published = lock.publish({ url: server.url, version }).catch(failure.resolve);
  stack.defer(() => published);
  // Last in, first out: no new requests, then the jobs end and say so, then the streams, the server and the stores.
  stack.use(events);
  stack.defer(() => jobs.shutdown(shutdownJobsMs));
  stack.defer(() => server?.stopAccepting());
  setTimeout(() => shell.warmUp(), warmUpMs).unref();
  logger.info({ url: server.url, dataDir, env, version }, 'listening');

  return {
    url: server.url,
    port: server.port,
    version,
    routes,
    mintLoginToken: () => loginTokens.mint(),
    runningJobs: () => jobs.runningCount,
    failed: failure.promise,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
