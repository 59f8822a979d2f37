import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, footer, job, rows, test } from './fixtures.ts';

test('from signing in to a revoked key: a developer and an agent work on a real repository', async ({
  page,
  context,
  daemon,
  folder,
}) => {
  const repository = await makeRepository(join(folder, 'calculator'));
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: daemon.url });

  // Sign in with the link that the daemon printed, and open the repository.
  await page.goto(`${daemon.url}/#token=${daemon.loginToken}`);
  await page.getByLabel('Path of a project folder').fill(repository);
  await page.keyboard.press('Enter');
  const next = page.getByRole('region', { name: 'Use calculator' });
  await next.getByRole('button', { name: 'Create API key' }).click();

  // Make a key for the agent, and take it and the example call from where the panel shows them.
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('My agent');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByRole('button', { name: 'Copy key' }).click();
  const key = await page.evaluate(() => navigator.clipboard.readText());
  await dialog.getByRole('button', { name: 'Copy a call with this key' }).click();
  const example = await page.evaluate(() => navigator.clipboard.readText());
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  expect(example).toContain(key);
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();

  // The example works as it is, and then with the repository's own test command.
  expect(await curl(example)).toContain('{"type":"exit","code":0,');
  const call = (cmd: string) => example.replace(/-d '.*'$/, `-d '${JSON.stringify({ cmd })}'`);
  const tests = `${process.execPath} --test --test-reporter=spec`;
  const answer = await curl(call(tests));
  expect(answer).toContain('adds two numbers');
  expect(answer).toContain('{"type":"exit","code":0,');
  const jobs = page.getByRole('navigation', { name: 'Jobs' });
  await jobs.getByRole('button', { name: /--test/ }).click();
  await expect(rows(page).filter({ hasText: 'adds two numbers' })).toBeVisible();
  await expect(footer(page)).toContainText('Exited with code 0');
  await expect(job(page)).toContainText('from the API');

  // A command that leaves its process group twice over is stopped with everything it started.
  const escaping = `setsid sh -c "(setsid sleep 1000 & echo \\$! > escaped.pid) &"; echo started; sleep 1000`;
  const stopped = curl(call(escaping));
  await jobs.getByRole('button', { name: /setsid/ }).click();
  await expect(rows(page).filter({ hasText: /^started$/ })).toBeVisible();
  await expect.poll(() => existsSync(join(repository, 'escaped.pid'))).toBe(true);
  await expect.poll(() => readFile(join(repository, 'escaped.pid'), 'utf8')).toMatch(/^\d+\n$/);
  const escaped = Number(await readFile(join(repository, 'escaped.pid'), 'utf8'));
  expect(isSleeping(escaped)).toBe(true);
  await job(page).getByRole('button', { name: 'Stop' }).click();
  await expect(footer(page)).toContainText('Stopped');
  expect(await stopped).toContain('"reason":"cancelled"');
  await expect.poll(() => isSleeping(escaped)).toBe(false);

  // Revoking the key ends what it reads within a second, and it opens nothing any more.
  const reading = curl(call('while :; do echo tick; sleep 0.1; done'));
  await jobs.getByRole('button', { name: /tick/ }).click();
  await expect(
    rows(page)
      .filter({ hasText: /^tick$/ })
      .first(),
  ).toBeVisible();
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Revoke My agent' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke key' }).click();
  await expect(page.getByText('Key “My agent” is revoked')).toBeVisible();
  const revokedAt = performance.now();
  await reading;
  expect(performance.now() - revokedAt).toBeLessThan(1000);
  expect(await curl(call('echo again'))).toContain('"code":"revoked_key"');
});

/** A small repository with a suite that passes. */
async function makeRepository(path: string): Promise<string> {
  await mkdir(path);
  const files = {
    'package.json': '{ "name": "calculator", "type": "module", "scripts": { "test": "node --test" } }\n',
    'add.js': 'export const add = (a, b) => a + b;\n',
    'add.test.js': [
      "import assert from 'node:assert/strict';",
      "import { test } from 'node:test';",
      "import { add } from './add.js';",
      "test('adds two numbers', () => assert.equal(add(2, 3), 5));",
      '',
    ].join('\n'),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: path });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'Add numbers');
  return path;
}

/** Runs a copied command line as a shell would, and answers all it printed. */
async function curl(commandLine: string): Promise<string> {
  const child = spawn('sh', ['-c', commandLine], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await once(child, 'close');
  return text;
}

/** Whether the process is there and still what we started: a number alone may have been given to another. */
function isSleeping(pid: number): boolean {
  try {
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).startsWith(
      'sleep 1000',
    );
  } catch {
    // ps fails where there is no such process.
    return false;
  }
}
