import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type BootedDaemon, boot } from '../testing/boot.ts';

type Json = Record<string, unknown>;

const Parameter = z.strictObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
  schema: z.record(z.string(), z.unknown()),
  description: z.string().optional(),
});
const Content = z.record(z.string(), z.strictObject({ schema: z.record(z.string(), z.unknown()) }));
const Operation = z.strictObject({
  operationId: z.string().regex(/^[a-z][a-z_]*$/),
  summary: z.string().min(1),
  tags: z.array(z.string()).length(1),
  'x-scope': z.enum(['public', 'session', 'read', 'write', 'agent', 'admin']),
  security: z.array(z.record(z.string(), z.array(z.never()))),
  parameters: z.array(Parameter),
  requestBody: z.strictObject({ required: z.literal(true), content: Content }).optional(),
  responses: z.record(
    z.string().regex(/^[1-5]\d\d$/),
    z.strictObject({ description: z.string().min(1), content: Content.optional() }),
  ),
});
const Document = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d$/),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(
    z.string().startsWith('/'),
    z.partialRecord(z.enum(['get', 'post', 'put', 'delete']), z.unknown()),
  ),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[A-Za-z0-9._-]+$/), z.unknown()),
    securitySchemes: z.record(z.string(), z.looseObject({ type: z.enum(['http', 'apiKey']) })),
  }),
});

const count = z.int().min(0);
const anything = z.unknown();
const subschema = z.union([z.boolean(), z.record(z.string(), anything)]);
const TypeName = z.enum(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
/** The keywords of JSON Schema 2020-12 that the contract uses, each with what may stand at it; no other is let in. */
const SchemaObject = z.strictObject({
  $ref: z.string().startsWith('#/components/schemas/').optional(),
  type: z.union([TypeName, z.array(TypeName).min(1)]).optional(),
  enum: z.array(anything).min(1).optional(),
  const: anything.optional(),
  properties: z.record(z.string(), subschema).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: subschema.optional(),
  propertyNames: subschema.optional(),
  items: subschema.optional(),
  anyOf: z.array(subschema).min(1).optional(),
  oneOf: z.array(subschema).min(1).optional(),
  allOf: z.array(subschema).min(1).optional(),
  minLength: count.optional(),
  maxLength: count.optional(),
  minItems: count.optional(),
  maxItems: count.optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z
    .string()
    .refine((source) => new RegExp(source, 'u') !== undefined)
    .optional(),
  format: z.string().optional(),
  description: z.string().optional(),
  default: anything.optional(),
});

let booted: BootedDaemon;
let document: z.infer<typeof Document>;
let operations: { path: string; method: string; operation: z.infer<typeof Operation> }[];

beforeAll(async () => {
  booted = await boot();
  document = Document.parse(await booted.stranger.json('GET', '/openapi.json'));
  operations = Object.entries(document.paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod as Json).map(([method, operation]) => ({
      path,
      method,
      operation: Operation.parse(operation),
    })),
  );
});
afterAll(() => booted[Symbol.asyncDispose]());

describe('the OpenAPI document', () => {
  test('has every route with its scope, and nothing else', () => {
    const described = operations.map(
      ({ path, method, operation }) => `${method} ${path} ${operation['x-scope']}`,
    );
    const routes = booted.daemon.routes.map(
      ({ method, path, scope }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')} ${scope}`,
    );
    expect(described.sort()).toEqual(routes.sort());
    expect(document.info.version).toBe(booted.daemon.version);
  });

  test('names every operation once, and every security scheme it uses', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation } of operations)
      for (const requirement of operation.security)
        for (const name of Object.keys(requirement))
          expect(Object.keys(document.components.securitySchemes)).toContain(name);
  });

  test('declares exactly the parameters of each path, all required', () => {
    for (const { path, operation } of operations) {
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path');
      const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      expect(declared.map(({ name }) => name)).toEqual(names);
      expect(declared.every(({ required }) => required)).toBe(true);
    }
  });

  test('declares X-Workspace-Id exactly where a call works on a workspace', () => {
    for (const { path, method, operation } of operations) {
      const route = booted.daemon.routes.find(
        (candidate) => candidate.method === method && candidate.path.replace(/:(\w+)/g, '{$1}') === path,
      );
      const declared = operation.parameters.some(({ name }) => name === 'X-Workspace-Id');
      expect([method, path, declared]).toEqual([method, path, route?.workspace === true]);
    }
  });

  test('has references that all resolve, components that are all used, and no stray keyword in a schema', () => {
    const references = new Set<string>();
    for (const { key, value } of everyMember(document)) {
      if (key === '$ref') references.add(String(value));
      expect(['$defs', '$id', '$schema', 'definitions', 'nullable'].includes(key)).toBe(false);
    }
    expect([...references].sort()).toEqual(
      Object.keys(document.components.schemas)
        .map((name) => `#/components/schemas/${name}`)
        .sort(),
    );
    for (const schema of everySchema()) expect(typeof schema.id === 'string').toBe(false);
  });

  test('has schemas that are all valid JSON Schema 2020-12', () => {
    const schemas = [...everySchema()];
    for (const schema of schemas)
      expect([schema, SchemaObject.safeParse(schema).error?.issues]).toEqual([schema, undefined]);
    expect(schemas.length).toBeGreaterThan(50);
  });

  test('says what a request must be, and every status it may be answered with', () => {
    const [ours] = operations.filter(({ operation }) => operation.operationId === 'post_account_api_keys');
    const body = ours?.operation.requestBody?.content['application/json']?.schema;
    expect(body).toEqual({ $ref: '#/components/schemas/CreateKeyRequest' });
    expect(document.components.schemas.CreateKeyRequest).toMatchObject({
      type: 'object',
      required: ['name', 'scopes', 'expiry'],
      additionalProperties: false,
    });
    expect(Object.keys(ours?.operation.responses ?? {})).toEqual(
      expect.arrayContaining([
        '201',
        '400',
        '401',
        '403',
        '409',
        '413',
        '415',
        '421',
        '422',
        '429',
        '500',
        '507',
      ]),
    );
  });

  test('needs no credential, and is the same each time', async () => {
    const texts = await Promise.all(
      [1, 2].map(async () => (await booted.stranger.send('GET', '/openapi.json')).text()),
    );
    expect(texts[0]).toBe(texts[1]);
  });
});

/** Every object that stands where JSON Schema stands, nested ones included. */
function* everySchema(): Generator<Json> {
  const roots = [
    ...Object.values(document.components.schemas),
    ...operations.flatMap(({ operation }) => [
      ...operation.parameters.map(({ schema }) => schema),
      ...[operation.requestBody?.content, ...Object.values(operation.responses).map(({ content }) => content)]
        .filter((content) => content !== undefined)
        .flatMap((content) => Object.values(content).map(({ schema }) => schema)),
    ]),
  ];
  for (const root of roots) yield* schemasIn(root as Json);
}

function* schemasIn(schema: Json): Generator<Json> {
  yield schema;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties')
      for (const inner of Object.values(value as Json)) yield* schemasIn(inner as Json);
    else if (['items', 'additionalProperties', 'propertyNames', 'not'].includes(key) && isObject(value))
      yield* schemasIn(value);
    else if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(key))
      for (const inner of value as Json[]) yield* schemasIn(inner);
  }
}

function* everyMember(value: unknown): Generator<{ key: string; value: unknown }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    yield { key, value: inner };
    yield* everyMember(inner);
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
