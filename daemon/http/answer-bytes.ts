import type { ServerResponse } from 'node:http';

/** What an answer is made of where it is no JSON. Let go of when the answer is out, or nobody wants it any more. */
export interface ByteSource extends AsyncIterable<Uint8Array>, Disposable {}

/**
 * Writes a body as the client takes it, and ends the answer. Where the source fails, the connection is cut, so that
 * nobody takes what came so far for the whole.
 */
export async function sendBytes(res: ServerResponse, source: ByteSource): Promise<void> {
  try {
    for await (const chunk of source) {
      if (res.destroyed) return;
      if (!res.write(chunk)) await drained(res);
    }
    res.end();
  } catch (error) {
    res.destroy();
    throw error;
  }
}

/** Also where the client has gone: then nothing drains any more. */
function drained(res: ServerResponse): Promise<void> {
  if (res.destroyed) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  res.once('drain', resolve).once('close', resolve);
  return promise.finally(() => res.off('drain', resolve).off('close', resolve));
}
