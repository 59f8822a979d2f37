/** `node e2e/panel/screenshots.ts`: writes the pictures of the README, of the real panel with a real daemon. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright';
import type { CreatedKey } from '../../daemon/contract/api-keys.ts';
import type { LoadedProject } from '../../daemon/contract/projects.ts';
import type { SshHost } from '../../daemon/contract/ssh.ts';
import { startSshd } from '../../daemon/testing/sshd.ts';
import { startDaemon } from './daemon-process.ts';
import { api } from './fixtures.ts';

const target = join(import.meta.dirname, '../../docs/screenshots');
const size = { width: 1280, height: 800 };
const manifest = {
  name: 'acme-api',
  version: '2.4.1',
  private: true,
  scripts: { test: 'FORCE_COLOR=1 node --test --test-reporter=spec', format: 'node format.mjs' },
};

const totals = `import { half } from "../rounding.mjs"

/** The total of all area, in cents. */
export function total(lines) {
  let sum = 0
  for (const line of lines) sum += line.cents * line.count
  return half(sum, 0.5)
}
`;

const rounding = `# Rounding

Amounts are whole cents. Half a cent goes to the even neighbour, so that sums of many do not drift.
`;

const formatter = `import { globSync, readFileSync, writeFileSync } from 'node:fs';
for (const file of globSync('src/**/*.mjs'))
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"', "'").replace(/([\\w)'])$/gm, '$1;').replace(/\\*\\/;/g, '*/'));
`;

const folder = await mkdtemp(join(tmpdir(), 'tallystick-pictures-'));
const keyFile = join(folder, 'secret_key');
await writeFile(keyFile, `${randomBytes(32).toString('base64url')}=\n`, { mode: 0o600 });
const sshd = await startSshd();
const sshConfig = join(folder, 'ssh_config');
await writeFile(sshConfig, hostsOf(folder));
await writeFile(
  join(sshd.home, 'billing.log'),
  `${new Date().toISOString()} settled 214 invoices\n`.repeat(40),
);
const daemon = await startDaemon({
  dataDir: join(folder, 'data'),
  environment: { SERVICE_SECRET_KEY: undefined, SSH_AUTH_SOCK: undefined },
  args: ['--key-file', keyFile, '--ssh-config', sshConfig],
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
});
try {
  await mkdir(target, { recursive: true });
  const page = await browser.newPage({ viewport: size, reducedMotion: 'reduce' });
  await page.goto(`${daemon.url}/#token=${daemon.loginToken}`);
  await page.getByRole('heading', { name: 'Workspaces', level: 1 }).waitFor();
  await fill(page);
  for (const path of ['/api/project/recent', '/api/status'])
    await page.route(`**${path}`, async (route) => {
      const response = await route.fetch();
      const text = (await response.text()).replaceAll(join(folder, 'projects'), '/home/ada/code');
      await route.fulfill({ response, body: text.replaceAll(folder, '/home/ada/.local/share/tallystick') });
    });
  await page.route('**/api/shell/ssh-hosts', async (route) => {
    const response = await route.fetch();
    const hosts: SshHost[] = await response.json();
    await route.fulfill({ response, json: hosts.map(asElsewhere) });
  });
  await page.route('**/api/shell/ssh-hosts/web-1/test', async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replace(
      `"hostname":"127.0.0.1","port":${sshd.port}`,
      '"hostname":"web-1.acme.example","port":22',
    );
    await route.fulfill({ response, body: text });
  });
  await takeAll(page);
} finally {
  await browser.close();
  await daemon.stop();
  await sshd[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
}

/** Hosts that are one sshd in truth: of some, the key is not known yet. */
function hostsOf(known: string): string {
  const unknown = [`UserKnownHostsFile ${join(known, 'none')}`];
  return [
    sshd.configEntry('web-1', [...unknown, 'HostKeyAlias web-1.acme.example']),
    sshd.configEntry('web-2'),
    sshd.configEntry('bastion'),
    sshd.configEntry('db-primary', ['ProxyJump bastion']),
    sshd.configEntry('mainframe', ['ProxyCommand nc -X connect %h %p']),
  ].join('\n');
}

/** As if each host were where its name says. */
function asElsewhere(host: SshHost): SshHost {
  return { ...host, user: 'deploy', hostname: `${host.host}.acme.example`, port: 22 };
}

async function fill(page: Page): Promise<void> {
  for (const name of ['design-tokens', 'billing-service']) await load(page, name);
  const project = await load(page, 'acme-api');
  await writeSuite(project.path);
  const keys = new Map<string, CreatedKey>();
  for (const body of [
    { name: 'Nightly checks', scopes: 'read', expiry: '1y' },
    { name: 'Release bot', scopes: 'admin', expiry: '1d' },
    { name: 'Coding agent on my laptop', scopes: 'agent', expiry: '1m', weekly_spend_cap: 20 },
  ])
    keys.set(body.name, await api<CreatedKey>(page, 'POST', '/api/account/api-keys', body));
  const key = keys.get('Coding agent on my laptop')?.key ?? '';
  await writeSources(project, key);
  await keepSecrets(page);
  await call(project, key, 'git log --oneline | head -5');
  await call(project, key, 'git status --short');
  await call(project, key, 'sleep 30', 1);
  await call(project, key, 'npm run build');
  await call(project, key, 'npm test');
  await call(project, key, 'git diff --stat');
  // Goes on while the pictures are taken; it ends with the daemon.
  const running = 'i=0; while :; do i=$((i+1)); echo "GET /invoices/$i 200 4 ms"; sleep 0.5; done';
  const response = await post(project, key, running);
  await response.body?.getReader().read();
}

async function load(page: Page, name: string): Promise<LoadedProject> {
  const path = join(folder, 'projects', name);
  await mkdir(path, { recursive: true });
  return api<LoadedProject>(page, 'POST', '/api/project/load', { path });
}

function post(project: LoadedProject, key: string, cmd: string, timeout = 60): Promise<Response> {
  return fetch(`${daemon.url}/api/shell/run`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'X-Workspace-Id': project.ws_id,
    },
    body: JSON.stringify({ cmd, timeout }),
  });
}

