import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright/test';
import type { LoadedProject } from '../../daemon/contract/projects.ts';
import { expect, footer, job, output, rows, run, script, test } from './fixtures.ts';

/** Prints lines in portions, each once the test has seen the one before: so nothing is lost however busy the machine. */
const portioned = `
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
const [lines, portion] = process.argv.slice(2).map(Number);
for (let first = 1; first <= lines; first += portion) {
  let text = '';
  for (let line = first; line < first + portion; line++)
    text += 'line ' + line + (line === 654321 ? ' the needle' : ' of very many, with some text to fill it') + '\\n';
  process.stdout.write(text);
  while (!existsSync('seen-' + (first + portion - 1))) await pause(5);
}
`;
const portion = 20_000;

test('a million lines stay few in the document, and the first, the last and one between are found', async ({
  panel,
  project,
}) => {
  await printLines(panel, project, 1_000_000);
  await expect(footer(panel)).toContainText('Exited with code 0');
  await expect(rows(panel).last()).toHaveText('line 1000000 of very many, with some text to fill it');
  await expect(rows(panel).last()).toBeInViewport();
  expect(await rows(panel).count()).toBeLessThan(200);

  await output(panel).focus();
  await panel.keyboard.press('Home');
  await expect(rows(panel).first()).toHaveText('line 1 of very many, with some text to fill it');
  expect(await rows(panel).count()).toBeLessThan(200);

  await panel.keyboard.press('Control+f');
  await panel.getByRole('textbox', { name: 'Search the output' }).fill('the needle');
  await expect(panel.getByRole('search')).toContainText('1 of 1', { timeout: 15_000 });
  const found = panel.locator('.log-row[data-match]');
  await expect(found).toHaveText('line 654321 the needle');
  await expect(found).toBeInViewport();

  await panel.keyboard.press('Escape');
  await output(panel).focus();
  await panel.keyboard.press('End');
  await expect(rows(panel).last()).toHaveText('line 1000000 of very many, with some text to fill it');
  await expect(rows(panel).last()).toBeInViewport();
});

test('the wheel moves line by line where there are more lines than an element can be high', async ({
  panel,
  project,
}) => {
  await printLines(panel, project, 320_000);
  await expect(footer(panel)).toContainText('Exited with code 0');
  await output(panel).hover();
  const before = { line: await topLine(panel), scrollTop: await scrollTop(panel) };
  await panel.mouse.wheel(0, -200);
  await expect.poll(() => topLine(panel)).toBe(before.line - 10);
  await expect(panel.getByRole('button', { name: 'Jump to end' })).toBeVisible();
  // 6.4 million pixels of lines in an element of 6: once it is quiet the scroll bar stands where the lines do, which
  // must move nothing that is in sight.
  await expect.poll(() => scrollTop(panel)).toBeCloseTo(before.scrollTop - 200 * (6 / 6.4), -1);
  expect(await topLine(panel)).toBe(before.line - 10);
});

test('colours carry over lines, links show their text, and other escapes are dropped', async ({
  panel,
  project,
}) => {
  const source = String.raw`
console.log('\x1b[31mred\x1b[0m \x1b[1;4mbold\x1b[0m \x1b[38;5;208morange\x1b[0m \x1b[38;2;10;200;30mgreen\x1b[0m');
console.log('\x1b[33mbegun here');
console.log('still yellow\x1b[0m then plain');
console.log('\x1b]8;;https://example.com\x1b\\a link\x1b]8;;\x1b\\ and \x1b[2Ktext');
console.log('10%\r55%\r100% done');
console.error('on stderr');
`;
  await run(panel, await script(project, 'colors.mjs', source));
  await expect(footer(panel)).toContainText('Exited with code 0');
  const line = (text: string) => rows(panel).filter({ hasText: text });
  const color = (text: string) =>
    line(text)
      .getByText(text, { exact: true })
      .evaluate((element) => getComputedStyle(element).color);
  await expect(line('red bold orange green')).toHaveText('red bold orange green');
  const [red, plain] = [
    await color('red'),
    await line('a link').evaluate((row) => getComputedStyle(row).color),
  ];
  expect(red).not.toBe(plain);
  expect(await color('still yellow')).toBe(await color('begun here'));
  expect(await color('begun here')).not.toBe(plain);
  await expect(line('a link')).toHaveText('a link and text');
  await expect(line('100% done')).toHaveText('100% done');
  await expect(line('on stderr')).toHaveAttribute('data-kind', 'stderr');
  await expect(line('a link')).toHaveAttribute('data-kind', 'stdout');
});

