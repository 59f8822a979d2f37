import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BootedDaemon, boot } from '../testing/boot.ts';
import { rawRequest } from '../testing/client.ts';
import { exchange, RawSocket, statusOf } from '../testing/raw-socket.ts';

const mebibyte = 1024 * 1024;
const path = '/api/account/api-keys';
let booted: BootedDaemon;

beforeAll(async () => {
  booted = await boot();
});
afterAll(() => booted[Symbol.asyncDispose]());

/** A valid request for a key, padded with white space to `bytes`. */
function keyRequest(bytes: number): string {
  const text = JSON.stringify({ name: 'padded', scopes: 'read', expiry: '1d' });
  return text + ' '.repeat(bytes - text.length);
}

describe('a body that is not JSON', () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json-patch+json',
    'text/json',
    'application/octet-stream',
    'json',
    ', application/json',
    '',
  ];

  test('is refused with 415 by its type, on every method and path, before the credential', async () => {
    for (const type of types)
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'OPTIONS'])
        for (const target of [path, '/healthz', '/nothing', '/']) {
          const answer = await rawRequest(booted.daemon.url, {
            method,
            path: target,
            headers: { 'content-type': type, 'content-length': '2' },
            body: '{}',
          });
          expect([type, method, target, answer.status]).toEqual([type, method, target, 415]);
          expect(JSON.parse(answer.body).code).toBe('unsupported_media_type');
        }
  });

  test('is refused with 415 where no type is given, chunked too', async () => {
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${booted.daemon.port}\r\nConnection: close\r\n`;
    expect(statusOf(await exchange(booted.daemon.url, `${head}Content-Length: 2\r\n\r\n{}`))).toBe(415);
    const chunked = await exchange(
      booted.daemon.url,
      `${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    );
    expect(statusOf(chunked)).toBe(415);
  });

  test('is refused with 415 in a charset or an encoding that is not read', async () => {
    const body = keyRequest(100);
    for (const headers of [
      { 'content-type': 'application/json; charset=latin1' },
      { 'content-type': 'application/json; charset=utf-99' },
      { 'content-encoding': 'gzip' },
      { 'content-encoding': 'compress' },
      { 'content-encoding': 'gzip, gzip' },
    ]) {
      const refused = await booted.panel.problem('POST', path, undefined, { rawBody: body, headers });
      expect([headers, refused.httpStatus, refused.code]).toEqual([headers, 415, 'unsupported_media_type']);
    }
  });

  test('is refused with 400 and malformed_json where it does not parse', async () => {
    for (const rawBody of [
      '{',
      '{"name":}',
      "{'name':'x'}",
      '{"name":"x",}',
      'nul',
      '\u0000',
      '{"a":1}{"b":2}',
      '[1,2',
      '"\\x"',
      ' ',
    ]) {
      const refused = await booted.panel.problem('POST', path, undefined, { rawBody });
      expect([rawBody, refused.httpStatus, refused.code]).toEqual([rawBody, 400, 'malformed_json']);
    }
  });
});

describe('a JSON body', () => {
  test('is taken with any spelling of its type and with a charset parameter', async () => {
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;x=y',
    ]) {
      const headers = { 'content-type': type };
      const answer = await booted.panel.send('POST', path, undefined, { rawBody: keyRequest(100), headers });
      expect([type, answer.status]).toEqual([type, 201]);
    }
  });

  test('that is missing where one is needed is an invalid request', async () => {
    for (const { method, path: target } of bodyRoutes()) {
      const refused = await booted.panel.problem(method, target);
      expect([target, refused.httpStatus, refused.code]).toEqual([target, 422, 'invalid_request']);
    }
  });

  test('may be exactly 1 MiB; one byte over is 413 on every route that takes one', async () => {
    expect((await booted.panel.send('POST', path, undefined, { rawBody: keyRequest(mebibyte) })).status).toBe(
      201,
    );
    for (const { method, path: target } of bodyRoutes()) {
      const refused = await booted.panel.problem(method, target, undefined, {
        rawBody: keyRequest(mebibyte + 1),
      });
      expect([target, refused.httpStatus, refused.code]).toEqual([target, 413, 'body_too_large']);
    }
  });

  test('is measured as it arrives where no length is told', async () => {
    using socket = await RawSocket.open(booted.daemon.url);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${booted.daemon.port}\r\nContent-Type: application/json\r\n` +
        `Authorization: Bearer ${booted.session.session_token}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    // 17 chunks of 64 KiB; a last one never comes.
    for (let count = 0; count < 17; count += 1) socket.write(`10000\r\n${' '.repeat(65_536)}\r\n`);
    expect(statusOf(await socket.receive('body_too_large'))).toBe(413);
  });

  test('may be nested as deep as a megabyte allows without harm', async () => {
    const depth = mebibyte / 2 - 20;
    for (const rawBody of [
      '['.repeat(depth) + ']'.repeat(depth),
      `{"name":${'['.repeat(depth)}${']'.repeat(depth)}}`,
      `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    ]) {
      const refused = await booted.panel.problem('POST', path, undefined, { rawBody });
      expect(refused.httpStatus).toBe(422);
    }
  });

  test('with a name twice counts with its last value, and the answer shows which', async () => {
    const rawBody = '{"name":"first","name":"second","scopes":"read","expiry":"1d"}';
    expect(await booted.panel.json('POST', path, undefined, { rawBody })).toMatchObject({ name: 'second' });
  });

  test('can’t reach the prototype of anything', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      const rawBody = `{"name":"x","scopes":"read","expiry":"1d","${name}":{"polluted":true}}`;
      const refused = await booted.panel.problem('POST', path, undefined, { rawBody });
      expect([name, refused.httpStatus]).toEqual([name, 422]);
      const query = await booted.panel.problem('GET', `${path}?${name}=1`);
      expect([name, query.httpStatus]).toEqual([name, 422]);
    }
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  test('is not read before the caller is known: a stranger’s endless one is refused at once', async () => {
    using socket = await RawSocket.open(booted.daemon.url);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${booted.daemon.port}\r\nContent-Type: application/json\r\n` +
        'Content-Length: 1000000\r\n\r\n{',
    );
    const answer = await socket.receive('missing_credentials');
    expect(statusOf(answer)).toBe(401);
  });
});

function bodyRoutes() {
  return booted.daemon.routes.filter((route) => route.request.body !== undefined);
}
