import { expect, test } from 'vitest';
import { OpenFile } from './open-file.ts';
import type { OpenedFile } from './read-file.ts';

const base = { text: 'one\n', etag: '"1"' };

test('a file without unsaved changes follows the disk', () => {
  const { file, shown } = opened();
  file.found(text('two\n', '"2"'));
  expect(shown()).toBe('two\n');
  expect(file.snapshot()).toMatchObject({ base: { etag: '"2"' }, dirty: false, newer: undefined });
});

test('unsaved changes stay when the disk changes, and the difference is told until it is gone', () => {
  const { file, type, shown } = opened();
  type('mine\n');
  file.found(text('two\n', '"2"'));
  expect(shown()).toBe('mine\n');
  expect(file.snapshot()).toMatchObject({ base, newer: { text: 'two\n' } });
  file.found(text('one\n', '"1"'));
  expect(file.snapshot().newer).toBeUndefined();
});

test('its own save, read back while it is under way, is no change of somebody else', () => {
  const { file, type } = opened();
  type('mine\n');
  file.saving();
  file.found(text('mine\n', '"2"'));
  expect(file.snapshot().newer).toBeUndefined();
  file.saved({ text: 'mine\n', etag: '"2"' });
  expect(file.snapshot()).toMatchObject({ dirty: false, newer: undefined, base: { etag: '"2"' } });
});

test('a change by somebody else right after the save is told, or taken over where nothing is unsaved', () => {
  const { file, type, shown } = opened();
  type('mine\n');
  file.saving();
  file.found(text('theirs\n', '"3"'));
  file.saved({ text: 'mine\n', etag: '"2"' });
  expect(shown()).toBe('theirs\n');
});

test('what is typed while a save is under way is unsaved afterwards', () => {
  const { file, type } = opened();
  type('mine\n');
  file.saving();
  type('mine and more\n');
  file.saved({ text: 'mine\n', etag: '"2"' });
  expect(file.snapshot()).toMatchObject({ dirty: true, base: { etag: '"2"' } });
});

test('a file that was deleted, or that became binary, never empties the editor', () => {
  const { file, shown } = opened();
  file.found('gone');
  expect(shown()).toBe('one\n');
  expect(file.snapshot().newer).toBe('gone');
  file.found({ kind: 'binary', etag: '"2"', size: 3 });
  expect(shown()).toBe('one\n');
  expect(file.snapshot().newer).toMatchObject({ kind: 'binary' });
});

test('a save that failed leaves everything as it was', () => {
  const { file, type, shown } = opened();
  type('mine\n');
  file.saving();
  file.notSaved();
  expect(file.snapshot()).toMatchObject({ base, dirty: true, saving: false });
  expect(shown()).toBe('mine\n');
});

/** An open file with an editor that is a string. */
function opened() {
  const file = new OpenFile(base);
  let content = base.text;
  file.editor = {
    read: () => content,
    replace: (next) => {
      content = next;
    },
    changed: () => {},
    save: () => {},
  };
  const type = (next: string) => {
    content = next;
    file.edited(next !== file.snapshot().base.text);
  };
  return { file, type, shown: () => content };
}

function text(content: string, etag: string): OpenedFile {
  return { kind: 'text', text: content, etag, size: content.length };
}