test('a line over the frame limit is one row, and a too long row says how much more there is', async ({
  panel,
  project,
}) => {
  const cmd = await script(
    project,
    'long.mjs',
    `console.log('<' + 'x'.repeat(199_998) + '>'); console.log('after');`,
  );
  await run(panel, cmd);
  await expect(footer(panel)).toContainText('2 lines');
  await expect(rows(panel)).toHaveCount(2);
  await expect(rows(panel).first()).toContainText('187.3 KiB more in this line');
  await panel.getByRole('button', { name: 'Copy all output' }).click();
  await expect(panel.getByText('Copied 2 lines')).toBeVisible();
  const copied = await panel.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(`<${'x'.repeat(199_998)}>\nafter\n`);
});

test('following stops with scrolling up, and goes on with the pill', async ({ panel, project }) => {
  const source = `let n = 0; setInterval(() => { for (let i = 0; i < 20; i++) console.log('tick ' + ++n); }, 50);`;
  await run(panel, await script(project, 'ticks.mjs', source));
  await expect.poll(() => rows(panel).count()).toBeGreaterThan(30);
  await output(panel).hover();
  await panel.mouse.wheel(0, -300);
  const pill = panel.getByRole('button', { name: 'Jump to latest' });
  await expect(pill).toBeVisible();
  const held = await topLine(panel);
  await expect(async () => {
    expect(
      Number(((await footer(panel).textContent()) ?? '').match(/([\d,]+) lines/)?.[1]?.replace(',', '')),
    ).toBeGreaterThan(held + 200);
  }).toPass();
  expect(await topLine(panel)).toBe(held);
  await pill.click();
  await expect(pill).toBeHidden();
  await expect.poll(() => topLine(panel)).toBeGreaterThan(held + 100);
  await job(panel).getByRole('button', { name: 'Stop' }).click();
  await expect(footer(panel)).toContainText('Stopped');
});

test('search steps through matches both ways, and can tell case', async ({ panel, project }) => {
  await run(
    panel,
    await script(
      project,
      'fruit.mjs',
      `for (const f of ['Apple', 'pear', 'apple', 'APPLE']) console.log(f);`,
    ),
  );
  await expect(footer(panel)).toContainText('4 lines');
  await panel.keyboard.press('Control+f');
  const search = panel.getByRole('search');
  await panel.getByRole('textbox', { name: 'Search the output' }).fill('apple');
  await expect(search).toContainText('1 of 3');
  await panel.keyboard.press('Enter');
  await expect(search).toContainText('2 of 3');
  await expect(panel.locator('.log-row[data-match]')).toHaveText('apple');
  await panel.keyboard.press('Shift+Enter');
  await panel.keyboard.press('Shift+Enter');
  await expect(search).toContainText('3 of 3');
  await search.getByRole('button', { name: 'Match case' }).click();
  await expect(search).toContainText('1 of 1');
  await panel.getByRole('textbox', { name: 'Search the output' }).fill('melon');
  await expect(search).toContainText('No line');
});

test('a range of lines is picked at the numbers and copied, and all is saved as a file', async ({
  panel,
  project,
}) => {
  await run(
    panel,
    await script(
      project,
      'count.mjs',
      `for (let n = 1; n <= 500; n++) console.log('\\x1b[32mn' + n + '\\x1b[0m');`,
    ),
  );
  await expect(footer(panel)).toContainText('500 lines');
  await output(panel).focus();
  await panel.keyboard.press('Home');
  await panel.locator('.log-row[data-row="2"] .log-number').click();
  await panel.keyboard.press('End');
  await panel.locator('.log-row[data-row="498"] .log-number').click({ modifiers: ['Shift'] });
  await expect(job(panel).getByText('497 lines selected')).toBeVisible();
  await panel.keyboard.press('Control+c');
  await expect(panel.getByText('Copied 497 lines')).toBeVisible();
  const lines = (await panel.evaluate(() => navigator.clipboard.readText())).trimEnd().split('\n');
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([497, 'n3', 'n499']);

  const download = panel.waitForEvent('download');
  await panel.getByRole('button', { name: 'Download as text' }).click();
  const saved = await readFile(await (await download).path(), 'utf8');
  expect(saved).toBe(Array.from({ length: 500 }, (_, index) => `n${index + 1}\n`).join(''));
});

async function printLines(panel: Page, project: LoadedProject, lines: number): Promise<void> {
  await run(panel, `${await script(project, 'portioned.mjs', portioned)} ${lines} ${portion}`);
  for (let seen = portion; seen <= lines; seen += portion) {
    await expect(footer(panel)).toContainText(`${seen.toLocaleString('en')} lines`);
    await writeFile(join(project.path, `seen-${seen}`), '');
  }
  await expect(footer(panel)).not.toContainText('not kept');
}

function scrollTop(panel: Page): Promise<number> {
  return output(panel).evaluate((element) => element.scrollTop);
}

async function topLine(panel: Page): Promise<number> {
  return output(panel).evaluate((element) => {
    const top = element.getBoundingClientRect().top;
    const row = [...element.querySelectorAll('.log-row')].find(
      (one) => one.getBoundingClientRect().bottom > top + 1,
    );
    return Number(row?.getAttribute('data-row'));
  });
}
