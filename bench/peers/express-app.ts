import type { AddressInfo } from 'node:net';
import express from 'express';

/** Stock Express: `/healthz`, and the JSON given in ANSWER at `/answer`, with `res.json` and no middleware. */
const answer: unknown = JSON.parse(process.env.ANSWER ?? '[]');

const app = express();
app.get('/healthz', (_request, response) => {
  response.json({ status: 'ok' });
});
app.get('/answer', (_request, response) => {
  response.json(answer);
});
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ event: 'listening', url: `http://127.0.0.1:${port}` })}\n`);
});
