import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './run.ts';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const deep = process.argv.includes('--deep');
const env = deep ? { TALLYSTICK_DEEP: '1' } : {};
const results = join(root, 'test-results');

/** Checks that pass or fail as a whole. */
const checks: readonly (readonly [string, string, readonly string[]])[] = [
  ['types', 'npm', ['run', '-s', 'types']],
  ['lint', 'npm', ['run', '-s', 'lint', '--', '--reporter=summary']],
  ['import rules', 'npm', ['run', '-s', 'deps']],
  ['unused code', 'npm', ['run', '-s', 'unused']],
];

/** `npm test`: installs what the tests need, builds, and runs everything; the last line counts it all. */
async function test(): Promise<Counts> {
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [name, command, args] of [
    ['setup', 'node', ['scripts/setup-test.ts']],
    ['build', 'node', ['scripts/build.ts']],
    ...checks,
  ] as const) {
    const passed = (await step(name, command, args)) === 0;
    add(total, { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 });
  }
  const unitReport = join(results, 'vitest.json');
  const unit = await step('unit and API tests', 'vitest', [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${unitReport}`,
  ]);
  add(total, withStatus(readVitest(unitReport), unit));
  const e2e = await step('panel and desktop tests', 'playwright', ['test']);
  add(total, withStatus(readPlaywright(join(results, 'playwright.json')), e2e));
  return total;
}

async function step(name: string, command: string, args: readonly string[]): Promise<number> {
  process.stdout.write(`\n── ${name}\n`);
  const status = await run(command, args, { env });
  process.stdout.write(`── ${name}: ${status === 0 ? 'ok' : `failed (${status})`}\n`);
  return status;
}

function add(total: Counts, part: Counts): void {
  total.passed += part.passed;
  total.failed += part.failed;
  total.skipped += part.skipped;
}

/** A runner that failed without a failed test (it crashed, or found none) has failed all the same. */
function withStatus(counts: Counts, status: number): Counts {
  const broken = (status !== 0 && counts.failed === 0) || counts.passed + counts.failed === 0;
  return broken ? { ...counts, failed: counts.failed + 1 } : counts;
}

function readVitest(file: string): Counts {
  const report = readReport(file);
  return {
    passed: number(report.numPassedTests),
    failed: number(report.numFailedTests),
    skipped: number(report.numPendingTests) + number(report.numTodoTests),
  };
}

function readPlaywright(file: string): Counts {
  const { stats } = { stats: {}, ...readReport(file) } as { stats: Record<string, unknown> };
  return {
    passed: number(stats.expected),
    failed: number(stats.unexpected) + number(stats.flaky),
    skipped: number(stats.skipped),
  };
}

function readReport(file: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    process.stderr.write(`no report in ${file}: ${error instanceof Error ? error.message : String(error)}\n`);
    return {};
  }
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

const { passed, failed, skipped } = await test();
process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = failed === 0 ? 0 : 1;
