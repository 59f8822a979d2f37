import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { KeepAliveConnection, requestBytes } from './keep-alive-connection.ts';

export interface CommandTimeInput {
  url: string;
  key: string;
  cwd: string;
  cmd: string;
  pairs: number;
  /** Files that each run must say it changed. */
  filesChanged: number;
}

/** Milliseconds to the end of the command, with us and without. */
export interface CommandTimeAnswer {
  receipted: number[];
  plain: number[];
}

const warmUpPairs = 3;
const input: CommandTimeInput = JSON.parse(process.argv[2] ?? '');
process.stdout.write(JSON.stringify(await measure(input)));

async function measure({
  url,
  key,
  cwd,
  cmd,
  pairs,
  filesChanged,
}: CommandTimeInput): Promise<CommandTimeAnswer> {
  const connection = new KeepAliveConnection(url);
  const request = requestBytes({ method: 'POST', url: `${url}/api/shell/run`, key, body: { cmd } });
  const answer: CommandTimeAnswer = { receipted: [], plain: [] };
  for (let pair = -warmUpPairs; pair < pairs; pair += 1) {
    const { status, body, totalMs } = await connection.send(request);
    if (status !== 200 || !body.includes(`"files_changed":${filesChanged}`))
      throw new Error(`${cmd} answered ${status}: ${body}`);
    const plainMs = await runPlain(cmd, cwd);
    // What that changed is the developer's own editing: it must be seen before the next command begins.
    await new Promise((resolve) => setTimeout(resolve, 150));
    if (pair < 0) continue;
    answer.receipted.push(totalMs);
    answer.plain.push(plainMs);
  }
  connection.close();
  return answer;
}

async function runPlain(cmd: string, cwd: string): Promise<number> {
  const started = performance.now();
  const child = spawn('sh', ['-c', cmd], { cwd, stdio: 'ignore' });
  await once(child, 'exit');
  return performance.now() - started;
}
