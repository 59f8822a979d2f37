import fc from 'fast-check';
import { z } from 'zod';

type Schema = { readonly [name: string]: unknown };
type Definitions = Readonly<Record<string, Schema>>;

/** Strings that have broken programs before: controls, quotes, surrogates, names of objects' own members, long ones. */
const nastyTexts = [
  '',
  ' ',
  '\0',
  '\n',
  '\r\n\r\n',
  '"',
  '\\',
  "'; --",
  '%s%n',
  '%00',
  '%2e%2e%2f',
  '..',
  '../../../etc/passwd',
  '/etc/passwd',
  '/',
  '//',
  '~',
  '.',
  'C:\\Windows',
  '\\\\server\\share',
  '/proc/self/root',
  '/dev/zero',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  '-1',
  '1e999',
  '\ud800',
  '\udc00\ud800',
  '\ufeff',
  '\u202e',
  '𝒳',
  'e\u0301',
  '日本語',
  'x'.repeat(101),
  'x'.repeat(4096),
  'x'.repeat(4097),
  'x'.repeat(5000),
  '€'.repeat(65_536),
  'x'.repeat(65_537),
  'a/'.repeat(2500),
  '$(id)',
  '${HOME}',
  '<script>',
];

export const nastyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...nastyTexts),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 40 }),
);

const nastyNumber = fc.constantFrom(
  0,
  -0,
  -1,
  1,
  0.5,
  299.5,
  300,
  301,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e308,
  5e-324,
);

export const junk: fc.Arbitrary<unknown> = fc.oneof(
  nastyText,
  nastyNumber,
  fc.integer(),
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { toString: 1 }, { length: -1 }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(20, 2000).map((depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))),
);

/** Values that a schema takes, and values that it just does not: each member may be junk, missing, or one too many. */
export function aroundSchema(type: z.ZodType): fc.Arbitrary<unknown> {
  const { $defs = {}, ...schema } = z.toJSONSchema(type, { io: 'input' });
  const definitions = $defs as Definitions;
  const good = fromSchema(schema, definitions);
  return fc.oneof(
    { weight: 4, arbitrary: good },
    { weight: 4, arbitrary: good.chain(spoil) },
    { weight: 1, arbitrary: junk },
  );
}

function spoil(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return junk;
  const names = Object.keys(value);
  const name = fc.oneof(fc.constantFrom(...names, '__proto__'), nastyText);
  return fc.record({ name, replacement: junk, drop: fc.boolean() }).map(({ name, replacement, drop }) => {
    const entries = Object.entries(value).filter(([other]) => !drop || other !== name);
    // As JSON.parse would: `__proto__` is a member like any other.
    const spoiled = Object.fromEntries(entries);
    if (!drop)
      Object.defineProperty(spoiled, name, { value: replacement, enumerable: true, configurable: true });
    return spoiled;
  });
}

function fromSchema(schema: Schema, definitions: Definitions): fc.Arbitrary<unknown> {
  const { $ref, anyOf, oneOf, type } = schema;
  if (typeof $ref === 'string')
    return fromSchema(definitions[$ref.replace('#/$defs/', '')] ?? {}, definitions);
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices))
    return fc.oneof(...choices.map((choice: Schema) => fromSchema(choice, definitions)));
  switch (type) {
    case 'string':
      return fromText(schema);
    case 'integer':
    case 'number':
      return fromNumber(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'object':
      return fromObject(schema, definitions);
    default:
      return junk;
  }
}

function fromText({ pattern, minLength = 0, maxLength = 1000 }: Schema): fc.Arbitrary<string> {
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
  const [min, max] = [Number(minLength), Number(maxLength)];
  return fc.oneof(
    fc.string({ minLength: min, maxLength: Math.min(max, min + 40), unit: 'grapheme' }),
    // At both limits, and one over and under them.
    fc.constantFrom(min, max, max + 1, Math.max(0, min - 1)).map((length) => 'n'.repeat(length)),
  );
}

function fromNumber({ minimum = -1000, maximum = 1000 }: Schema): fc.Arbitrary<number> {
  const [min, max] = [Number(minimum), Number(maximum)];
  return fc.oneof(
    fc.integer({ min: Math.ceil(Math.max(min, -(2 ** 31))), max: Math.floor(Math.min(max, 2 ** 31 - 1)) }),
    fc.constantFrom(min, max, min - 1, max + 1),
  );
}

function fromObject(
  { properties = {}, required = [] }: Schema,
  definitions: Definitions,
): fc.Arbitrary<unknown> {
  const members = Object.entries(properties as Definitions).map(
    ([name, schema]) => [name, fromSchema(schema, definitions)] as const,
  );
  return fc.record(Object.fromEntries(members), {
    requiredKeys: required as string[],
    noNullPrototype: true,
  });
}
