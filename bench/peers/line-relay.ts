import { spawn } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { exitFrame, serveRelay } from './relay-server.ts';

/** What one writes first: readline, and a `JSON.stringify` and a write for each line, with back-pressure. */
serveRelay(relayLines);

function relayLines(cmd: string, response: ServerResponse): void {
  const child = spawn('sh', ['-c', cmd], { stdio: ['ignore', 'pipe', 'ignore'] });
  const code = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const lines = createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', (line) => {
    const goOn = response.write(`data: ${JSON.stringify({ type: 'stdout', line })}\n\n`);
    if (!goOn) child.stdout.pause();
  });
  response.on('drain', () => child.stdout.resume());
  lines.on('close', async () => response.end(exitFrame(await code)));
  response.on('close', () => child.kill('SIGKILL'));
}
