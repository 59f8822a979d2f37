import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { KeepAliveConnection, requestBytes } from './keep-alive-connection.ts';

export interface SshEchoInput {
  url: string;
  key: string;
  /** Alias of the SSH configuration. */
  host: string;
  /** Arguments of `ssh` that run the same on a connection of its own, and over a master's socket. */
  fresh: string[];
  shared: string[];
  turns: number;
}

/** Milliseconds from the request, or before the process is made, to the end; turn by turn. */
export interface SshEchoAnswer {
  firstFrame: number[];
  ours: number[];
  fresh: number[];
  shared: number[];
}

const warmUpTurns = 5;
const input: SshEchoInput = JSON.parse(process.argv[2] ?? '');
process.stdout.write(JSON.stringify(await measure(input)));

/** All in one process, turn by turn, each turn in random order. */
async function measure({ url, key, host, fresh, shared, turns }: SshEchoInput): Promise<SshEchoAnswer> {
  const connection = new KeepAliveConnection(url);
  const body = { host, cmd: 'echo hi' };
  const request = requestBytes({ method: 'POST', url: `${url}/api/shell/ssh-run`, key, body });
  const answer: SshEchoAnswer = { firstFrame: [], ours: [], fresh: [], shared: [] };
  const measures = [
    async () => {
      const exchange = await connection.send(request);
      const { status, body: frames } = exchange;
      if (status !== 200 || !frames.includes('"line":"hi"') || !frames.includes('"code":0'))
        throw new Error(`echo hi answered ${status}: ${frames}`);
      answer.firstFrame.push(exchange.firstFrameMs);
      answer.ours.push(exchange.totalMs);
    },
    async () => void answer.fresh.push(await ssh(fresh)),
    async () => void answer.shared.push(await ssh(shared)),
  ];
  for (let turn = 0; turn < warmUpTurns + turns; turn += 1) {
    const first = Math.floor(Math.random() * measures.length);
    for (const at of measures.keys()) await measures[(first + at) % measures.length]?.();
  }
  connection.close();
  for (const values of Object.values(answer)) values.splice(0, warmUpTurns);
  return answer;
}

async function ssh(args: string[]): Promise<number> {
  const started = performance.now();
  const child = spawn('ssh', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0 || output !== 'hi\n') throw new Error(`ssh ended with ${code} and said ${output}`);
  return performance.now() - started;
}
