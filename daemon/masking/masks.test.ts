import { describe, expect, it } from 'vitest';
import { Masks } from './masks.ts';
import { StreamMasker } from './stream-masker.ts';

describe('the masks of a workspace', () => {
  it('are empty until a value of 6 characters joins', () => {
    const masks = new Masks();
    expect(masks.isEmpty).toBe(true);
    masks.add(['12345', '']);
    expect(masks.isEmpty).toBe(true);
    expect(masks.text('12345')).toBe('12345');
    masks.add(['123456']);
    expect(masks.isEmpty).toBe(false);
    expect(masks.text('12345 123456')).toBe('12345 ***');
  });

  it('mask what joined before and what joins later, in texts and in streams that run', () => {
    const masks = new Masks();
    masks.add(['first-value', 'second-value']);
    const stream = new StreamMasker(masks);
    expect(stream.push(Buffer.from('first-value third-value\n')).toString()).toBe('*** third-value\n');
    masks.add(['third-value']);
    expect(stream.push(Buffer.from('first-value third-value\n')).toString()).toBe('*** ***\n');
    expect(masks.text('first-value, second-value, third-value')).toBe('***, ***, ***');
  });

  it('stay the same set of patterns where every value is known', () => {
    const masks = new Masks();
    masks.add(['some value', 'another']);
    const { patterns } = masks;
    masks.add(['another', 'some value', 'short']);
    expect(masks.patterns).toBe(patterns);
  });

  it('give text without a value back as it was, lone surrogates included, and keep the characters around one', () => {
    const masks = new Masks();
    masks.add(['pässwörd']);
    expect(masks.text('\ud800 nothing')).toBe('\ud800 nothing');
    expect(masks.text('😀pässwörd😀')).toBe('😀***😀');
    expect(masks.text('p%C3%A4ssw%C3%B6rd p%c3%a4ssw%c3%b6rd p\\u00e4ssw\\u00f6rd')).toBe('*** *** ***');
  });
});
