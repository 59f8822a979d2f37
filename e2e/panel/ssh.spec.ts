import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright/test';
import { makeSshKey, type Sshd, startSshd, whyNoSshd } from '../../daemon/testing/sshd.ts';
import { api, test as base, expect, footer, job, output, rows, view } from './fixtures.ts';

type SshFixtures = {
  /** A real sshd, whose key nobody knows yet. */
  sshd: Sshd;
  /** The SSH client configuration that the daemon reads. */
  sshConfig: string;
};

const missing = whyNoSshd();
const test = base.extend<SshFixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright wants a destructured first argument
  sshd: async ({}, use) => {
    await using sshd = await startSshd();
    await use(sshd);
  },
  sshConfig: async ({ sshd, folder }, use) => {
    const path = join(folder, 'ssh_config');
    await writeFile(path, await configuration(sshd, folder));
    await use(path);
  },
  daemonOptions: async ({ sshConfig }, use) =>
    use({ args: ['--ssh-config', sshConfig], environment: { SSH_AUTH_SOCK: undefined } }),
});
test.skip(missing !== undefined, missing);

test('a host key is accepted, a command runs there live, a log is pulled, and both receipts verify', async ({
  panel,
  project,
  sshd,
}) => {
  const log = join(sshd.home, 'app.log');
  await writeFile(log, 'one\ntwo\nthree\n');
  await openHost(panel, 'web-1');

  // The key is compared with what ssh-keygen prints on the host, then accepted; the test goes on by itself.
  await host(panel, 'web-1').getByRole('button', { name: 'Test connection' }).click();
  const question = panel.getByRole('dialog', { name: 'Is this really web-1?' });
  await expect(question).toContainText(fingerprintOf(sshd));
  await expect(question).toContainText(`127.0.0.1:${sshd.port}`);
  await expect(question).toContainText('ED25519');
  await question.getByRole('button', { name: 'Accept and continue' }).click();
  await expect(question).toBeHidden();
  await expect(host(panel, 'web-1').getByText(/^Connected in \d/)).toBeVisible();
  await expect(host(panel, 'web-1')).toContainText('OpenSSH');
  await expect(host(panel, 'web-1')).toContainText(fingerprintOf(sshd));

  // Output shows while the command still runs.
  const gate = join(sshd.folder, 'gate');
  await runOn(
    panel,
    'web-1',
    `echo on the host; until test -e ${gate}; do sleep 0.1; done; cat ${log}; exit 3`,
  );
  await expect(rows(panel).filter({ hasText: /^on the host$/ })).toBeVisible();
  await expect(footer(panel)).toContainText('Running');
  await expect(job(panel)).toContainText('on web-1');
  await writeFile(gate, '');
  await expect(footer(panel)).toContainText('Exited with code 3');
  await expect(rows(panel).filter({ hasText: /^three$/ })).toBeVisible();

  // The log is pulled into the workspace.
  await openHost(panel, 'web-1');
  await host(panel, 'web-1').getByLabel('Path on web-1').fill(log);
  await host(panel, 'web-1').getByRole('button', { name: 'Pull', exact: true }).click();
  await expect(host(panel, 'web-1').getByText('pulled/web-1/app.log')).toBeVisible();
  await expect(host(panel, 'web-1').getByText('14 B')).toBeVisible();
  expect(await readFile(join(project.path, 'pulled/web-1/app.log'), 'utf8')).toBe('one\ntwo\nthree\n');

  // Both receipts are there, say what was done and where, and the chain is whole.
  await host(panel, 'web-1').getByRole('link', { name: 'Receipt', exact: true }).click();
  const receipt = panel.getByRole('region', { name: 'Receipt', exact: true });
  await expect(receipt.getByRole('heading', { name: 'Pulled app.log' })).toBeVisible();
  await expect(receipt).toContainText('pulled/web-1/app.log');
  await receipt.getByRole('button', { name: 'Verify' }).click();
  await expect(receipt.getByText('Intact: 1 receipt of this run verified')).toBeVisible();
  const receipts = panel.getByRole('navigation', { name: 'Receipts' });
  await receipts.getByRole('button', { name: /echo on the host/ }).click();
  await expect(receipt).toContainText('on web-1');
  await expect(receipt).toContainText('Exit 3');
  await expect(receipt.getByRole('button', { name: 'Roll back…' })).toBeHidden();
  await panel.getByRole('button', { name: 'Verify chain' }).click();
  await expect(panel.getByText('Chain is intact')).toBeVisible();
});

