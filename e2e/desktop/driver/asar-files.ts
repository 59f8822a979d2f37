import { readFileSync } from 'node:fs';

type Entry = { files?: Record<string, Entry>; unpacked?: boolean };

/**
 * Paths of the files in an asar archive, and which of them lie unpacked beside it. The archive begins with
 * four little-endian numbers, of which the last is the length of the JSON header that follows.
 */
export function asarFiles(path: string): { packed: string[]; unpacked: string[] } {
  const archive = readFileSync(path);
  const header: Entry = JSON.parse(archive.subarray(16, 16 + archive.readUInt32LE(12)).toString());
  const packed: string[] = [];
  const unpacked: string[] = [];
  const visit = (entry: Entry, name: string) => {
    if (entry.files === undefined) (entry.unpacked === true ? unpacked : packed).push(name);
    else for (const [child, found] of Object.entries(entry.files)) visit(found, `${name}/${child}`);
  };
  for (const [name, entry] of Object.entries(header.files ?? {})) visit(entry, name);
  return { packed, unpacked };
}
