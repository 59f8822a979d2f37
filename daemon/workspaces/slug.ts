const maxLength = 64;

/** `[a-z0-9-]` made of a folder's name: "My App (v2)" → "my-app-v2". A name without a single letter or digit → "project". */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}/gu, '');
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'project' : slug;
}

/** The wanted slug, or the first of `-2`, `-3` … that is not taken. */
export function uniqueSlug(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) {
    const suffix = `-${number}`;
    const candidate = wanted.slice(0, maxLength - suffix.length).replace(/-+$/, '') + suffix;
    if (!taken.has(candidate)) return candidate;
  }
}
