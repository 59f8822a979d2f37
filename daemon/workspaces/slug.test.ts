import { describe, expect, test } from 'vitest';
import { Slug } from '../contract/projects.ts';
import { slugOf, uniqueSlug } from './slug.ts';

describe('slugOf', () => {
  test.for([
    ['My App (v2)', 'my-app-v2'],
    ['tally', 'tally'],
    ['Größe & Maße', 'gro-e-ma-e'],
    ['Café-Menü', 'cafe-menu'],
    ['ＦＵＬＬ', 'full'],
    ['日本語', 'project'],
    ['---', 'project'],
    ['', 'project'],
    ['..', 'project'],
    ['.hidden', 'hidden'],
    ['a__b..c', 'a-b-c'],
    ['🦊 fox 🦊', 'fox'],
    ['İstanbul', 'istanbul'],
  ] as const)('makes of %j %j', ([name, slug]) => {
    expect(slugOf(name)).toBe(slug);
  });

  test('is a slug of the contract whatever the name, and 64 characters at most', () => {
    for (const name of [
      'x'.repeat(64),
      'x'.repeat(65),
      `${'x'.repeat(63)} y`,
      `${'ab '.repeat(100)}`,
      '\0',
      '\ud800',
    ])
      expect(Slug.safeParse(slugOf(name)).success).toBe(true);
    expect(slugOf('x'.repeat(65))).toBe('x'.repeat(64));
    expect(slugOf(`${'x'.repeat(63)} y`)).toBe('x'.repeat(63));
  });
});

describe('uniqueSlug', () => {
  test('takes the wanted one, or the first number that is free', () => {
    expect(uniqueSlug('app', new Set())).toBe('app');
    expect(uniqueSlug('app', new Set(['app']))).toBe('app-2');
    expect(uniqueSlug('app', new Set(['app', 'app-2', 'app-4']))).toBe('app-3');
  });

  test('stays within 64 characters, without a double hyphen', () => {
    const long = 'x'.repeat(64);
    expect(uniqueSlug(long, new Set([long]))).toBe(`${'x'.repeat(62)}-2`);
    const hyphen = `${'x'.repeat(61)}-yy`;
    expect(uniqueSlug(hyphen, new Set([hyphen]))).toBe(`${'x'.repeat(61)}-2`);
  });
});
