import { randomBytes } from 'node:crypto';
import { KeepAliveConnection, requestBytes } from './keep-alive-connection.ts';

export interface MutationsInput {
  url: string;
  key: string;
  writers: number;
  /** Writes altogether. */
  count: number;
}

export interface MutationsAnswer {
  perSecond: number;
  p50Ms: number;
  p95Ms: number;
}

const fileBytes = 2048;
const input: MutationsInput = JSON.parse(process.argv[2] ?? '');
process.stdout.write(JSON.stringify(await measure(input)));

/** Every writer replaces a file of its own, again and again, with other text; each answer must have a receipt. */
async function measure({ url, key, writers, count }: MutationsInput): Promise<MutationsAnswer> {
  const requests = Array.from({ length: count }, (_, at) =>
    requestBytes({
      method: 'PUT',
      url: `${url}/api/project/file?path=src/file-${at % writers}.txt`,
      key,
      text: someText(),
    }),
  );
  const connections = Array.from({ length: writers }, () => new KeepAliveConnection(url));
  const latencies: number[] = [];
  const started = performance.now();
  await Promise.all(
    connections.map(async (connection, writer) => {
      for (let at = writer; at < count; at += writers) {
        const { status, body, totalMs } = await connection.send(requests[at] ?? Buffer.alloc(0));
        if ((status !== 200 && status !== 201) || !body.includes('"receipt_id":"rcpt_'))
          throw new Error(`a write answered ${status}: ${body}`);
        latencies.push(totalMs);
      }
    }),
  );
  const elapsed = (performance.now() - started) / 1000;
  for (const connection of connections) connection.close();
  latencies.sort((a, b) => a - b);
  const at = (q: number) => latencies[Math.ceil(q * latencies.length) - 1] ?? Number.NaN;
  return { perSecond: count / elapsed, p50Ms: at(0.5), p95Ms: at(0.95) };
}

/** Lines such as code has, none of them twice. */
function someText(): string {
  let text = '';
  while (text.length < fileBytes) text += `const ${randomBytes(6).toString('hex')} = ${text.length};\n`;
  return text.slice(0, fileBytes - 1).concat('\n');
}
