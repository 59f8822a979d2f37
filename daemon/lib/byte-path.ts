import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';

/**
 * Paths inside a workspace are handled as byte paths: the bytes of the path as a latin1 string, `/` between the parts.
 * File names on Linux are bytes, not text: so none is lost, and an ASCII path is the same string either way.
 */
export function toBytePath(path: string): string {
  return Buffer.from(path, 'utf8').toString('latin1');
}

/** The text of a byte path, and its bytes in base64 where they are not UTF-8. */
export function fromBytePath(bytePath: string): {
  readonly path: string;
  readonly base64: string | undefined;
} {
  const bytes = Buffer.from(bytePath, 'latin1');
  return { path: bytes.toString('utf8'), base64: isUtf8(bytes) ? undefined : bytes.toString('base64') };
}

/** What the file system is asked for: `folder` (text) and below it a byte path. */
export function systemPath(folder: string, bytePath: string): string | Buffer {
  if (isAscii(bytePath)) return join(folder, bytePath);
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(bytePath, 'latin1')]);
}

/** Byte path of the folder that something is in; '' for the workspace itself. */
export function parentOf(bytePath: string): string {
  return bytePath.slice(0, Math.max(0, bytePath.lastIndexOf('/')));
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}
