import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FrameEncoder, worstGrowth } from './peers/frame-encoder.ts';

it('makes the frames that JSON.stringify makes of each line, wherever the input is cut', () => {
  const line = fc.string({
    unit: fc.constantFrom('a', 'ö', '🧮', '"', '\\', '\t', '\u001b', '\u007f', '\0'),
    maxLength: 20,
  });
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      (lines, ends, step) => {
        const text = lines.join('\n') + (ends && lines.length > 0 ? '\n' : '');
        expect(encode(Buffer.from(text), step)).toBe(expected(text));
      },
    ),
  );
});

function encode(input: Buffer, step: number): string {
  const out = new DataView(new ArrayBuffer((input.length + 1) * (worstGrowth + 6)));
  const view = new DataView(input.buffer, input.byteOffset, input.length);
  const encoder = new FrameEncoder();
  let used = 0;
  for (let from = 0; from < input.length; from += step) {
    used = encoder.encode(view, from, Math.min(input.length, from + step), out, used);
  }
  return Buffer.from(out.buffer, 0, encoder.end(out, used)).toString();
}

function expected(text: string): string {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => `data: ${JSON.stringify({ type: 'stdout', line })}\n\n`).join('');
}