async function call(project: LoadedProject, key: string, cmd: string, timeout?: number): Promise<void> {
  await (await post(project, key, cmd, timeout)).text();
}

/** What gives the receipts something to tell: a file by the agent, one by the person, and a formatter. */
async function writeSources(project: LoadedProject, key: string): Promise<void> {
  const put = (path: string, text: string, credential: string) =>
    fetch(`${daemon.url}/api/project/file?path=${path}`, {
      method: 'PUT',
      headers: {
        Authorization: `Bearer ${credential}`,
        'Content-Type': 'application/octet-stream',
        'X-Workspace-Id': project.ws_id,
      },
      body: text,
    });
  for (const area of ['invoices', 'payments', 'refunds'])
    await put(`src/${area}/total.mjs`, totals.replaceAll('area', area), key);
  await put('docs/rounding.md', rounding, key);
  await writeFile(join(project.path, 'format.mjs'), formatter);
  await call(project, key, 'npm run format');
  await put('src/invoices/total.mjs', totals.replaceAll('area', 'invoices').replace('0.5', '0.49'), key);
}

/** Some secrets, and what the audit log tells of them. */
async function keepSecrets(page: Page): Promise<void> {
  const env = `DATABASE_URL=postgres://billing:8fK2mQ0w@localhost/billing
STRIPE_KEY=key-51Hq9bTz0pXc4Vd7
SMTP_URL=smtps://mailer:pw-4471@mail.example.com
SESSION_SECRET=9c1f6e0b7d5a48f2
`;
  await api(page, 'POST', '/api/secrets', { env });
  await api(page, 'POST', '/api/secrets/WEBHOOK_SECRET', { value: 'hook-2b7e151628aed2a6' });
  await api(page, 'GET', '/api/secrets/DATABASE_URL');
  await api(page, 'POST', '/api/secrets/OLD_TOKEN', { value: 'tok_0f1e2d3c4b5a' });
  await api(page, 'DELETE', '/api/secrets/OLD_TOKEN');
}

