import { spawn } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { FrameEncoder, worstGrowth } from './frame-encoder.ts';
import { exitFrame, serveRelay } from './relay-server.ts';

/**
 * The practical limit for frames out of Node: one pass over the bytes into buffers that are used again, with
 * back-pressure. No credential, frame ids, UTF-8 check, line limit, masking, or buffer to take a stream up again.
 */
serveRelay(relayBytes);

const outBytes = 512 * 1024;
const stepBytes = 4096;

function relayBytes(cmd: string, response: ServerResponse): void {
  const child = spawn('sh', ['-c', cmd], { stdio: ['ignore', 'pipe', 'ignore'] });
  const encoder = new FrameEncoder();
  const spare: Buffer[] = [];
  let out: Buffer = Buffer.allocUnsafeSlow(outBytes);
  let view = viewOf(out);
  let used = 0;

  const flush = () => {
    if (used === 0) return;
    const full = out;
    const goOn = response.write(full.subarray(0, used), () => spare.push(full));
    if (!goOn) child.stdout.pause();
    out = spare.pop() ?? Buffer.allocUnsafeSlow(outBytes);
    view = viewOf(out);
    used = 0;
  };

  child.stdout.on('data', (chunk: Buffer) => {
    const chunkView = viewOf(chunk);
    for (let from = 0; from < chunk.length; from += stepBytes) {
      if (outBytes - used < stepBytes * worstGrowth) flush();
      used = encoder.encode(chunkView, from, Math.min(chunk.length, from + stepBytes), view, used);
    }
    flush();
  });
  response.on('drain', () => child.stdout.resume());
  child.on('close', (code) => {
    used = encoder.end(view, used);
    flush();
    response.end(exitFrame(code));
  });
  response.on('close', () => child.kill('SIGKILL'));
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
}
