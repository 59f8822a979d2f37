/** Git's own folder, also that of a repository in a repository, and the service's. */
const reserved = new Set(['.git', '.service']);

/** Characters that the file system of macOS takes no notice of in a name. */
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Whether any part of a byte path is, on some file system, another spelling of a name that only its owner may touch. */
export function isReserved(path: string): boolean {
  return path.split('/').some(isReservedName);
}

export function isReservedName(name: string): boolean {
  // All others, which are nearly all, are told by their first character.
  if (!/^[.gG]|[^ -~]/.test(name)) return false;
  const text = Buffer.from(name, 'latin1').toString('utf8').replace(ignorable, '').normalize('NFC');
  // Windows cuts dots and blanks at the end, and takes what follows a colon for a stream of the file.
  const plain = text.replace(/:.*$/s, '').replace(/[. ]+$/, '');
  // Upper case first: it makes an s of the long s, as file systems that know no case do.
  const folded = plain.toUpperCase().toLowerCase();
  return reserved.has(folded) || /^git~\d+$/.test(folded);
}
