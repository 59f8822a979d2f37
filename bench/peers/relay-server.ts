import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A server that does nothing but relay: it runs the `cmd` of any POST and hands its output to `relay`, which
 * writes the same frames as the product, without ids. Prints one JSON line with its URL when it listens.
 */
export function serveRelay(relay: (cmd: string, response: ServerResponse) => void): void {
  const server = createServer((request, response) => {
    const body: Buffer[] = [];
    request.on('data', (chunk: Buffer) => body.push(chunk));
    request.on('end', () => {
      const { cmd } = JSON.parse(Buffer.concat(body).toString());
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      relay(String(cmd), response);
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`${JSON.stringify({ event: 'listening', url: `http://127.0.0.1:${port}` })}\n`);
  });
}

export function exitFrame(code: number | null): string {
  return `data: ${JSON.stringify({ type: 'exit', code: code ?? 1 })}\n\n`;
}
