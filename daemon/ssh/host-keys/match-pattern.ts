/**
 * Whether all of `text` is as `pattern` says: `*` stands for any characters, `?` for one, everything else for itself
 * (brackets too: `[host]:22` is a name). Linear in the product of the lengths at the worst.
 */
export function matchesPattern(text: string, pattern: string): boolean {
  let at = 0;
  let next = 0;
  let star = -1;
  let starAt = 0;
  while (at < text.length) {
    const wanted = pattern[next];
    if (wanted === '*') {
      star = next++;
      starAt = at;
    } else if (wanted === '?' || wanted === text[at]) {
      next++;
      at++;
    } else if (star >= 0) {
      // The last star takes one character more.
      next = star + 1;
      at = ++starAt;
    } else {
      return false;
    }
  }
  while (pattern[next] === '*') next++;
  return next === pattern.length;
}
