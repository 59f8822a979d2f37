/** What masking should give, by the platform's own search for every pattern alone. */
export function naiveMask(patterns: readonly Buffer[], text: Buffer): { text: string; count: number } {
  const occurrences = patterns.flatMap((pattern) => occurrencesOf(pattern, text));
  occurrences.sort((one, other) => one.start - other.start);
  const pieces: Buffer[] = [];
  let count = 0;
  let done = 0;
  for (const { start, end } of occurrences) {
    if (start >= done) {
      pieces.push(text.subarray(done, start), Buffer.from('***'));
      count += 1;
    }
    done = Math.max(done, end);
  }
  return { text: Buffer.concat([...pieces, text.subarray(done)]).toString(), count };
}

function occurrencesOf(pattern: Buffer, text: Buffer): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (let start = text.indexOf(pattern); start >= 0; start = text.indexOf(pattern, start + 1))
    found.push({ start, end: start + pattern.length });
  return found;
}
