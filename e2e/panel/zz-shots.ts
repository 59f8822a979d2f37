import { mkdir, mkdtemp, rm, writeFile, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { startSshd, makeSshKey } from '../../daemon/testing/sshd.ts';
import { startDaemon } from './daemon-process.ts';
import { api } from './fixtures.ts';
const folder = await mkdtemp(join(tmpdir(), 'h4-'));
await using sshd = await startSshd();
const unknown = join(folder, 'k'); await writeFile(unknown, '');
const old = makeSshKey(join(folder, 'old'));
await writeFile(join(folder, 'ch'), `[127.0.0.1]:${sshd.port} ${await readFile(`${old}.pub`, 'utf8')}`);
const config = [
  sshd.configEntry('web-1', [`UserKnownHostsFile ${unknown}`]),
  sshd.configEntry('web-2'),
  sshd.configEntry('bastion', [`UserKnownHostsFile ${unknown}`, 'HostKeyAlias bastion-key']),
  sshd.configEntry('db-primary', [`UserKnownHostsFile ${unknown}`, 'HostKeyAlias x','ProxyJump bastion']),
  sshd.configEntry('changed', [`UserKnownHostsFile ${join(folder, 'ch')}`]),
  sshd.configEntry('closed', ['Port 1']),
  sshd.configEntry('legacy-mainframe', ['ProxyCommand nc %h %p']),
  sshd.configEntry('a-very-long-alias-of-a-host-in-the-eu-west-3-region.internal.example.com', ['ProxyCommand nc %h %p']),
].join('\n');
await writeFile(join(folder, 'config'), config);
const daemon = await startDaemon({ dataDir: join(folder, 'data'), args: ['--ssh-config', join(folder, 'config')], environment: { SSH_AUTH_SOCK: undefined } });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
try {
  const page = await browser.newPage({ viewport: { width: Number(process.env.W ?? 1280), height: 800 }, reducedMotion: 'reduce' });
  page.on('console', (m) => m.type() === 'error' && console.log('console', m.text()));
  page.on('pageerror', (e) => console.log('pageerror', e));
  await page.goto(`${daemon.url}/#token=${daemon.loginToken}`);
  await page.getByRole('heading', { name: 'Workspaces', level: 1 }).waitFor();
  const shot = async (name: string) => { for (const s of ['light', 'dark'] as const) { await page.emulateMedia({ colorScheme: s }); await page.screenshot({ path: `/tmp/h4shots/${name}-${s}.png` }); } };
  await page.getByRole('link', { name: 'SSH hosts', exact: true }).click();
  await page.getByRole('button', { name: /^web-1/ }).click();
  await shot('no-workspace');
  await mkdir(join(folder, 'acme'));
  await api(page, 'POST', '/api/project/load', { path: join(folder, 'acme') });
  await api(page, 'POST', '/api/secrets/API_TOKEN', { value: 'correct-horse-battery' });
  await page.reload();
  await page.getByRole('button', { name: /^web-1/ }).click();
  await page.getByLabel('Command to run on web-1').waitFor();
  await shot('plain');
  await page.getByRole('button', { name: 'Test connection' }).click();
  await page.getByRole('dialog').waitFor();
  await shot('unknown');
  await page.getByRole('button', { name: 'Accept and continue' }).click();
  await page.getByText('Connected in').waitFor();
  await page.getByLabel('Command to run on web-1').fill('for i in $(seq 1 2000); do echo "GET /invoices/$i 200"; sleep 0.3; done');
  await page.keyboard.press('Enter');
  await page.locator('.log-row').first().waitFor();
  await shot('job');
  await page.getByLabel('Where to run').selectOption('web-2');
  await page.getByLabel('Command to run on web-2').fill('uptime');
  await page.getByRole('button', { name: 'Timeout and secrets' }).click();
  await page.keyboard.press('Tab');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('footer').filter({ hasText: 'Exited' }).first().waitFor();
  await page.getByRole('button', { name: 'No secrets' }).click();
  await shot('jobs-options');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'SSH hosts', exact: true }).click();
  await page.getByRole('button', { name: /^web-1/ }).click();
  await page.getByLabel('Path on web-1').fill('nope');
  await page.getByRole('button', { name: 'Pull', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await shot('pull-failed');
  await writeFile(join(sshd.home, 'app.log'), 'hello\n'.repeat(3000));
  await page.getByLabel('Path on web-1').fill('app.log');
  await page.getByLabel('Command to run on web-1').fill('date');
  await page.getByLabel('Path on web-1').focus();
  await page.getByRole('button', { name: 'Pull', exact: true }).click();
  await page.getByRole('link', { name: 'Receipt' }).waitFor();
  await shot('pulled');
  await page.getByRole('button', { name: /^closed/ }).click();
  await page.getByRole('button', { name: 'Test connection' }).click();
  await page.getByRole('alert').waitFor();
  await shot('closed');
  await page.getByRole('button', { name: /^legacy/ }).click();
  await shot('unsupported');
  await page.getByRole('button', { name: /^db-primary/ }).click();
  await page.getByRole('button', { name: 'Test connection' }).click();
  await page.getByRole('dialog').waitFor();
  await shot('hop');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^changed/ }).click();
  await page.getByRole('button', { name: 'Test connection' }).click();
  await page.getByRole('dialog').waitFor();
  await shot('changed');
  await page.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('link', { name: 'Receipts', exact: true }).click();
  await page.getByRole('button', { name: /uptime/ }).click();
  await page.getByText('This ran on').waitFor();
  await shot('receipts');
  await page.getByRole('button', { name: /Pulled/ }).click();
  await shot('receipt-pull');
  await writeFile(join(folder, 'config'), '');
  await page.getByRole('link', { name: 'SSH hosts', exact: true }).click();
  await page.getByText('No SSH hosts yet').waitFor();
  await shot('empty');
} finally { await browser.close(); await daemon.kill(); await rm(folder, { recursive: true, force: true }); }
