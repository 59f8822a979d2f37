import { expect, test } from 'vitest';
import { placeWindow } from './window-place.ts';

const primary = { x: 0, y: 25, width: 1920, height: 1055 };
const left = { x: -1280, y: 0, width: 1280, height: 1024 };

const at = (x: number, y: number, width = 1000, height = 700) => ({ x, y, width, height, maximized: false });

test('a window that was never placed gets the usual size, centred', () => {
  expect(placeWindow(null, [primary])).toEqual({ width: 1280, height: 820 });
});

test('a window goes where it was, on a display left of the primary one too', () => {
  expect(placeWindow(at(300, 200), [primary])).toEqual({ x: 300, y: 200, width: 1000, height: 700 });
  expect(placeWindow(at(-900, 10), [primary, left])).toEqual({ x: -900, y: 10, width: 1000, height: 700 });
});

test('a window whose display is gone keeps its size and is centred', () => {
  expect(placeWindow(at(-900, 10), [primary])).toEqual({ width: 1000, height: 700 });
});

test('a window needs 100 px of its title bar on a display to stay there', () => {
  expect(placeWindow(at(1820, 200), [primary])).toMatchObject({ x: 1820 });
  expect(placeWindow(at(1821, 200), [primary])).not.toHaveProperty('x');
  expect(placeWindow(at(300, 24), [primary])).not.toHaveProperty('x');
  expect(placeWindow(at(300, 980), [primary])).toMatchObject({ y: 980 });
  expect(placeWindow(at(300, 981), [primary])).not.toHaveProperty('y');
});

test('sizes stay between the smallest window and the display', () => {
  expect(placeWindow(at(10, 40, 5_000, 4_000), [primary])).toMatchObject({ width: 1920, height: 1055 });
  expect(placeWindow(at(10, 40, 100, 100), [primary])).toMatchObject({ width: 900, height: 600 });
});
