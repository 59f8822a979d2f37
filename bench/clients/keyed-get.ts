import { connect } from 'node:net';
import { KeepAliveConnection, requestBytes } from './keep-alive-connection.ts';

export interface KeyedGetInput {
  url: string;
  key?: string;
  connections: number;
  seconds: number;
}

export interface KeyedGetAnswer {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  body: string;
}

const okLine = Buffer.from('HTTP/1.1 200 ');

const input: KeyedGetInput = JSON.parse(process.argv[2] ?? '');
process.stdout.write(JSON.stringify(await measure(input)));

/** Each connection asks again as soon as it has its answer, for `seconds`; every answer must be the same. */
async function measure({ url, key, connections, seconds }: KeyedGetInput): Promise<KeyedGetAnswer> {
  const request = requestBytes({ method: 'GET', url, key });
  const connection = new KeepAliveConnection(url);
  const { status, body } = await connection.send(request);
  connection.close();
  if (status !== 200) throw new Error(`GET answered ${status}: ${body}`);

  const started = performance.now();
  const ends = started + seconds * 1000;
  const asking = Array.from({ length: connections }, () =>
    ask(url, request, Buffer.from(body, 'latin1'), ends),
  );
  const latencies = Float64Array.from((await Promise.all(asking)).flat()).sort();
  const elapsed = (performance.now() - started) / 1000;
  const at = (q: number) => latencies[Math.ceil(q * latencies.length) - 1] ?? Number.NaN;
  return { perSecond: latencies.length / elapsed, p50Ms: at(0.5), p99Ms: at(0.99), body };
}

/**
 * Milliseconds of each answer on one connection. Client and server share the machine, so this does as little as it can:
 * two comparisons of bytes tell that an answer is whole and right.
 */
function ask(url: string, request: Buffer, expectedBody: Buffer, ends: number): Promise<number[]> {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  const latencies: number[] = [];
  let sentAt = 0;
  let received: Buffer | undefined;
  return new Promise((resolve, reject) => {
    const send = () => {
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed the connection')));
    socket.on('data', (chunk: Buffer) => {
      received = received === undefined ? chunk : Buffer.concat([received, chunk]);
      const isOk = received.compare(okLine, 0, okLine.length, 0, okLine.length) === 0;
      if (!isOk) return reject(new Error(`a GET answered ${received.toString('latin1', 0, 500)}`));
      const bodyAt = received.length - expectedBody.length;
      // Not whole yet, unless it never gets so: then the run's time limit ends it.
      if (bodyAt < okLine.length || received.compare(expectedBody, 0, expectedBody.length, bodyAt) !== 0)
        return;
      received = undefined;
      const now = performance.now();
      latencies.push(now - sentAt);
      if (now < ends) return send();
      resolve(latencies);
      socket.destroy();
    });
  });
}