async function writeSuite(path: string): Promise<void> {
  const areas = ['invoices', 'payments', 'refunds', 'webhooks'];
  for (const area of areas) {
    const titles = [
      'keeps the currency',
      'rounds half to even',
      'refuses a negative amount',
      'is idempotent by key',
    ];
    const tests = titles.map((title) => `  test('${title}', () => assert.ok(true));`).join('\n');
    await writeFile(
      join(path, `${area}.test.mjs`),
      `import assert from 'node:assert';\nimport { suite, test } from 'node:test';\nsuite('${area}', () => {\n${tests}\n});\n`,
    );
  }
  await writeFile(join(path, 'package.json'), `${JSON.stringify(manifest)}\n`);
  // This Node, whichever one the machine has; and colours, as a terminal would get them.
  await mkdir(join(path, 'node_modules/.bin'), { recursive: true });
  await symlink(process.execPath, join(path, 'node_modules/.bin/node'));
  await writeFile(join(path, '.gitignore'), 'node_modules/\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: path });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'Test invoices, payments, refunds and webhooks');
}

async function takeAll(page: Page): Promise<void> {
  await page.reload();
  for (const [name, view, sign] of [
    ['workspaces', 'Workspaces', 'Recent'],
    ['jobs', 'Jobs', 'Running'],
    ['files', 'Files', 'package.json'],
    ['receipts', 'Receipts', 'Today'],
    ['hosts', 'SSH hosts', 'web-1'],
    ['secrets', 'Secrets', 'DATABASE_URL'],
    ['keys', 'API keys', 'Release bot'],
    ['security', 'Security', 'revealed'],
    ['daemon', 'Daemon', 'Data folder'],
  ] as const) {
    await page.getByRole('link', { name: view, exact: true }).click();
    await page.getByRole('main').getByText(sign).first().waitFor();
    if (name === 'jobs') {
      await page.getByRole('button', { name: /npm test/ }).click();
      await page.locator('.log-row').filter({ hasText: 'pass 16' }).waitFor();
    }
    if (name === 'files') {
      for (const path of ['src', 'src/invoices', 'src/invoices/total.mjs'])
        await page.locator(`[role=treeitem][data-path="${path}"]`).click();
      await page.locator('.cm-content').getByText('export').waitFor();
    }
    if (name === 'hosts') await visitHost(page);
    if (name === 'secrets') await takeReveal(page);
    if (name === 'receipts') {
      await page.getByRole('button', { name: /npm run format/ }).click();
      await page.getByRole('region', { name: 'Changes in src/invoices/total.mjs' }).waitFor();
      await page.getByRole('button', { name: 'Verify chain' }).click();
      await page.getByText('Chain is intact').waitFor();
    }
    await take(page, name);
  }
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  await page.getByRole('button', { name: /npm test/ }).click();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Command palette' }).waitFor();
  await take(page, 'palette');
}

/** Meets a host for the first time, then pulls a file from another, where a command runs. */
async function visitHost(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Test connection' }).click();
  await page.getByRole('dialog').waitFor();
  await take(page, 'host-key');
  await page.getByRole('button', { name: 'Accept and continue' }).click();
  await page.getByText('Connected in').waitFor();
  for (const cmd of ['uptime', 'tail -f ~/billing.log']) {
    await page.getByLabel('Command to run on web-1').fill(cmd);
    await page.keyboard.press('Enter');
    await page.locator('.log-row').first().waitFor();
    await page.getByRole('link', { name: 'SSH hosts', exact: true }).click();
  }
  await page.getByLabel('Path on web-1').fill('billing.log');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Receipt', exact: true }).waitFor();
}

async function takeReveal(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Reveal DATABASE_URL' }).click();
  await page.getByRole('button', { name: 'Reveal', exact: true }).click();
  await page.getByRole('timer').waitFor();
  await take(page, 'reveal');
  await page.getByRole('button', { name: 'Hide now' }).click();
}

async function take(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(target, `${name}-${colorScheme}.png`) });
  }
}
