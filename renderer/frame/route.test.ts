import { expect, test } from 'vitest';
import { parseRoute, routeTo } from './route.ts';

test('a path with slashes, spaces, percent and question marks comes back as it was', () => {
  for (const path of ['src/main.ts', 'a b/c?d#e/100%.md', 'ä/日本.txt', '-x']) {
    expect(parseRoute(routeTo('files', path)).selected).toBe(path);
  }
});

test('options stand beside what is selected', () => {
  const route = parseRoute(routeTo('files', 'src/a.ts', { line: '12' }));
  expect(route).toMatchObject({ view: 'files', selected: 'src/a.ts' });
  expect(route.options.get('line')).toBe('12');
  expect(parseRoute(routeTo('receipts', undefined, { path: 'a&b' })).options.get('path')).toBe('a&b');
});

test('an address that names no view leads to the workspaces, and a lone percent breaks nothing', () => {
  expect(parseRoute('#/nowhere/x')).toMatchObject({ view: 'workspaces', selected: null });
  expect(parseRoute('#/files/100%')).toMatchObject({ view: 'files', selected: '100%' });
  expect(parseRoute('')).toMatchObject({ view: 'workspaces', selected: null });
});
