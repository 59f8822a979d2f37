import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** What the tests run beside the project itself, and the Debian package that has it. */
const needed = [
  { program: 'chromium', package: 'chromium', for: 'the panel and desktop tests' },
  { program: 'strace', package: 'strace', for: 'the crash tests' },
  { program: 'curl', package: 'curl', for: 'the journeys' },
  { program: 'git', package: 'git', for: 'the journeys' },
  { program: 'mkfs.ext4', package: 'e2fsprogs', for: 'the power-cut tests' },
  { program: 'ps', package: 'procps', for: 'the job tests' },
  { program: 'python3', package: 'python3', for: 'the second verifier' },
  { program: 'rg', package: 'ripgrep', for: 'the search tests' },
  { program: 'setsid', package: 'util-linux', for: 'the job tests' },
];

const missing = needed.filter(({ program }) => !isInstalled(program));
if (missing.length > 0)
  process.exitCode = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get') ? install() : complain();

function isInstalled(program: string): boolean {
  if (program === 'chromium' && process.env.CHROMIUM_PATH !== undefined)
    return existsSync(process.env.CHROMIUM_PATH);
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

function install(): number {
  const packages = missing.map((entry) => entry.package);
  process.stdout.write(`Installing for the tests: ${packages.join(', ')}\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit', env });
  const { status } = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
  });
  return status ?? 1;
}

function complain(): number {
  for (const entry of missing)
    process.stderr.write(`Missing for ${entry.for}: ${entry.program} (Debian package ${entry.package})\n`);
  process.stderr.write(
    'Install these, or run "npm run setup:test" as root on Debian or Ubuntu. CHROMIUM_PATH names another Chromium.\n',
  );
  return 1;
}
