import { connect } from 'node:net';
import { KeepAliveConnection, type RequestHead, requestBytes } from './keep-alive-connection.ts';

export interface SlowReaderInput {
  url: string;
  key: string;
  cmd: string;
  bytesPerSecond: number;
  seconds: number;
}

export interface SlowReaderAnswer {
  readBytes: number;
  /** GET /healthz and a keyed GET, in turn, every 20 ms meanwhile. */
  requestMs: number[];
  /** First frame of `echo hi`, every 250 ms meanwhile. */
  firstFrameMs: number[];
}

const readEveryMs = 50;
const requestEveryMs = 20;
const commandEveryMs = 250;

const input: SlowReaderInput = JSON.parse(process.argv[2] ?? '');
process.stdout.write(JSON.stringify(await measure(input)));

/** Runs `cmd`, reads its stream at `bytesPerSecond`, uses the daemon meanwhile, and cancels the job at the end. */
async function measure({
  url,
  key,
  cmd,
  bytesPerSecond,
  seconds,
}: SlowReaderInput): Promise<SlowReaderAnswer> {
  const stream = await openSlowly(
    { method: 'POST', url: `${url}/api/shell/run`, key, body: { cmd } },
    bytesPerSecond,
  );
  const ends = performance.now() + seconds * 1000;
  const gets = [requestBytes({ method: 'GET', url: `${url}/healthz` })];
  gets.push(requestBytes({ method: 'GET', url: `${url}/api/project/recent`, key }));
  const echo = requestBytes({ method: 'POST', url: `${url}/api/shell/run`, key, body: { cmd: 'echo hi' } });
  const [requests, commands] = await Promise.all([
    everyMs(requestEveryMs, ends, url, (turn) => gets[turn % gets.length] ?? echo),
    everyMs(commandEveryMs, ends, url, () => echo),
  ]);
  const readBytes = stream.readBytes();
  const cancel = requestBytes({ method: 'POST', url: `${url}/api/shell/cancel/${stream.jobId}`, key });
  const connection = new KeepAliveConnection(url);
  const { status, body } = await connection.send(cancel);
  connection.close();
  stream.close();
  if (status !== 200) throw new Error(`cancel answered ${status}: the flood did not last. ${body}`);
  return {
    readBytes,
    requestMs: requests.map(({ totalMs }) => totalMs),
    firstFrameMs: commands.map(({ firstFrameMs }) => firstFrameMs),
  };
}

/** One request after the other on one connection, each started `periodMs` after the one before or when that ends. */
async function everyMs(periodMs: number, ends: number, url: string, next: (turn: number) => Buffer) {
  const connection = new KeepAliveConnection(url);
  const answers = [];
  for (let turn = 0; performance.now() < ends; turn += 1) {
    const due = performance.now() + periodMs;
    const answer = await connection.send(next(turn));
    if (answer.status !== 200)
      throw new Error(`a request meanwhile answered ${answer.status}: ${answer.body}`);
    answers.push(answer);
    await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
  }
  connection.close();
  return answers;
}

interface SlowStream {
  jobId: string;
  readBytes(): number;
  close(): void;
}

/** Takes no more from the socket than its share every 50 ms, so that the kernel holds the sender back. */
function openSlowly(head: RequestHead, bytesPerSecond: number): Promise<SlowStream> {
  const { port, hostname } = new URL(head.url);
  const socket = connect(Number(port), hostname);
  const share = Math.round((bytesPerSecond * readEveryMs) / 1000);
  let taken = 0;
  socket.write(requestBytes(head));
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.once('readable', () => {
      const first: Buffer = socket.read() ?? Buffer.alloc(0);
      const jobId = /\nx-job-id: (\S+)/i.exec(first.toString('latin1'))?.[1];
      if (jobId === undefined) return reject(new Error(`no X-Job-Id in ${first.toString('latin1', 0, 500)}`));
      const reading = setInterval(() => {
        const bytes: Buffer | null = socket.read(share) ?? socket.read();
        taken += bytes?.length ?? 0;
      }, readEveryMs);
      socket.on('close', () => clearInterval(reading));
      resolve({ jobId, readBytes: () => taken, close: () => socket.destroy() });
    });
  });
}
