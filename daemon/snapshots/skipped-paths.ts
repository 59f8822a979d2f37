/** What no receipt is about: git's own folders and pointers, our `.service`, and files that the door is about to rename. */
export function isSkippedName(folder: string, name: string): boolean {
  const known = ignoresCase ? name.toLowerCase() : name;
  return known === '.git' || (folder === '' && known === '.service') || isTempName(name);
}

/** The same for every part of a byte path. (To `isSkippedName`, any folder but the top one is like another.) */
export function isSkippedPath(path: string): boolean {
  let from = 0;
  for (let cut = path.indexOf('/'); cut !== -1; cut = path.indexOf('/', from)) {
    if (isSkippedName(from === 0 ? '' : '.', path.slice(from, cut))) return true;
    from = cut + 1;
  }
  return isSkippedName(from === 0 ? '' : '.', path.slice(from));
}

const ignoresCase = process.platform === 'darwin' || process.platform === 'win32';
const tempName = /^\.tallystick-[0-9a-f]{16}\.tmp$/;

const isTempName = (name: string) => name.charCodeAt(0) === 0x2e && tempName.test(name);