test('an unknown key that comes in the way of a command is asked about, and the command then runs', async ({
  panel,
  project,
}) => {
  await openHost(panel, 'web-1');
  await typeCommand(panel, 'web-1', 'echo after the key');
  await panel.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect(host(panel, 'web-1').getByRole('alert')).toContainText('is not known');
  await panel.keyboard.press('Enter');
  await panel.getByRole('dialog').getByRole('button', { name: 'Accept and continue' }).click();
  await expect(rows(panel).filter({ hasText: /^after the key$/ })).toBeVisible();
  // The command field goes on with this host; a command run again goes there, too.
  await expect(panel.getByLabel('Command to run on web-1')).toBeVisible();
  await job(panel).getByRole('button', { name: 'Run again' }).click();
  await expect(panel.getByRole('navigation', { name: 'Jobs' }).getByRole('button')).toHaveCount(2);
  await expect(job(panel)).toContainText('on web-1');
  await panel.getByLabel('Where to run').selectOption('acme');
  await expect(panel.getByLabel('Command to run in acme')).toBeVisible();
  expect(project.name).toBe('acme');
});

test('each host on the way is asked about by its own name', async ({ panel, project }) => {
  await openHost(panel, 'inner');
  await expect(host(panel, 'inner')).toContainText('via bastion');
  await host(panel, 'inner').getByRole('button', { name: 'Test connection' }).click();
  const first = panel.getByRole('dialog', { name: 'Is this really bastion?' });
  await expect(first).toContainText('on the way to inner');
  await first.getByRole('button', { name: 'Accept and continue' }).click();
  const second = panel.getByRole('dialog', { name: 'Is this really inner?' });
  await second.getByRole('button', { name: 'Accept and continue' }).click();
  await expect(host(panel, 'inner').getByText(/^Connected in/)).toBeVisible();
  expect(project.name).toBe('acme');
});

test('a changed key is told with both fingerprints, and there is no way past it', async ({
  panel,
  project,
  sshd,
  folder,
}) => {
  await openHost(panel, 'changed');
  await host(panel, 'changed').getByRole('button', { name: 'Test connection' }).click();
  const warning = panel.getByRole('dialog', { name: 'The host key of changed has changed' });
  await expect(warning).toContainText(fingerprintOf(sshd));
  await expect(warning).toContainText(fingerprint(join(folder, 'old_host_key.pub')));
  await expect(warning).toContainText(`ssh-keygen -R '[127.0.0.1]:${sshd.port}'`);
  await expect(warning.getByRole('button', { name: /accept|continue|override|trust/i })).toHaveCount(0);
  await warning.getByRole('button', { name: 'Close' }).last().click();
  await expect(host(panel, 'changed').getByRole('alert')).toContainText('another key than the known ones');
  await typeCommand(panel, 'changed', 'touch /tmp/never');
  await expect(warning).toBeVisible();
  expect(project.name).toBe('acme');
});

test('a refused sign-in is told at the host, and other hosts stay as they were', async ({
  panel,
  project,
}) => {
  await openHost(panel, 'stranger');
  await host(panel, 'stranger').getByRole('button', { name: 'Test connection' }).click();
  await panel.getByRole('dialog').getByRole('button', { name: 'Accept and continue' }).click();
  await expect(host(panel, 'stranger').getByRole('alert')).toBeVisible();
  await expect(hosts(panel).getByRole('button', { name: /stranger/ })).toContainText('stranger');
  await expect(hosts(panel).getByRole('button', { name: /stranger.*test failed/ })).toBeVisible();
  await openHost(panel, 'web-1');
  await expect(host(panel, 'web-1').getByRole('alert')).toHaveCount(0);
  expect(project.name).toBe('acme');
});

test('a host that can not be used says why and offers nothing', async ({ panel, project }) => {
  await openHost(panel, 'proxied');
  await expect(host(panel, 'proxied')).toContainText('proxied can’t be used from here');
  await expect(host(panel, 'proxied')).toContainText('ProxyCommand');
  await expect(host(panel, 'proxied').getByRole('button', { name: /Test|Run|Pull/ })).toHaveCount(0);
  await expect(hosts(panel).getByRole('button', { name: /proxied.*ProxyCommand/ })).toBeVisible();
  await view(panel, 'Jobs');
  await expect(panel.getByLabel('Where to run').getByRole('option', { name: 'proxied' })).toHaveCount(0);
  await expect(panel.getByLabel('Where to run').getByRole('option', { name: 'web-1' })).toHaveCount(1);
  expect(project.name).toBe('acme');
});

