import { expect, test } from 'vitest';
import { OpenFiles } from './open-files.ts';

test('files with unsaved changes are kept however many others are looked at after them', () => {
  const files = new OpenFiles();
  const changed = files.open('ws', 'a.ts', { text: '', etag: '"1"' });
  changed.edited(true);
  files.open('ws', 'b.ts', { text: '', etag: '"1"' });
  for (let n = 0; n < 20; n++) files.open('ws', `${n}.ts`, { text: '', etag: '"1"' });
  expect(files.get('ws', 'a.ts')).toBe(changed);
  expect(files.get('ws', 'b.ts')).toBeUndefined();
  expect(files.get('ws', '0.ts')).toBeDefined();
  expect(files.dirty()).toEqual(['ws/a.ts']);
});

test('unsaved changes follow a folder that is renamed, and leave its namesakes alone', () => {
  const files = new OpenFiles();
  const inside = files.open('ws', 'src/a.ts', { text: '', etag: '"1"' });
  const beside = files.open('ws', 'src2/a.ts', { text: '', etag: '"1"' });
  inside.edited(true);
  beside.edited(true);
  files.rename('ws', 'src', 'lib');
  expect(files.get('ws', 'lib/a.ts')).toBe(inside);
  expect(files.get('ws', 'src/a.ts')).toBeUndefined();
  expect(files.get('ws', 'src2/a.ts')).toBe(beside);
});

test('tells of a change of what is unsaved once, and not of every letter', () => {
  const files = new OpenFiles();
  let told = 0;
  files.subscribe(() => told++);
  const file = files.open('ws', 'a', { text: '', etag: '"1"' });
  file.edited(true);
  file.edited(true);
  expect(told).toBe(1);
  files.close('ws', 'a');
  expect(files.dirty()).toEqual([]);
  expect(told).toBe(2);
});

test('closing a folder forgets the files in it, and not its namesakes', () => {
  const files = new OpenFiles();
  for (const path of ['src/a', 'src/b/c', 'src2/a'])
    files.open('ws', path, { text: '', etag: '"1"' }).edited(true);
  files.close('ws', 'src');
  expect(files.dirty()).toEqual(['ws/src2/a']);
});
