import { openPlainFile } from './store.ts';

/** A line of INDEX.jsonl as it stands on the disk now, with its line feed; null where the file is too short for it. */
export async function readIndexLine(
  path: string,
  extent: { readonly start: number; readonly end: number } | undefined,
): Promise<string | null> {
  if (extent === undefined) return null;
  const file = await openPlainFile(path);
  if (file === null) return null;
  try {
    const bytes = Buffer.alloc(extent.end - extent.start);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, extent.start);
    return bytesRead === bytes.length ? bytes.toString('utf8') : null;
  } finally {
    await file.close();
  }
}
