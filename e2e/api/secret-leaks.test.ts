import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CreatedKey } from '../../daemon/contract/api-keys.ts';
import type { LoadedProject } from '../../daemon/contract/projects.ts';
import type { ReceiptPage } from '../../daemon/contract/receipts.ts';
import type { RevealedSecret } from '../../daemon/contract/secrets.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { collectFrames } from '../../daemon/testing/client.ts';
import { buildOnce, serveDaemon } from './served-daemon.ts';

const secretCount = 200;

/** Prints every secret in every usual form; `PIECES` cuts what it writes so that forms are cut, too. */
const printer = `
import base64, json, os, shlex, sys, urllib.parse
names = sorted(name for name in os.environ if name.startswith('LEAK_'))
pieces = int(sys.argv[1])
out = []
for name in names:
    value = os.environ[name]
    raw = value.encode()
    out += [value, json.dumps(value), json.dumps(value, ensure_ascii=False), shlex.quote(value)]
    out += [urllib.parse.quote(value), urllib.parse.quote(value, safe=''), urllib.parse.quote_plus(value)]
    out += [raw.hex(), raw.hex().upper()]
    for lead in (b'', b'a', b'ab'):
        out += [base64.b64encode(lead + raw + b'tail').decode(), base64.urlsafe_b64encode(lead + raw + b'tail').decode()]
    out += ['https://user:' + urllib.parse.quote(value, safe='') + '@host/', 'x' + value + 'y']
text = '\\n'.join(out) + '\\n'
data = text.encode()
stream = sys.stdout.buffer if pieces % 2 else sys.stderr.buffer
for at in range(0, len(data), pieces):
    stream.write(data[at:at + pieces])
    stream.flush()
`;

