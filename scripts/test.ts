import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root, run } from './run.ts';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** What failed, each with its reason: printed last, where a long log is looked at first. */
  failures: readonly string[];
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
  const total: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const [name, command, args] of [
    ['setup', 'node', ['scripts/setup-test.ts']],
    ['build', 'node', ['scripts/build.ts']],
    ...checks,
  ] as const) {
    const passed = (await step(name, command, args)) === 0;
    add(total, {
      passed: passed ? 1 : 0,
      failed: passed ? 0 : 1,
      skipped: 0,
      failures: passed ? [] : [name],
    });
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
  total.failures = [...total.failures, ...part.failures];
}

/** A runner that failed without a failed test (it crashed, or found none) has failed all the same. */
function withStatus(counts: Counts, status: number): Counts {
  const broken = (status !== 0 && counts.failed === 0) || counts.passed + counts.failed === 0;
  if (!broken) return counts;
  return {
    ...counts,
    failed: counts.failed + 1,
    failures: [...counts.failures, `a test runner ended with status ${status}`],
  };
}

interface VitestReport {
  numPassedTests?: number;
  numFailedTests?: number;
  numPendingTests?: number;
  numTodoTests?: number;
  testResults?: readonly {
    name: string;
    status: string;
    message: string;
    assertionResults: readonly { status: string; fullName: string; failureMessages: readonly string[] }[];
  }[];
}

function readVitest(file: string): Counts {
  const report: VitestReport = readReport(file);
  const files = report.testResults ?? [];
  return {
    passed: report.numPassedTests ?? 0,
    failed: report.numFailedTests ?? 0,
    skipped: (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0),
    failures: files.flatMap(({ name, status, message, assertionResults }) => {
      const failed = assertionResults.filter((result) => result.status === 'failed');
      const at = relative(root, name);
      // A file that failed without a failed test: it did not load, or a hook threw.
      if (failed.length === 0) return status === 'failed' ? [`${at}\n${message}`] : [];
      return failed.map((result) => `${at} › ${result.fullName}\n${result.failureMessages.join('\n')}`);
    }),
  };
}

interface PlaywrightSuite {
  suites?: readonly PlaywrightSuite[];
  specs?: readonly {
    file: string;
    line: number;
    title: string;
    ok: boolean;
    tests: readonly { results: readonly { errors: readonly { message?: string }[] }[] }[];
  }[];
}

interface PlaywrightReport extends PlaywrightSuite {
  stats?: { expected?: number; unexpected?: number; flaky?: number; skipped?: number };
}

function readPlaywright(file: string): Counts {
  const report: PlaywrightReport = readReport(file);
  return {
    passed: report.stats?.expected ?? 0,
    failed: (report.stats?.unexpected ?? 0) + (report.stats?.flaky ?? 0),
    skipped: report.stats?.skipped ?? 0,
    failures: playwrightFailures(report),
  };
}

function playwrightFailures({ suites = [], specs = [] }: PlaywrightSuite): string[] {
  const own = specs.filter((spec) => !spec.ok);
  return [
    ...own.map((spec) => {
      const errors = spec.tests.flatMap(({ results }) => results.flatMap((result) => result.errors));
      return `${spec.file}:${spec.line} › ${spec.title}\n${errors.map(({ message }) => message).join('\n')}`;
    }),
    ...suites.flatMap(playwrightFailures),
  ];
}

function readReport(file: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    process.stderr.write(`no report in ${file}: ${error instanceof Error ? error.message : String(error)}\n`);
    return {};
  }
}

const { passed, failed, skipped, failures } = await test();
for (const failure of failures) process.stdout.write(`\n✗ ${failure.slice(0, 4000)}\n`);
process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = failed === 0 ? 0 : 1;
