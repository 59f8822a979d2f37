import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { icnsFile, icoFile } from './icon-files.ts';

const assets = join(import.meta.dirname, '..', 'assets');
const png = (size: number) => readFileSync(join(assets, 'icons', `${size}x${size}.png`));

test('an ico points at each image up to 256 px, and 256 is written as 0', () => {
  const file = icoFile(new Map([16, 256, 512].map((size) => [size, png(size)])));
  expect([...file.subarray(0, 6)]).toEqual([0, 0, 1, 0, 2, 0]);
  for (const [index, size] of [16, 256].entries()) {
    const entry = 6 + 16 * index;
    expect(file[entry]).toBe(size % 256);
    const [bytes, offset] = [file.readUInt32LE(entry + 8), file.readUInt32LE(entry + 12)];
    expect(file.subarray(offset, offset + bytes).equals(png(size))).toBe(true);
  }
});

test('an icns is a chain of entries whose lengths add up to the file', () => {
  const file = icnsFile(new Map([16, 32, 512, 1024].map((size) => [size, png(size)])));
  expect(file.toString('latin1', 0, 4)).toBe('icns');
  expect(file.readUInt32BE(4)).toBe(file.length);
  const types: string[] = [];
  for (let at = 8; at < file.length; at += file.readUInt32BE(at + 4))
    types.push(file.toString('latin1', at, at + 4));
  expect(types).toEqual(['icp4', 'icp5', 'ic09', 'ic10', 'ic11', 'ic14']);
});

test('every image of the assets has the size its name says', () => {
  const size = (path: string) => {
    const file = readFileSync(join(assets, path));
    return [file.readUInt32BE(16), file.readUInt32BE(20)];
  };
  for (const edge of [16, 24, 32, 48, 64, 128, 256, 512, 1024]) {
    expect(size(`icons/${edge}x${edge}.png`)).toEqual([edge, edge]);
  }
  for (const state of ['idle', 'running', 'failed']) {
    for (const kind of ['', 'Template']) {
      expect(size(`tray/${state}${kind}.png`)).toEqual([16, 16]);
      expect(size(`tray/${state}${kind}@2x.png`)).toEqual([32, 32]);
    }
  }
});
