import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { lineBreaksOf, withLineBreaks } from './line-breaks.ts';

test('tells how the lines of a text end', () => {
  expect(lineBreaksOf('')).toBe('lf');
  expect(lineBreaksOf('a\nb\n')).toBe('lf');
  expect(lineBreaksOf('a\r\nb\r\n')).toBe('crlf');
  expect(lineBreaksOf('a\r\nb\n')).toBe('mixed');
  expect(lineBreaksOf('a\rb\r')).toBe('mixed');
  expect(lineBreaksOf('a\r\r\nb')).toBe('mixed');
});

test('what goes through the editor unchanged is saved byte for byte, whatever its line breaks', () => {
  for (const text of ['', 'a', 'a\n', 'a\r\nb', '\r\n', 'a\r\nb\nc\rd', '\r\r\n', '\n\r', 'a\u2028b\n']) {
    const breaks = lineBreaksOf(text);
    const state = EditorState.create({
      doc: text,
      ...(breaks === 'mixed' ? { extensions: EditorState.lineSeparator.of('\n') } : {}),
    });
    expect(withLineBreaks(state.doc.toString(), breaks)).toBe(text);
  }
});
