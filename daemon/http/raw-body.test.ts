import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReadableStream } from 'node:stream/web';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maxFileBytes } from '../contract/files.ts';
import { type BootedDaemon, boot } from '../testing/boot.ts';
import { rawRequest } from '../testing/client.ts';
import { RawSocket, statusOf } from '../testing/raw-socket.ts';

const path = '/api/project/file?path=file';
let booted: BootedDaemon;
let agent: Awaited<ReturnType<BootedDaemon['agent']>>;

beforeAll(async () => {
  booted = await boot();
  agent = await booted.agent();
});
afterAll(() => booted[Symbol.asyncDispose]());

const put = (type: string | undefined, target = path, method = 'PUT') =>
  rawRequest(booted.daemon.url, {
    method,
    path: target,
    headers: {
      authorization: `Bearer ${agent.key.key}`,
      'content-length': '2',
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    body: '{}',
  });

describe('the content of a file as a body', () => {
  test('is taken as bytes, as any text, and as JSON', async () => {
    for (const type of [
      'application/octet-stream',
      'text/plain',
      'Text/X-C; charset=latin1',
      'text/html',
      'application/json',
    ])
      expect([type, (await put(type)).status]).toEqual([
        type,
        type === 'application/octet-stream' ? 201 : 200,
      ]);
    expect(readFileSync(join(booted.projectDir, 'file'), 'utf8')).toBe('{}');
  });

  test('is refused with 415 in any other type, and these types on any other call', async () => {
    for (const type of [
      undefined,
      '',
      'text',
      'text/',
      'text/plain, x/y',
      'image/png',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
    ])
      expect([type, (await put(type)).status]).toEqual([type, 415]);
    for (const [method, target] of [
      ['POST', '/api/project/edit'],
      ['POST', path],
      ['DELETE', path],
      ['PUT', '/api/project/file/'],
      ['PUT', '/api/project/file2'],
      ['PUT', '/API/project/file?path=file'],
      ['PUT', '/api/project/files'],
      ['PUT', '/x?/api/project/file'],
    ] as const)
      expect([method, target, (await put('text/plain', target, method)).status]).toEqual([
        method,
        target,
        415,
      ]);
  });

  test('is refused with 415 in an encoding', async () => {
    const answer = await agent.problem('PUT', path, undefined, {
      rawBody: 'x',
      headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
    });
    expect(answer).toMatchObject({ httpStatus: 415, code: 'unsupported_media_type' });
  });

  test('may be nothing, without a type', async () => {
    const answer = await agent.json<{ size: number }>('PUT', '/api/project/file?path=empty', undefined, {
      headers: {},
    });
    expect(answer).toMatchObject({ size: 0 });
  });

  test('may have 50 MiB, and not a byte more, whether its length is said before or not', async () => {
    const headers = { 'content-type': 'application/octet-stream' };
    const atLimit = new Uint8Array(maxFileBytes);
    const made = await agent.json('PUT', '/api/project/file?path=large', undefined, {
      rawBody: atLimit,
      headers,
    });
    expect(made).toMatchObject({ size: maxFileBytes, created: true });
    const over = await agent.problem('PUT', '/api/project/file?path=over', undefined, {
      rawBody: new Uint8Array(maxFileBytes + 1),
      headers,
    });
    expect(over).toMatchObject({ httpStatus: 413, code: 'file_too_large' });
    expect(await putInChunks(maxFileBytes + 1)).toBe(413);
    expect(await putInChunks(1)).toBe(201);
  });

  test('is not read at all where the caller may not write', async () => {
    using socket = await RawSocket.open(booted.daemon.url);
    const reader = await booted.keyed('read');
    socket.write(
      `PUT ${path} HTTP/1.1\r\nHost: 127.0.0.1:${booted.daemon.port}\r\nAuthorization: Bearer ${reader.key.key}\r\n` +
        'Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\n',
    );
    expect(statusOf(await socket.receive('insufficient_scope'))).toBe(403);
  });

  test('that breaks off in the middle changes nothing', async () => {
    await put('text/plain');
    {
      using socket = await RawSocket.open(booted.daemon.url);
      socket.write(
        `PUT ${path} HTTP/1.1\r\nHost: 127.0.0.1:${booted.daemon.port}\r\nAuthorization: Bearer ${agent.key.key}\r\n` +
          'Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\nhalf',
      );
    }
    expect((await booted.stranger.send('GET', '/healthz')).status).toBe(200);
    expect(readFileSync(join(booted.projectDir, 'file'), 'utf8')).toBe('{}');
  });
});

async function putInChunks(bytes: number): Promise<number> {
  async function* chunks() {
    for (let left = bytes; left > 0; left -= 1024 * 1024) yield new Uint8Array(Math.min(left, 1024 * 1024));
  }
  const answer = await fetch(`${booted.daemon.url}/api/project/file?path=chunked`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${agent.key.key}`, 'content-type': 'text/plain' },
    body: ReadableStream.from(chunks()),
    duplex: 'half',
  } as RequestInit);
  await answer.body?.cancel();
  return answer.status;
}
