import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CodedError, type ErrorCode, errorStatus, Problem } from '../contract/errors.ts';
import { type BootedDaemon, boot } from '../testing/boot.ts';
import { client } from '../testing/client.ts';
import { memoryLog } from '../testing/memory-log.ts';
import { createApp } from './app.ts';
import { RateLimiter } from './rate-limit.ts';
import { type Route, route } from './route.ts';
import { listenOnLoopback } from './server.ts';

let booted: BootedDaemon;

beforeAll(async () => {
  booted = await boot();
});
afterAll(() => booted[Symbol.asyncDispose]());

/** One public route at /thrown that fails as told, behind the real app and server. */
async function serving(fail: () => unknown, log = memoryLog()) {
  const routes: Route[] = [
    route({
      method: 'get',
      path: '/thrown',
      summary: 'Fails',
      scope: 'public',
      limit: 'none',
      request: {},
      response: {},
      errors: [],
      handler: () => {
        throw fail();
      },
    }),
  ];
  const authenticate = () => {
    throw new Error('nothing here asks for a credential');
  };
  const rateLimiter = new RateLimiter(1, Date.now);
  const app = createApp({ version: '0.0.0', routes, logger: log.logger, authenticate, rateLimiter });
  const server = await listenOnLoopback({ port: 0, version: '1.2.3', logger: log.logger, app });
  return { server, log, ...client(server.url) };
}

describe('a failure', () => {
  test.for(Object.entries(errorStatus) as [ErrorCode, number][])(
    'of code %s is a problem document with status %i, in the header and in the body',
    async ([code, status]) => {
      const { server, send } = await serving(() => new CodedError(code, 'What went wrong.'));
      await using _ = server;
      const answer = await send('GET', '/thrown');
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const problem = await answer.json();
      expect(Problem.parse(problem)).toEqual({
        type: `/docs/errors#${code}`,
        title: expect.stringMatching(/^[A-Z]/),
        status,
        detail: 'What went wrong.',
        code,
      });
    },
  );

  test('can’t pass off its own members as the standard ones', async () => {
    const members = { status: 200, code: 'fine', detail: 'all is well', extra: 1 };
    const { server, problem } = await serving(() => new CodedError('conflict', 'No.', { members }));
    await using _ = server;
    expect(await problem('GET', '/thrown')).toMatchObject({
      status: 409,
      code: 'conflict',
      detail: 'No.',
      extra: 1,
    });
  });

  test.for([
    ['an error', () => new Error('/home/me/.ssh/id_ed25519 holds hunter2')],
    ['a system error', () => Object.assign(new Error('EACCES: /root/x'), { code: 'EACCES', status: 'odd' })],
    [
      'an error that names its own status',
      () => Object.assign(new Error('hunter2'), { status: 200, statusCode: 200 }),
    ],
    ['a string', () => 'hunter2'],
    ['nothing', () => undefined],
    ['null', () => null],
    ['a circle', circle],
  ] satisfies [string, () => unknown][])(
    'nobody expected is a 500 that tells nothing, and the log has it: %s',
    async ([, fail]) => {
      const { server, send, log } = await serving(fail);
      await using _ = server;
      const answer = await send('GET', '/thrown');
      expect(answer.status).toBe(500);
      const text = await answer.text();
      expect(JSON.parse(text)).toEqual({
        type: '/docs/errors#internal_error',
        title: 'Internal Server Error',
        status: 500,
        detail: 'Something went wrong in the daemon; its log has the details.',
        code: 'internal_error',
      });
      expect(log.text()).toContain('"level":50');
      expect((await send('GET', '/other')).status).toBe(404);
    },
  );
});

describe('an unknown path', () => {
  test.for([
    '/api/nothing',
    '/nothing',
    '/api',
    '/api/shell',
    '/docs/../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/..%2fpackage.json',
    '/assets/%00',
    '/.git/config',
  ])('is a 404 problem: %s', async (path) => {
    const refused = await booted.panel.problem('GET', path);
    expect([refused.httpStatus, refused.code]).toEqual([404, 'not_found']);
    expect(JSON.stringify(refused)).not.toContain(process.cwd());
  });

  test('that can’t be decoded is a 4xx problem', async () => {
    for (const path of ['/%zz', '/api/shell/cancel/%E0%A4%A', '/docs/%', '/assets/%ff']) {
      const { httpStatus, code } = await booted.panel.problem('POST', path);
      expect([path, httpStatus >= 400 && httpStatus < 500, typeof code]).toEqual([path, true, 'string']);
    }
  });
});

describe('a method that a path does not take', () => {
  test('is 405 and Allow says which it takes, for every path of the table', async () => {
    const byPath = Map.groupBy(booted.daemon.routes, (route) => route.path);
    for (const [path, routes] of byPath) {
      const methods = routes.map(({ method }) => method.toUpperCase());
      const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].filter(
        (m) => !methods.includes(m),
      )) {
        const answer = await booted.stranger.send(method, path);
        expect([method, path, answer.status]).toEqual([method, path, 405]);
        expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(allowed.sort());
        expect(await answer.json()).toMatchObject({ code: 'method_not_allowed' });
      }
    }
  });
});

describe('HEAD', () => {
  test('answers as GET does, without the body', async () => {
    for (const path of ['/healthz', '/openapi.json', '/api/status', '/api/project/recent', '/api/session']) {
      const got = await booted.panel.send('GET', path);
      const head = await booted.panel.send('HEAD', path);
      expect([path, head.status, await head.text()]).toEqual([path, got.status, '']);
      expect(head.headers.get('content-type')).toBe(got.headers.get('content-type'));
    }
    expect((await booted.stranger.send('HEAD', '/api/status')).status).toBe(401);
  });

  test('of a stream answers its head and ends; no listener is left behind', async () => {
    const head = await booted.panel.send('HEAD', '/api/events');
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const { open_streams } = await booted.panel.json<{ open_streams: number }>('GET', '/api/status');
    expect(open_streams).toBe(0);
  });
});

function circle(): Error {
  const error = new Error('hunter2');
  return Object.assign(error, { self: error });
}
