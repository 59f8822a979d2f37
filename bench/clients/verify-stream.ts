import { createHash } from 'node:crypto';
import { request } from 'node:http';

export interface VerifyInput {
  url: string;
  key?: string;
  /** Alias of the SSH configuration that the command runs on; default: here. */
  host?: string;
  cmd: string;
}

/** What a client that reads every frame has in its hands at the end. */
export interface VerifyAnswer {
  lines: number;
  /** Hex SHA-256 over each decoded line and a line feed. */
  sha256: string;
  /** Bytes of the body, frames and all but pings. */
  bodyBytes: number;
  exitCode: number | null;
  /** Frames whose `id:` was not one more than the id before it; 0 where the server sends none. */
  idsOutOfOrder: number;
}

const input: VerifyInput = JSON.parse(process.argv[2] ?? '');
process.stdout.write(JSON.stringify(await verify(input)));

async function verify(input: VerifyInput): Promise<VerifyAnswer> {
  const answer: VerifyAnswer = { lines: 0, sha256: '', bodyBytes: 0, exitCode: null, idsOutOfOrder: 0 };
  const hash = createHash('sha256');
  let lastId: number | undefined;
  let decoded = '';

  const take = (line: string) => {
    if (line === ': ping') {
      answer.bodyBytes -= ': ping\n\n'.length;
    } else if (line.startsWith('id: ')) {
      const id = Number(line.slice(4));
      if (lastId !== undefined && id !== lastId + 1) answer.idsOutOfOrder += 1;
      lastId = id;
    } else if (line.startsWith('data: ')) {
      const frame = JSON.parse(line.slice(6));
      if (frame.type === 'exit') answer.exitCode = frame.code;
      if (frame.type !== 'stdout') return;
      decoded += frame.partial === true ? frame.line : `${frame.line}\n`;
      answer.lines += 1;
    }
  };

  const text = new TextDecoder();
  let rest = '';
  for await (const chunk of await open(input)) {
    answer.bodyBytes += chunk.length;
    const lines = (rest + text.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
    hash.update(decoded);
    decoded = '';
  }
  answer.sha256 = hash.digest('hex');
  return answer;
}

function open({ url, key, host, cmd }: VerifyInput): Promise<AsyncIterable<Buffer>> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { 'Content-Type': 'application/json' };
    if (key !== undefined) headers.Authorization = `Bearer ${key}`;
    const sent = request(
      `${url}/api/shell/${host === undefined ? 'run' : 'ssh-run'}`,
      { method: 'POST', headers },
      (response) => {
        if (response.statusCode === 200) resolve(response);
        else reject(new Error(`${url} answered ${response.statusCode}`));
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify({ host, cmd }));
  });
}
