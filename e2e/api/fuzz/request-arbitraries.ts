import fc from 'fast-check';
import type { z } from 'zod';
import type { Route } from '../../../daemon/http/route.ts';
import { aroundSchema, junk, nastyText } from './json-arbitraries.ts';

export interface FuzzedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly credential: 'none' | 'bad' | 'read' | 'admin' | 'session';
}

export interface Known {
  /** Ids of things that are there, so that not every call ends at the first check. */
  readonly ids: readonly string[];
  readonly paths: readonly string[];
}

/** Commands that do no harm, whatever else is around them; and some that can't even be started. */
const commands = [
  'true',
  'exit 3',
  'echo $FREE_PORT',
  '(',
  '\0',
  ' ',
  'é'.repeat(65_536),
  '€'.repeat(60_000),
  '\ud800',
  `: ${'y'.repeat(65_000)}`,
];

export function fuzzedRequest(routes: readonly Route[], known: Known): fc.Arbitrary<FuzzedRequest> {
  const ofRoutes = routes.map((route) => requestTo(route, known));
  return fc.oneof(
    { weight: 12, arbitrary: fc.oneof(...ofRoutes) },
    { weight: 1, arbitrary: requestToNowhere },
  );
}

const credential = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('admin', 'session') },
  { weight: 1, arbitrary: fc.constantFrom('none', 'bad', 'read') },
) as fc.Arbitrary<FuzzedRequest['credential']>;

const requestToNowhere: fc.Arbitrary<FuzzedRequest> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'),
  path: nastyText.map((text) => `/${encodeURI(text.toWellFormed()).slice(0, 3000)}`),
  headers: fc.constant({}),
  body: fc.constant(undefined),
  credential,
});

function requestTo(route: Route, known: Known): fc.Arbitrary<FuzzedRequest> {
  const isRun = route.path === '/api/shell/run';
  // Signing out would leave the rest of the run without its session.
  const callers = route.path === '/api/session' ? fc.constantFrom('none', 'bad', 'admin') : credential;
  return fc
    .record({
      path: pathOf(route, known),
      query: queryOf(route.request.query),
      body: bodyOf(route.request.body, known),
      headers: headersOf(known),
      credential: callers as typeof credential,
      command: fc.constantFrom(...commands),
    })
    .map(({ path, query, body, headers, command, ...rest }) => ({
      ...rest,
      method: route.method.toUpperCase(),
      path: path + query,
      headers: { 'content-type': 'application/json', ...headers },
      body: route.method === 'get' ? undefined : isRun ? withCommand(body, command) : body,
    }));
}

function pathOf({ path }: Route, { ids }: Known): fc.Arbitrary<string> {
  const names = [...path.matchAll(/:\w+/g)].map(([name]) => name);
  const value = fc
    .oneof(fc.constantFrom(...ids), nastyText)
    .map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 3000));
  return fc
    .tuple(...names.map(() => value))
    .map((values) => names.reduce((text, name, index) => text.replace(name, values[index] ?? ''), path));
}

function queryOf(schema: z.ZodType | undefined): fc.Arbitrary<string> {
  const declared = schema === undefined ? fc.constant({}) : aroundSchema(schema);
  const some = fc.oneof(
    { weight: 3, arbitrary: declared },
    { weight: 1, arbitrary: fc.dictionary(nastyText, nastyText) },
  );
  return some.map((query) => {
    if (typeof query !== 'object' || query === null) return '?%';
    const pairs = Object.entries(query).map(([name, value]) =>
      [name, typeof value === 'string' ? value : JSON.stringify(value)]
        .map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 2000))
        .join('='),
    );
    return pairs.length === 0 ? '' : `?${pairs.slice(0, 4).join('&')}`;
  });
}

function bodyOf(schema: z.ZodType | undefined, { paths }: Known): fc.Arbitrary<string | undefined> {
  const value = schema === undefined ? junk : aroundSchema(schema);
  const withPath = fc
    .tuple(value, fc.constantFrom(...paths))
    .map(([body, path]) => withMember(body, 'path', path));
  const text = fc
    .oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: withPath })
    .map((body) => JSON.stringify(body));
  return fc.oneof(
    { weight: 8, arbitrary: text },
    {
      weight: 1,
      arbitrary: fc.tuple(text, fc.nat()).map(([whole, at]) => whole?.slice(0, at % (whole.length + 1))),
    },
    { weight: 1, arbitrary: nastyText },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

function headersOf({ ids }: Known): fc.Arbitrary<Record<string, string>> {
  // What `fetch` lets through; anything else is the raw requests' part.
  const value = fc.oneof(fc.constantFrom(...ids), nastyText).map((text) =>
    text
      .replace(/[^\x20-\x7e]/g, '')
      .trim()
      .slice(0, 3000),
  );
  return fc.record(
    {
      'x-workspace-id': value,
      'last-event-id': value,
      'content-type': fc.oneof(
        { weight: 20, arbitrary: fc.constant('application/json') },
        { weight: 1, arbitrary: value },
      ),
      'content-encoding': fc.constantFrom('identity', 'gzip', 'br', 'x'),
      accept: value,
      range: fc.constantFrom('bytes=0-', 'bytes=9-1', 'x'),
      'if-none-match': value,
    },
    { requiredKeys: [] },
  );
}

/** A generated command line would really be run: it is always one of ours. */
function withCommand(body: string | undefined, command: string): string | undefined {
  if (body === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    const isCommand =
      typeof parsed === 'object' && parsed !== null && 'cmd' in parsed && typeof parsed.cmd === 'string';
    return isCommand ? JSON.stringify(withMember(parsed, 'cmd', command)) : body;
  } catch {
    // No JSON, so nothing that could be run.
    return body;
  }
}

function withMember(body: unknown, name: string, value: string): unknown {
  if (typeof body !== 'object' || body === null || !(name in body)) return body;
  const changed = structuredClone(body);
  Object.defineProperty(changed, name, { value, enumerable: true, configurable: true });
  return changed;
}
