import { expect, test } from 'vitest';
import { attribute, parseAnsi, plainStyle, stripAnsi, styleAfter, trueColor } from './ansi.ts';

const esc = String.fromCharCode(27);
const bell = String.fromCharCode(7);

test.each([
  ['31', { fg: 1 }],
  ['97', { fg: 15 }],
  ['44', { bg: 4 }],
  ['103', { bg: 11 }],
  ['38;5;208', { fg: 208 }],
  ['48;5;17', { bg: 17 }],
  ['38;2;1;2;3', { fg: trueColor | 0x010203 }],
  ['38:2::1:2:3', { fg: trueColor | 0x010203 }],
  ['38:2:1:2:3', { fg: trueColor | 0x010203 }],
  ['48:5:9', { bg: 9 }],
  ['38;2;999;0;0', { fg: trueColor | 0xff0000 }],
])('reads the colour of SGR %s', (codes, expected) => {
  const { spans } = parseAnsi(`${esc}[${codes}mx`, plainStyle);
  expect(spans).toEqual([{ text: 'x', style: { attributes: 0, ...expected } }]);
});

test('reads what follows an extended colour in the same sequence', () => {
  const { style } = parseAnsi(`${esc}[1;38;5;208;4;48;2;1;2;3;3m`, plainStyle);
  expect(style).toEqual({
    fg: 208,
    bg: trueColor | 0x010203,
    attributes: attribute.bold | attribute.underline | attribute.italic,
  });
});

test('takes each attribute off again, and all at once with 0 or nothing', () => {
  const on = `${esc}[1;2;3;4;7;9;31;42m`;
  expect(styleAfter(`${on}${esc}[22;23;24;27;29;39;49m`, plainStyle)).toEqual(plainStyle);
  expect(styleAfter(`${on}${esc}[0m`, plainStyle)).toEqual(plainStyle);
  expect(styleAfter(`${on}${esc}[m`, plainStyle)).toEqual(plainStyle);
});

test('goes on in the style that the line before left', () => {
  const red = styleAfter(`${esc}[31mred`, plainStyle);
  expect(parseAnsi(`more${esc}[0m plain`, red).spans).toEqual([
    { text: 'more', style: { fg: 1, attributes: 0 } },
    { text: ' plain', style: plainStyle },
  ]);
});

test.each([
  ['a cursor movement', `a${esc}[2K${esc}[1;1Hb`, 'ab'],
  ['a private mode', `a${esc}[?25lb`, 'ab'],
  ['a window title', `a${esc}]0;title${bell}b`, 'ab'],
  ['a link, whose text stays', `${esc}]8;;https://example.com${esc}\\text${esc}]8;;${esc}\\`, 'text'],
  ['a device control string', `a${esc}P1$qm${esc}\\b`, 'ab'],
  ['a character set', `a${esc}(Bb`, 'ab'],
  ['bells and backspaces', `a${bell}\bb`, 'ab'],
  ['an escape that the end cuts short', `a${esc}[38;5`, 'a'],
  ['an escape alone at the end', `a${esc}`, 'a'],
])('drops %s', (_what, line, visible) => {
  expect(stripAnsi(line)).toBe(visible);
  expect(
    parseAnsi(line, plainStyle)
      .spans.map((span) => span.text)
      .join(''),
  ).toBe(visible);
});

test('an escape that a line cuts short takes nothing of the next line', () => {
  expect(stripAnsi(`a${esc}]0;title\nb${esc}[3\nc`)).toBe('a\nb\nc');
});

test('tabs stay', () => {
  expect(stripAnsi('a\tb')).toBe('a\tb');
});