test('none of 200 secrets is found in any file, log or answer of a daemon, but in what revealed it', {
  timeout: 240_000,
}, async () => {
  await buildOnce();
  await using folder = await tempFolder();
  const dataDir = join(folder.path, 'data');
  const secrets = randomSecrets();
  const seen: { from: string; text: string }[] = [];
  let revealed = 0;
  let commands = 0;
  let masked = 0;
  const env = { SERVICE_SECRET_KEY: randomBytes(32).toString('base64url'), TALLYSTICK_LOG: 'debug' };
  const served = await serveDaemon(dataDir, { env });
  const { process: daemon, panel } = served;
  {
    await using _ = served;
    const project = join(folder.path, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'print.py'), printer);
    const { ws_id } = await panel.json<LoadedProject>('POST', '/api/project/load', { path: project });
    const agent = await panel.json<CreatedKey>('POST', '/api/account/api-keys', {
      name: 'agent',
      scopes: 'agent',
      expiry: '1d',
    });
    const listening = new AbortController();
    const events = panel.send('GET', '/api/events', undefined, { signal: listening.signal });
    const listened = events.then((response) => textUntilCut(response));
    const tell = async (method: string, path: string, body?: unknown) => {
      const response = await panel.send(method, path, body);
      seen.push({ from: `${method} ${path}`, text: await response.text() });
    };
    const lines = [...secrets].map(([name, value]) => `${name}='${value}'`);
    await tell('POST', '/api/secrets', { env: lines.join('\n'), preview: true });
    await tell('POST', '/api/secrets', { env: lines.join('\n') });

    const run = async (body: object) => {
      const response = await panel.send('POST', '/api/shell/run', body);
      const jobId = response.headers.get('x-job-id');
      const frames = await collectFrames(response);
      const exit = frames.at(-1);
      if (exit?.type === 'exit') masked += exit.masked ?? 0;
      commands += 1;
      seen.push({
        from: `run ${JSON.stringify(body)}`,
        text: frames.map((frame) => JSON.stringify(frame)).join('\n'),
      });
      await tell('GET', `/api/shell/jobs/${jobId}/stream`);
      return frames;
    };
    for (const pieces of [1_000_001, 4096, 997, 61, 60]) await run({ cmd: `python3 print.py ${pieces}` });
    await run({ cmd: 'env | base64 -w0; env | xxd -p -c 100000; set; export -p' });
    await run({
      cmd: 'bash -c "declare -p; printf %q\\\\\\\\n \\"\\$LEAK_000\\" \\"\\$LEAK_007\\"; set -x; : \\"\\$LEAK_003\\""',
    });
    // A secret in the command itself, in a file that it writes, in a failing path, and in an unknown command.
    const [first = ''] = secrets.values();
    await run({ cmd: `echo '${first}' > note.txt; cat '/no/${first}'; '${first}'; cat note.txt` });
    await run({ cmd: 'printf "%s\\n" "$LEAK_001" "$LEAK_002" > written.txt' });
    seen.push({
      from: 'write through the file API',
      text: await (
        await panel.send('PUT', '/api/project/file?path=api.txt', undefined, {
          rawBody: `key = ${[...secrets.values()].join('\nkey = ')}\n`,
          headers: { 'content-type': 'text/plain' },
        })
      ).text(),
    });
    const problems: [string, string, unknown][] = [
      ['POST', '/api/secrets/LEAK_000', { value: first, extra: first }],
      ['POST', '/api/secrets/1BAD', { value: first }],
      ['POST', '/api/shell/run', { cmd: 'true', cwd: first }],
      ['POST', '/api/shell/run', { cmd: 'true', secrets: ['NOT_THERE'] }],
      ['POST', '/api/shell/run', { cmd: `x${first}\0` }],
      ['DELETE', `/api/project/file?path=${encodeURIComponent(`no/${first}`)}`, undefined],
      ['GET', `/api/project/${encodeURIComponent(first)}`, undefined],
    ];
    for (const [method, path, body] of problems) await tell(method, path, body);
    const { receipts } = await panel.json<ReceiptPage>('GET', '/api/receipts?limit=100');
    for (const { receipt_id } of receipts) await tell('GET', `/api/receipts/${receipt_id}`);
    for (const path of [
      '/api/secrets',
      '/api/shell/jobs',
      '/api/shell/recent',
      '/api/receipts?limit=100',
      `/api/receipts/chain-head?ws_id=${ws_id}`,
      '/api/account/audit-log?limit=500',
      '/api/account/api-keys',
      '/api/account/master-key',
      '/api/project/recent',
      '/api/project/files',
      '/api/status',
    ])
      await tell('GET', path);
    for (const [name, value] of secrets) {
      if (revealed === 20) break;
      const answer = await panel.json<RevealedSecret>('GET', `/api/secrets/${name}`);
      expect(answer.value).toBe(value);
      revealed += 1;
    }
    expect(readFileSync(`/proc/${daemon.child.pid}/environ`).toString()).not.toContain('LEAK_');
    expect(readFileSync(`/proc/${daemon.child.pid}/cmdline`).toString()).not.toContain('LEAK_');
    expect(agent.key).toMatch(/^tly_/);
    listening.abort();
    seen.push({ from: 'GET /api/events', text: await listened });
    daemon.child.kill('SIGTERM');
    const { stdout, stderr } = await daemon.finished;
    seen.push({ from: 'standard output', text: stdout.split('\n').slice(1).join('\n') });
    seen.push({ from: 'standard error', text: stderr });
  }
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  // Snapshots keep what project files held, and the test has written secrets into some.
  const kept = files.filter((path) => !path.includes('/snapshots/'));
  for (const path of kept) seen.push({ from: path, text: readFileSync(path, 'latin1') });

  const leaks = seen.flatMap(({ from, text }) =>
    [...secrets].flatMap(([name, value]) =>
      formsToFind(value)
        .filter((form) => text.includes(form))
        .map((form) => `${from}: ${name} as ${form}`),
    ),
  );
  console.info(
    `looked for ${secrets.size} secrets in ${seen.length} texts (${commands} commands, ${masked} masked, ` +
      `${kept.length} files of ${files.length}): ${leaks.length} found; ${revealed} were revealed`,
  );
  expect(leaks).toEqual([]);
  expect(masked).toBeGreaterThan(secretCount * 15 * 5);
});

/** Values with all that has to be escaped somewhere. Single quotes are left out of the `.env` text that sets them. */
function randomSecrets(): Map<string, string> {
  const odd = ['"', '\\', '$', '`', '/', '+', '%', '&', ' ', 'ü', '€', '🔑', '<', '#', '!', '*', '\t'];
  return new Map(
    Array.from({ length: secretCount }, (_, at) => {
      const body = randomBytes(6 + (at % 40)).toString('base64url');
      const middle = at % 3 === 0 ? (odd[at % odd.length] ?? '') : '';
      return [`LEAK_${String(at).padStart(3, '0')}`, `${body.slice(0, 4)}${middle}${body.slice(4)}`] as const;
    }),
  );
}

/** How a secret would be found, by forms that Node makes, not the masker. */
function formsToFind(value: string): string[] {
  const bytes = Buffer.from(value);
  return [
    value,
    bytes.toString('latin1'),
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64'),
    bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64url'),
  ];
}

async function textUntilCut(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  } catch {
    // The test has heard enough.
  }
  return text;
}
