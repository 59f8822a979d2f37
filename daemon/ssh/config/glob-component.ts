/** Whether a file name matches a part of a glob(3) pattern: `*`, `?`, `[a-z]`, `[!a-z]`, `\` before a character. */
export function matchComponent(name: string, pattern: string): boolean {
  // A dot at the beginning has to be written.
  if (name.startsWith('.') && !/^\\?\./.test(pattern)) return false;
  return toRegExp(pattern).test(name);
}

function toRegExp(pattern: string): RegExp {
  let source = '';
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? '';
    const set = character === '[' ? /^\[[!^]?\]?[^\]]*\]/.exec(pattern.slice(at))?.[0] : undefined;
    if (set !== undefined) {
      source += setSource(set);
      at += set.length - 1;
    } else if (character === '*') source += source.endsWith('.*') ? '' : '.*';
    else if (character === '?') source += '.';
    else if (character === '\\' && at + 1 < pattern.length) source += escaped(pattern[++at] ?? '');
    else source += escaped(character);
  }
  try {
    return new RegExp(`^(?:${source})$`, 's');
  } catch {
    // A set like [z-a] matches nothing.
    return /^(?!)/;
  }
}

function setSource(set: string): string {
  const negated = /^\[[!^]/.test(set);
  const inside = set.slice(negated ? 2 : 1, -1).replace(/[\\\]^[]/g, '\\$&');
  return `[${negated ? '^' : ''}${inside}]`;
}

function escaped(character: string): string {
  return /[\w\s]/.test(character) ? character : character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
}