test('a command that runs on a host is listed there and can be stopped, with what it started', async ({
  panel,
  project,
  sshd,
}) => {
  const pidFile = join(sshd.folder, 'pid');
  await openHost(panel, 'known');
  await runOn(panel, 'known', `trap '' TERM; echo $$ > ${pidFile}; echo deaf; sleep 1000 & wait; sleep 1000`);
  await expect(rows(panel).filter({ hasText: /^deaf$/ })).toBeVisible();
  await expect.poll(() => existsSync(pidFile)).toBe(true);
  const pid = Number(await readFile(pidFile, 'utf8'));
  expect(isRunning(pid)).toBe(true);
  await openHost(panel, 'known');
  await expect(hosts(panel).getByRole('button', { name: /known.*1 command/ })).toBeVisible();
  const running = host(panel, 'known').getByRole('region', { name: 'Running' });
  await running.getByRole('button', { name: /^Stop/ }).click();
  await expect(running.getByRole('button', { name: /^Stop/ })).toContainText('Stopping…');
  await expect(running).toBeHidden({ timeout: 15_000 });
  await expect(host(panel, 'known').getByRole('region', { name: 'Recent commands' })).toContainText(
    'Stopped',
  );
  await expect.poll(() => isRunning(pid)).toBe(false);
  expect(project.name).toBe('acme');
});

test('a command whose host goes away says that the connection was lost', async ({ panel, project, sshd }) => {
  await openHost(panel, 'known');
  await runOn(panel, 'known', 'echo up; sleep 1000');
  await expect(rows(panel).filter({ hasText: /^up$/ })).toBeVisible();
  await sshd.kill();
  await expect(footer(panel)).toContainText('The connection to the host was lost', { timeout: 30_000 });
  await expect(panel.getByRole('navigation', { name: 'Jobs' })).toContainText('Connection lost');
  await openHost(panel, 'known');
  await host(panel, 'known').getByRole('button', { name: 'Test connection' }).click();
  await expect(host(panel, 'known').getByRole('alert')).toContainText('can not be reached');
  expect(project.name).toBe('acme');
});

test('a command gets the secrets that are named, none otherwise, and shows none', async ({
  panel,
  project,
}) => {
  await api(panel, 'POST', '/api/secrets/API_TOKEN', { value: 'correct-horse-battery' });
  await openHost(panel, 'known');
  await runOn(panel, 'known', 'echo "[$API_TOKEN]"');
  await expect(rows(panel).filter({ hasText: /^\[\]$/ })).toBeVisible();
  await panel.getByRole('button', { name: 'Timeout and secrets' }).click();
  await panel.getByRole('button', { name: 'Secrets: none' }).click();
  await panel.getByRole('menuitemcheckbox', { name: 'API_TOKEN' }).click();
  await panel.keyboard.press('Escape');
  await expect(panel.getByRole('button', { name: 'Secrets: API_TOKEN' })).toBeFocused();
  await typeCommand(panel, 'known', 'echo "[$API_TOKEN]" again');
  await expect(rows(panel).filter({ hasText: /^\[\*\*\*\] again$/ })).toBeVisible();
  await expect(output(panel)).not.toContainText('correct-horse');
  expect(project.name).toBe('acme');
});

test('a pull that fails says why, and the same content again makes no receipt', async ({
  panel,
  project,
  sshd,
}) => {
  await writeFile(join(sshd.home, 'notes.txt'), 'kept');
  await openHost(panel, 'known');
  const path = host(panel, 'known').getByLabel('Path on known');
  await path.fill('nowhere.txt');
  await path.press('Enter');
  await expect(host(panel, 'known').getByRole('alert')).toContainText('no file at this path');
  await path.fill('/etc');
  await path.press('Enter');
  await expect(host(panel, 'known').getByRole('alert')).toContainText('a folder');
  await path.fill('notes.txt');
  await path.press('Enter');
  await expect(host(panel, 'known').getByRole('link', { name: 'Receipt', exact: true })).toBeVisible();
  await path.press('Enter');
  await expect(host(panel, 'known').getByText('Had this content already')).toBeVisible();
  await host(panel, 'known').getByRole('link', { name: 'Open file' }).click();
  await expect(panel.locator('.cm-content')).toContainText('kept');
  expect(project.name).toBe('acme');
});

test('the hosts can be filtered, walked through and used with the keyboard alone', async ({
  panel,
  project,
}) => {
  await panel.evaluate(() =>
    document.activeElement instanceof HTMLElement ? document.activeElement.blur() : undefined,
  );
  await panel.keyboard.press('g');
  await panel.keyboard.press('h');
  await expect(panel.getByRole('heading', { name: 'SSH hosts', level: 1 })).toBeVisible();
  await panel.getByLabel('Filter hosts').fill('nothing like it');
  await expect(panel.getByText('No host matches.')).toBeVisible();
  await panel.getByLabel('Filter hosts').fill('own');
  await expect(hosts(panel).getByRole('button')).toHaveCount(1);
  await panel.getByLabel('Filter hosts').fill('');
  await hosts(panel).getByRole('button').first().focus();
  await panel.keyboard.press('ArrowDown');
  await expect(hosts(panel).getByRole('button').nth(1)).toBeFocused();
  await expect(hosts(panel).getByRole('button').nth(1)).toHaveAttribute('aria-current', 'true');
  await openHost(panel, 'known');
  await panel.keyboard.press('r');
  await expect(panel.getByLabel('Command to run on known')).toBeFocused();
  await panel.keyboard.type('echo typed');
  await panel.keyboard.press('Enter');
  await expect(rows(panel).filter({ hasText: /^typed$/ })).toBeVisible();
  await panel.keyboard.press('Control+k');
  await panel.getByRole('combobox').fill('ssh host inner');
  await expect(panel.getByRole('option', { name: /^inner/ })).toHaveAttribute('aria-selected', 'true');
  await panel.keyboard.press('Enter');
  await expect(host(panel, 'inner')).toBeVisible();
  expect(project.name).toBe('acme');
});

