/** What the SSH client configuration says of one alias, every setting resolved: `ssh -G` without running anything. */
export interface ResolvedHost {
  readonly alias: string;
  readonly hostname: string;
  readonly port: number;
  readonly user: string;
  /** Absolute paths, in the order to try; they need not be there. */
  readonly identityFiles: readonly string[];
  /** Only these keys are offered, even where the agent has more. */
  readonly identitiesOnly: boolean;
  /** Socket of the agent; null where none is to be asked. */
  readonly identityAgent: string | null;
  /** The hosts on the way, first hop first; each without a way of its own. */
  readonly proxyJump: readonly ResolvedHost[];
  /** Absolute paths; they need not be there. */
  readonly knownHostsFiles: readonly string[];
  /** Name that the host's key is looked up by, in place of the host's own. */
  readonly hostKeyAlias: string | null;
  readonly connectTimeoutMs: number;
  /** 0: no keep-alive messages. */
  readonly serverAliveIntervalMs: number;
  /** So many of them may go unanswered. */
  readonly serverAliveCountMax: number;
}
