import type { ResolvedHost } from '../resolved-host.ts';
import type { ConfigNode } from './config-tree.ts';
import { type Evaluation, evaluateConfig, type Preset } from './evaluate-config.ts';
import { expandTokens, type Tokens } from './expand-tokens.ts';
import type { WrittenHop } from './jump-hops.ts';
import { defaultPort, type Here, hopTokens, resolveSettings } from './resolve-settings.ts';
import type { ConfigStore } from './store.ts';
import { type Obstacle, whyNoKey, whyUnsupported } from './why-unsupported.ts';

export const maxHops = 8;

export interface Resolution {
  readonly isLiteral: boolean;
  /** What could be found out, also where the host can't be used: to be shown. */
  readonly host: Pick<ResolvedHost, 'user' | 'hostname' | 'port'>;
  readonly way: readonly string[];
  readonly result: ResolvedHost | Obstacle;
}

export interface Surroundings {
  readonly roots: readonly ConfigNode[];
  readonly here: Here;
  readonly store: Pick<ConfigStore, 'exists' | 'isSecurityKey'>;
}

/** All there is to say about an alias, the hosts on the way to it included. */
export async function resolveAlias(alias: string, surroundings: Surroundings): Promise<Resolution> {
  const { roots, here } = surroundings;
  const evaluation = evaluateConfig(roots, alias, here.user);
  const { settings, hostname, isLiteral } = evaluation;
  const host = { user: settings.user ?? here.user, hostname, port: settings.port ?? defaultPort };
  const result = await resolveEvaluated(alias, evaluation, surroundings);
  const written = (settings.proxyJump ?? []).map((hop) => hop.host);
  return 'code' in result
    ? { isLiteral, host, way: written, result }
    : { isLiteral, host, way: result.proxyJump.map((hop) => hop.alias), result };
}

async function resolveEvaluated(
  alias: string,
  evaluation: Evaluation,
  surroundings: Surroundings,
): Promise<ResolvedHost | Obstacle> {
  try {
    const end = await resolveOne(alias, evaluation, surroundings);
    if ('code' in end) return end;
    const way = await resolveWay(end, evaluation, { surroundings, visited: [place(end)] });
    if ('code' in way) return way;
    return { ...end, proxyJump: way.hops };
  } catch (error) {
    return { code: 'ssh_host_unsupported', reason: messageOf(error) };
  }
}

/** One host, without the way there. */
async function resolveOne(
  alias: string,
  evaluation: Evaluation,
  { here, store }: Surroundings,
): Promise<ResolvedHost | Obstacle> {
  if (evaluation.problem !== null) return { code: 'ssh_host_unsupported', reason: evaluation.problem };
  const obstacle = whyUnsupported(evaluation.settings);
  if (obstacle !== null) return obstacle;
  const host = resolveSettings(alias, evaluation, here);
  return (await whyNoKey(host, evaluation.settings, store)) ?? host;
}

interface Walk {
  readonly surroundings: Surroundings;
  /** Places that lead to this one, to find a way that goes in a circle. */
  readonly visited: readonly string[];
}

/**
 * As ssh -J does: the first host is reached as its own settings say, every further one through the one before it,
 * whatever its own settings say of the way.
 */
async function resolveWay(
  end: ResolvedHost,
  { settings }: Evaluation,
  walk: Walk,
): Promise<{ hops: ResolvedHost[] } | Obstacle> {
  const tokens = hopTokens(end);
  let hops: ResolvedHost[] = [];
  let { visited } = walk;
  for (const [index, hop] of (settings.proxyJump ?? []).entries()) {
    const alias = expandHop(hop.host, tokens);
    const evaluation = evaluateHop(alias, hop, { tokens, isReached: index > 0, walk });
    const host = await resolveOne(alias, evaluation, walk.surroundings);
    if ('code' in host) return { code: host.code, reason: `${alias}, on the way: ${host.reason}` };
    if (visited.includes(place(host))) return inACircle(alias);
    visited = [...visited, place(host)];
    if (visited.length > maxHops + 1) return tooLong();
    if (index === 0) {
      const before = await resolveWay(host, evaluation, { ...walk, visited });
      if ('code' in before) return before;
      hops = before.hops;
    }
    hops.push(host);
    if (hops.length > maxHops) return tooLong();
  }
  return { hops };
}

function evaluateHop(
  alias: string,
  hop: WrittenHop,
  { tokens, isReached, walk }: { tokens: Tokens; isReached: boolean; walk: Walk },
): Evaluation {
  const { roots, here } = walk.surroundings;
  const preset: Preset = {
    isReached,
    ...(hop.user === null ? {} : { user: expandHop(hop.user, tokens) }),
    ...(hop.port === null ? {} : { port: hop.port }),
  };
  return evaluateConfig(roots, alias, here.user, preset);
}

function expandHop(text: string, tokens: Tokens): string {
  try {
    return expandTokens(text, tokens);
  } catch (cause) {
    throw new Error(`ProxyJump: ${messageOf(cause)}`, { cause });
  }
}

/** A host may stand twice on a way only if it is another one, at another port or for another user. */
function place({ alias, user, port }: ResolvedHost): string {
  return `${user}@${alias}:${port}`;
}

function inACircle(alias: string): Obstacle {
  return { code: 'ssh_host_unsupported', reason: `ProxyJump goes in a circle at ${alias}` };
}

function tooLong(): Obstacle {
  return { code: 'ssh_host_unsupported', reason: `ProxyJump has more than ${maxHops} hosts on the way` };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
