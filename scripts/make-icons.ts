import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright';
import { icnsFile, icoFile } from './icon-files.ts';

// Draws every raster icon anew from assets/icon.svg and the tray's shapes: node scripts/make-icons.ts

const assets = join(import.meta.dirname, '..', 'assets');
const largestPlain = 24;
const sizes = [16, 24, 32, 48, 64, 128, 256, 512, 1024];

type TrayState = 'idle' | 'running' | 'failed';

/** Drawn on the pixel grid of a 16 px icon, two units to a pixel. The two halves of a notched stick. */
const halves = [
  'M4 4H8V8H12V4H14V8H18V4H20V8H24V4H28A2 2 0 0 1 30 6V14H2V6A2 2 0 0 1 4 4Z',
  'M2 18H30V26A2 2 0 0 1 28 28H24V24H20V28H18V24H14V28H12V24H8V28H4A2 2 0 0 1 2 26Z',
];

const badgeColours: Record<TrayState, string | null> = { idle: null, running: '#2fa36b', failed: '#d6453d' };

await using browser = await openBrowser();
await drawAppIcons(browser.value);
await drawTrayImages(browser.value);

async function drawAppIcons(drawing: Browser): Promise<void> {
  const svg = readFileSync(join(assets, 'icon.svg'), 'utf8');
  mkdirSync(join(assets, 'icons'), { recursive: true });
  const images = new Map<number, Buffer>();
  for (const size of sizes) {
    const image = await render(drawing, size <= largestPlain ? plainIcon() : svg, size);
    images.set(size, image);
    writeFileSync(join(assets, 'icons', `${size}x${size}.png`), image);
  }
  writeFileSync(join(assets, 'icon.ico'), icoFile(images));
  writeFileSync(join(assets, 'icon.icns'), icnsFile(images));
}

/** For sizes at which slanted notches would blur: straight on the pixel grid, and filling the icon. */
function plainIcon(): string {
  return svgOf(`<rect width="32" height="32" rx="7" fill="#18282f" />
    <path d="${halves[0]}" fill="#f0cb8f" /><path d="${halves[1]}" fill="#c58a3c" />`);
}

async function drawTrayImages(drawing: Browser): Promise<void> {
  mkdirSync(join(assets, 'tray'), { recursive: true });
  for (const state of ['idle', 'running', 'failed'] as const) {
    for (const [scale, suffix] of [
      [1, ''],
      [2, '@2x'],
    ] as const) {
      const write = async (name: string, svg: string) =>
        writeFileSync(join(assets, 'tray', `${name}${suffix}.png`), await render(drawing, svg, 16 * scale));
      await write(state, trayImage(state, ['#e2b068', '#b97c34']));
      await write(`${state}Template`, trayTemplate(state));
    }
  }
}

/** In colour, for panels that are light or dark: a badge says what the shape can't. */
function trayImage(state: TrayState, [upper, lower]: [string, string]): string {
  const colour = badgeColours[state];
  const mask = colour === null ? '' : '<circle cx="24" cy="24" r="10" fill="#000" />';
  const badge = colour === null ? '' : `<circle cx="24" cy="24" r="7.5" fill="${colour}" />`;
  return svgOf(`${maskOf(mask)}<g mask="url(#m)">
    <path d="${halves[0]}" fill="${upper}" /><path d="${halves[1]}" fill="${lower}" /></g>${badge}`);
}

/** For macOS, which colours it itself: black and clear only, so the badges differ in shape. */
function trayTemplate(state: TrayState): string {
  const cut = state === 'idle' ? '' : '<circle cx="24" cy="24" r="10" fill="#000" />';
  const marks: Record<TrayState, string> = {
    idle: '',
    running: '<circle cx="24" cy="24" r="7" />',
    failed: '<path d="M19 17L24 22L29 17L31 19L26 24L31 29L29 31L24 26L19 31L17 29L22 24L17 19Z" />',
  };
  return svgOf(`${maskOf(cut)}<g mask="url(#m)">
    <path d="${halves[0]}" /><path d="${halves[1]}" /></g>${marks[state]}`);
}

function maskOf(cut: string): string {
  return `<mask id="m" maskUnits="userSpaceOnUse" x="0" y="0" width="32" height="32">
    <rect width="32" height="32" fill="#fff" />${cut}</mask>`;
}

function svgOf(content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${content}</svg>`;
}

async function render(drawing: Browser, svg: string, size: number): Promise<Buffer> {
  const page = await drawing.newPage({ viewport: { width: size, height: size } });
  const sized = svg.replace('<svg ', `<svg width="${size}" height="${size}" style="display:block" `);
  await page.setContent(`<style>body{margin:0;background:transparent}</style>${sized}`);
  const image = await page.screenshot({ omitBackground: true });
  await page.close();
  return image;
}

async function openBrowser() {
  const value = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  return { value, [Symbol.asyncDispose]: () => value.close() };
}
