import type { ConfigNode } from './config-tree.ts';
import { literalAliases } from './parse-file.ts';

/** Every alias that a Host line names literally, once, in the order of the files; whether it applies is not asked. */
export function listAliases(roots: readonly ConfigNode[]): Set<string> {
  const aliases = new Set<string>();
  for (const root of roots) collect(root, aliases);
  return aliases;
}

function collect({ file, includes }: ConfigNode, aliases: Set<string>): void {
  for (const { condition, entries } of file.sections) {
    for (const alias of literalAliases(condition)) aliases.add(alias);
    if (includes.size === 0) continue;
    for (const entry of entries) for (const node of includes.get(entry)?.nodes ?? []) collect(node, aliases);
  }
}