test('without hosts, the panel says how to add one, and sees it once it is there', async ({
  panel,
  project,
  sshd,
  sshConfig,
}) => {
  await writeFile(sshConfig, '');
  await view(panel, 'SSH hosts');
  await expect(panel.getByText('No SSH hosts yet')).toBeVisible();
  await expect(panel.getByText('IdentityFile ~/.ssh/id_ed25519')).toBeVisible();
  await writeFile(sshConfig, sshd.configEntry('web-1'));
  await panel.getByRole('button', { name: 'Look again' }).click();
  await expect(host(panel, 'web-1')).toBeVisible();
  expect(project.name).toBe('acme');
});

test('a key that was accepted for one alias does not stand against what the user’s files say of another', async ({
  panel,
  project,
}) => {
  await openHost(panel, 'web-1');
  await host(panel, 'web-1').getByRole('button', { name: 'Test connection' }).click();
  await panel.getByRole('dialog').getByRole('button', { name: 'Accept and continue' }).click();
  await expect(host(panel, 'web-1').getByText(/^Connected in/)).toBeVisible();
  await openHost(panel, 'changed');
  await host(panel, 'changed').getByRole('button', { name: 'Test connection' }).click();
  await expect(panel.getByRole('dialog', { name: 'The host key of changed has changed' })).toBeVisible();
  expect(project.name).toBe('acme');
});

/** Hosts that are one sshd in truth, each with something of its own. */
async function configuration(sshd: Sshd, folder: string): Promise<string> {
  const known = join(folder, 'known_by_user');
  await writeFile(known, '');
  const oldKey = makeSshKey(join(folder, 'old_host_key'));
  const changed = join(folder, 'changed_known_hosts');
  await writeFile(changed, `[127.0.0.1]:${sshd.port} ${await readFile(`${oldKey}.pub`, 'utf8')}`);
  const strange = makeSshKey(join(folder, 'strange_key'));
  const unknown = `UserKnownHostsFile ${known}`;
  return [
    sshd.configEntry('web-1', [unknown]),
    sshd.configEntry('known'),
    sshd.configEntry('bastion', [unknown, 'HostKeyAlias bastion-key']),
    sshd.configEntry('inner', [unknown, 'HostKeyAlias inner-key', 'ProxyJump bastion']),
    sshd.configEntry('changed', [`UserKnownHostsFile ${changed}`]),
    sshd
      .configEntry('stranger', [unknown, 'HostKeyAlias stranger-key', `IdentityFile ${strange}`])
      .replace(`  IdentityFile ${sshd.userKey}\n`, ''),
    sshd.configEntry('proxied', ['ProxyCommand nc %h %p']),
    sshd.configEntry('spare'),
  ].join('\n');
}

async function openHost(panel: Page, name: string): Promise<void> {
  await view(panel, 'SSH hosts');
  await hosts(panel)
    .getByRole('button', { name: new RegExp(`^${name}\\b`) })
    .click();
  await expect(host(panel, name)).toBeVisible();
}

function hosts(panel: Page) {
  return panel.getByRole('navigation', { name: 'SSH hosts' });
}

function host(panel: Page, name: string) {
  return panel.getByRole('region', { name: `Host ${name}`, exact: true });
}

async function typeCommand(panel: Page, name: string, cmd: string): Promise<void> {
  const field = panel.getByLabel(`Command to run on ${name}`);
  await field.fill(cmd);
  await field.press('Enter');
}

/** Runs a command on a host and waits until the panel shows its job. */
async function runOn(panel: Page, name: string, cmd: string): Promise<void> {
  await typeCommand(panel, name, cmd);
  await job(panel).getByRole('heading', { name: cmd, exact: true }).waitFor();
}

function fingerprintOf(sshd: Sshd): string {
  return fingerprint(`${sshd.hostKey('ed25519')}.pub`);
}

function fingerprint(publicKey: string): string {
  const printed = execFileSync('ssh-keygen', ['-lf', publicKey], { encoding: 'utf8' });
  return /SHA256:\S+/.exec(printed)?.[0] ?? 'no fingerprint';
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}
