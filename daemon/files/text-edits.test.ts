import { describe, expect, test } from 'vitest';
import type { TextEdit } from '../contract/files.ts';
import { applyEdits } from './text-edits.ts';

const maxBytes = 1000;
const run = async (content: string | Buffer, ...edits: TextEdit[]) => {
  const edited = await applyEdits(Buffer.from(content), edits, maxBytes);
  return { text: edited.content.toString('utf8'), replacements: edited.replacements };
};
const edit = (old_text: string, new_text: string, all?: boolean): TextEdit =>
  all === undefined ? { old_text, new_text } : { old_text, new_text, all };

describe('applyEdits', () => {
  test('applies edits in order, each to the result of those before', async () => {
    expect(await run('a b', edit('a', 'b c'), edit('b c b', 'done'))).toEqual({
      text: 'done',
      replacements: 2,
    });
  });

  test('keeps the byte order mark, the line ends and the missing newline at the end', async () => {
    const { text } = await run('\ufeffone\r\ntwo\nthree', edit('two', '2'));
    expect(Buffer.from(text)).toEqual(Buffer.from('\ufeffone\r\n2\nthree'));
  });

  test('replaces every place with all: true, from the left and without overlaps, and takes $& as it is', async () => {
    expect(await run('aaaaa', edit('aa', '$&', true))).toEqual({ text: '$&$&a', replacements: 2 });
    expect(await run('x', edit('x', '', true))).toEqual({ text: '', replacements: 1 });
  });

  test('finds characters, not pieces of their bytes', async () => {
    expect((await run('é 😀 e\u0301', edit('😀', '🎉'))).text).toBe('é 🎉 e\u0301');
    await expect(run('é', edit('e\u0301', 'x'))).rejects.toMatchObject({ code: 'edit_not_found' });
  });

  test('names the edit that finds nothing, and says where only the line ends differ', async () => {
    await expect(run('abc', edit('a', 'x'), edit('a', 'y'))).rejects.toMatchObject({
      code: 'edit_not_found',
      members: { edit: 1 },
    });
    await expect(run('a\r\nb', edit('a\nb', 'x'))).rejects.toThrow(/other line ends/);
    await expect(run('a\nb', edit('a\r\nb', 'x'))).rejects.toThrow(/other line ends/);
  });

  test('counts the places and their lines where one was meant; places that overlap are two', async () => {
    await expect(run('a\nb a\n\na', edit('a', 'x'))).rejects.toMatchObject({
      code: 'edit_ambiguous',
      members: { edit: 0, count: 3, lines: [1, 2, 4] },
    });
    await expect(run('aaa', edit('aa', 'x'))).rejects.toMatchObject({ members: { count: 2, lines: [1, 1] } });
    await expect(run('x\n'.repeat(30), edit('x', 'y'))).rejects.toMatchObject({
      members: { count: 30, lines: Array.from({ length: 20 }, (_, index) => index + 1) },
    });
  });

  test('refuses what is no UTF-8 text, and half characters in the edit', async () => {
    for (const content of [Buffer.from([0xff, 0xfe, 0x41]), Buffer.from('a\0b')])
      await expect(run(content, edit('a', 'b'))).rejects.toMatchObject({ code: 'not_a_text_file' });
    await expect(run('a', edit('a', '\ud800'))).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(run('a', edit('\udc00', 'x'))).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('lets the file grow to the limit, and not one byte over', async () => {
    expect((await run('x', edit('x', 'y'.repeat(maxBytes)))).text).toHaveLength(maxBytes);
    await expect(run('x', edit('x', 'y'.repeat(maxBytes + 1)))).rejects.toMatchObject({
      code: 'file_too_large',
    });
  });

  test('takes 100,000 places, and not one more', async () => {
    const places = (count: number) => applyEdits(Buffer.alloc(count, 'a'), [edit('a', 'b', true)], 200_000);
    expect(await places(100_000)).toMatchObject({ replacements: 100_000 });
    await expect(places(100_001)).rejects.toMatchObject({ code: 'edit_ambiguous' });
  });
});
