import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { KeepAliveConnection, requestBytes } from './keep-alive-connection.ts';

export interface FirstFrameInput {
  url: string;
  key: string;
  pairs: number;
}

/** Milliseconds to the first byte, pair by pair, and the memory of the process that spawned `plain`. */
export interface FirstFrameAnswer {
  framed: number[];
  plain: number[];
  clientRssBytes: number;
}

const warmUpPairs = 30;
const input: FirstFrameInput = JSON.parse(process.argv[2] ?? '');
process.stdout.write(JSON.stringify(await measure(input)));

/** Both in one process, turn by turn, each pair in random order. */
async function measure({ url, key, pairs }: FirstFrameInput): Promise<FirstFrameAnswer> {
  const connection = new KeepAliveConnection(url);
  const request = requestBytes({
    method: 'POST',
    url: `${url}/api/shell/run`,
    key,
    body: { cmd: 'echo hi' },
  });
  const framed: number[] = [];
  const plain: number[] = [];
  for (let pair = -warmUpPairs; pair < pairs; pair += 1) {
    const framedFirst = Math.random() < 0.5;
    if (framedFirst) framed.push(await firstFrame(connection, request));
    plain.push(await firstByteOfPlainSpawn());
    if (!framedFirst) framed.push(await firstFrame(connection, request));
  }
  connection.close();
  return {
    framed: framed.slice(warmUpPairs),
    plain: plain.slice(warmUpPairs),
    clientRssBytes: process.memoryUsage.rss(),
  };
}

async function firstFrame(connection: KeepAliveConnection, request: Buffer): Promise<number> {
  const { status, body, firstFrameMs } = await connection.send(request);
  if (status !== 200 || !body.includes('"line":"hi"') || !body.includes('"code":0')) {
    throw new Error(`echo hi answered ${status}: ${body}`);
  }
  return firstFrameMs;
}

async function firstByteOfPlainSpawn(): Promise<number> {
  const started = performance.now();
  const child = spawn('sh', ['-c', 'echo hi'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  const ms = performance.now() - started;
  await closed;
  return ms;
}
