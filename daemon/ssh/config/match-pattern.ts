import { lowercase } from './line-words.ts';

/** Whether all of the text matches a pattern with `*` and `?`; the work is bounded by both lengths multiplied. */
export function matchPattern(text: string, pattern: string): boolean {
  let at = 0;
  let inPattern = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    const wanted = pattern[inPattern];
    if (wanted === '*') {
      star = inPattern++;
      resume = at;
    } else if (wanted === '?' || wanted === text[at]) {
      inPattern++;
      at++;
    } else if (star >= 0) {
      inPattern = star + 1;
      at = ++resume;
    } else return false;
  }
  while (pattern[inPattern] === '*') inPattern++;
  return inPattern === pattern.length;
}

/** PATTERNS of ssh_config(5): separated by commas; one that begins with `!` and matches rules the others out. */
export function matchPatternList(text: string, list: string): boolean {
  let found = false;
  for (const pattern of list.split(',')) {
    if (pattern.startsWith('!')) {
      if (matchPattern(text, pattern.slice(1))) return false;
    } else if (matchPattern(text, pattern)) found = true;
  }
  return found;
}

/** The same for host names, which know no case. */
export function matchHostName(hostname: string, list: string): boolean {
  return matchPatternList(lowercase(hostname), lowercase(list));
}
