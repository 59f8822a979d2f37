import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findPython } from '../e2e/interop/python.ts';

interface Needed {
  program: string;
  /** Of Debian. */
  package: string;
  for: string;
  /** Where it is no program on the path. */
  isInstalled?: () => boolean;
}

/** What the tests run beside the project itself. */
const needed: Needed[] = [
  { program: 'chromium', package: 'chromium', for: 'the panel and desktop tests' },
  { program: 'strace', package: 'strace', for: 'the crash tests' },
  { program: 'curl', package: 'curl', for: 'the journeys' },
  { program: 'git', package: 'git', for: 'the journeys' },
  { program: 'mkfs.ext4', package: 'e2fsprogs', for: 'the power-cut tests' },
  { program: 'ps', package: 'procps', for: 'the job tests' },
  { program: 'python3', package: 'python3', for: 'the second verifier' },
  {
    program: 'cryptography for python3',
    package: 'python3-cryptography',
    for: 'the Fernet tests',
    isInstalled: () => findPython() !== undefined,
  },
  { program: 'gnome-keyring-daemon', package: 'gnome-keyring', for: 'the keychain tests' },
  { program: 'dbus-daemon', package: 'dbus', for: 'the keychain tests' },
  { program: 'gdbus', package: 'libglib2.0-bin', for: 'the keychain tests' },
  { program: 'rg', package: 'ripgrep', for: 'the search tests' },
  { program: 'openssl', package: 'openssl', for: 'the masking tests' },
  { program: 'xxd', package: 'xxd', for: 'the masking tests' },
  { program: 'ssh', package: 'openssh-client', for: 'the SSH tests' },
  { program: '/usr/sbin/sshd', package: 'openssh-server', for: 'the SSH tests' },
  { program: 'setsid', package: 'util-linux', for: 'the job tests' },
];

const missing = needed.filter(({ program, isInstalled = () => isOnPath(program) }) => !isInstalled());
if (missing.length > 0)
  process.exitCode = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get') ? install() : complain();

function isOnPath(program: string): boolean {
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
