import { CodedError } from '../../contract/errors.ts';
import { toBytePath } from '../../lib/byte-path.ts';

/**
 * Byte path in the workspace for a file of a host: `pulled/<host>/<last part of its path>`.
 *
 * @throws CodedError remote_name_refused where a name would mean something else, or could not be, on some platform
 */
export function pulledPath(
  host: string,
  remotePath: string,
  isReservedName: (name: string) => boolean,
): string {
  if (!remotePath.isWellFormed()) throw refused('The path', 'is not valid UTF-8');
  const name = remotePath.slice(remotePath.lastIndexOf('/') + 1);
  const parts = [
    ['The name of the host', host],
    ['The name of the file', name],
  ] as const;
  for (const [what, part] of parts) {
    const why =
      whyRefused(part) ?? (isReservedName(toBytePath(part)) ? 'belongs to git or to the service' : null);
    if (why !== null) throw refused(`${what}, ${JSON.stringify(part)},`, why);
  }
  return toBytePath(`pulled/${host}/${name}`);
}

const maxNameBytes = 255;

const devices = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)/i;

function whyRefused(name: string): string | null {
  if (name === '') return 'is empty';
  if (name === '.' || name === '..') return 'means a folder';
  if (!name.isWellFormed()) return 'is not valid UTF-8';
  if (/\p{Cc}/u.test(name)) return 'has a control character in it';
  if (/[/\\:<>"|?*]/.test(name)) return 'has a character in it that not every platform allows';
  if (/[. ]$/.test(name)) return 'ends with a dot or a blank, which Windows cuts off';
  if (devices.test(name)) return 'is the name of a device on Windows';
  if (Buffer.byteLength(name) > maxNameBytes) return `is longer than ${maxNameBytes} bytes`;
  return null;
}

const refused = (what: string, why: string) =>
  new CodedError('remote_name_refused', `${what} ${why}: no file was made of it.`);
