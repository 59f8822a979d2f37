import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { boot } from '../../daemon/testing/boot.ts';

const run = promisify(execFile);

test("the README's curl session works as it stands there", async () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const session = /<!-- really run[^>]*-->\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  expect(session.trim().split('\n')).toHaveLength(5);
  await using booted = await boot({ overrides: { settleMs: 20_000 } });
  const { key } = await booted.keyed('agent');
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=Me', '-c', 'user.email=me@example.org', ...args], {
      cwd: booted.projectDir,
    });
  await git('init', '-q');
  await git('commit', '-q', '--allow-empty', '-m', 'Say hello');
  const script = session.replace('http://127.0.0.1:4774', booted.daemon.url).replace('tly_live_…', key.key);
  expect(script).not.toContain('…');
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: booted.projectDir });
  expect(stdout).toContain(`"path":"${booted.projectDir}","analysis":{"status":"pending"}`);
  expect(stdout).toMatch(
    /id: 1\ndata: \{"type":"stdout","line":"[0-9a-f]{7} Say hello"\}\n\nid: 2\ndata: \{"type":"exit","code":0,"run_id":"run_[0-9a-z]{16}","receipt_id":"rcpt_\d{8}_00000001[0-9a-f]{4}","files_changed":1\}\n/,
  );
  expect(stdout).toContain('"cmd":"git log --oneline | head -2; echo hi > new.txt"');
});
