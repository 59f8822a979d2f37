import * as z from 'zod';
import type { ErrorCode } from '../contract/errors.ts';
import { errorStatus, Problem } from '../contract/errors.ts';
import type { ResponseDescription, Route } from './route.ts';

type Json = Record<string, unknown>;

/** What every route can answer, beside what it names itself. */
const commonErrors: readonly ErrorCode[] = ['host_not_allowed', 'origin_not_allowed', 'internal_error'];
const credentialErrors: readonly ErrorCode[] = [
  'missing_credentials',
  'invalid_key',
  'revoked_key',
  'expired_key',
  'session_expired',
  'insufficient_scope',
  'rate_limited',
  'bad_request',
];

/** OpenAPI 3.1 document of the route table, from the very schemas that validate the requests. */
export function describeApi(routes: readonly Route[], version: string): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: describeOperation(route, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tallystick',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Local development service for AI agents: workspaces, bounded commands with live output, scoped keys. Loopback only. Errors are RFC 9457 problem documents with a stable `code`.',
    },
    paths,
    components: {
      schemas: sorted(components),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key (tly_…) or a panel session token (tls_…)',
        },
        api_key: {
          type: 'apiKey',
          in: 'query',
          name: 'api_key',
          description: 'GET only; less secure than the header',
        },
      },
    },
  };
}

function describeOperation(route: Route, components: Json): Json {
  const { request, scope, method } = route;
  return {
    operationId: `${method}_${route.path.replace(/^\/(api\/)?/, '').replace(/[^a-z0-9]+/gi, '_')}`.replace(
      /_+$/,
      '',
    ),
    summary: route.summary,
    tags: [route.path.split('/')[2] ?? 'service'],
    'x-scope': scope,
    security: scope === 'public' ? [] : [{ bearer: [] }, ...(method === 'get' ? [{ api_key: [] }] : [])],
    parameters: [
      ...parametersOf(request.params, 'path', components),
      ...parametersOf(request.query, 'query', components),
      ...(route.workspace ? [workspaceHeader] : []),
      ...Object.entries(route.headers ?? {}).map(headerParameter),
    ],
    ...requestBodyOf(request, components),
    responses: { ...successes(route, components), ...failures(route, components) },
  };
}

function requestBodyOf({ body, rawBody }: Route['request'], components: Json): Json {
  if (body !== undefined)
    return {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: toSchema(body, components) } },
      },
    };
  if (rawBody === undefined) return {};
  const content = rawBody.contentTypes.map((type) => [
    type,
    { schema: { type: 'string', format: 'binary' } },
  ]);
  return { requestBody: { required: true, content: Object.fromEntries(content) } };
}

const workspaceHeader = {
  name: 'X-Workspace-Id',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description: "Id or slug of the workspace that is meant; without it, the caller's active one",
};

function headerParameter([name, description]: [string, string]): Json {
  return { name, in: 'header', required: false, schema: { type: 'string' }, description };
}

function parametersOf(schema: z.ZodType | undefined, where: 'path' | 'query', components: Json): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = toSchema(schema, components) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema: property,
    ...(typeof property.description === 'string' ? { description: property.description } : {}),
  }));
}

function successes({ response }: Route, components: Json): Json {
  const described = Object.entries(response).map(
    ([status, { description, schema, contentType = 'application/json' }]: [string, ResponseDescription]) => [
      status,
      {
        description,
        ...(schema === undefined
          ? {}
          : { content: { [contentType]: { schema: toSchema(schema, components) } } }),
      },
    ],
  );
  return Object.fromEntries(described);
}

function failures(route: Route, components: Json): Json {
  const codes = new Set([
    ...commonErrors,
    ...(route.scope === 'public' ? [] : credentialErrors),
    ...bodyErrors(route),
    ...route.errors,
  ]);
  const byStatus = Map.groupBy([...codes].sort(), (code) => errorStatus[code]);
  const schema = toSchema(Problem, components);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      String(status),
      { description: ofStatus.join(', '), content: { 'application/problem+json': { schema } } },
    ]),
  );
}

function bodyErrors({ request }: Route): readonly ErrorCode[] {
  const validated = request.params !== undefined || request.query !== undefined || request.body !== undefined;
  return [
    ...(validated ? (['invalid_request'] as const) : []),
    ...(request.body === undefined
      ? []
      : (['malformed_json', 'body_too_large', 'unsupported_media_type'] as const)),
    ...(request.rawBody === undefined ? [] : (['file_too_large', 'unsupported_media_type'] as const)),
  ];
}

/** Named schemas go to the components, once; what is left refers to them. */
function toSchema(schema: z.ZodType, components: Json): Json {
  const {
    $defs = {},
    $schema: _dialect,
    ...body
  } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input', reused: 'inline' }) as Json & {
    $defs?: Json;
  };
  for (const [name, definition] of Object.entries($defs)) components[name] = relocate(definition);
  const relocated = relocate(body) as Json;
  if (typeof relocated.id !== 'string') return relocated;
  const { id, ...rest } = relocated;
  components[id] = rest;
  return { $ref: `#/components/schemas/${id}` };
}

function relocate(value: unknown): unknown {
  const text = JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/');
  return JSON.parse(text, (key, inner: unknown) => (isSchemaWithId(key, inner) ? withoutId(inner) : inner));
}

function isSchemaWithId(key: string, value: unknown): value is Json {
  return (
    key !== '' &&
    key !== 'properties' &&
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    typeof value.id === 'string'
  );
}

function withoutId({ id: _id, ...rest }: Json): Json {
  return rest;
}

function sorted(record: Json): Json {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => a.localeCompare(b)));
}
