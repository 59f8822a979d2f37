import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AuditPage } from '../contract/audit-log.ts';
import type { LoadedProject } from '../contract/projects.ts';
import type { Receipt, ReceiptPage, RolledBack } from '../contract/receipts.ts';
import type {
  ImportedSecrets,
  RecoveredStore,
  RevealedSecret,
  SecretListing,
  SetSecret,
} from '../contract/secrets.ts';
import type { ExitFrame, JobFrame, JobListing, RecentCommand } from '../contract/shell.ts';
import { boot } from '../testing/boot.ts';
import { bootWithKey, randomMasterKey } from './testing/secret-daemon.ts';

const token = 'hunter2-correct-horse';
const storeOf = (projectDir: string) => join(projectDir, '.service', 'secrets.enc');

test('sets, lists, reveals and deletes a secret, with its receipt and its lines in the audit log', async () => {
  await using at = await bootWithKey();
  const { admin } = at;
  const made = await admin.send('POST', '/api/secrets/API_TOKEN', { value: token });
  expect(made.status).toBe(201);
  const set: SetSecret = await made.json();
  expect(set).toEqual({
    name: 'API_TOKEN',
    preview: 'hunt***',
    updated_at: expect.any(String),
    receipt_id: expect.any(String),
  });
  expect(await admin.json<SecretListing[]>('GET', '/api/secrets')).toEqual([
    { name: 'API_TOKEN', preview: 'hunt***', updated_at: set.updated_at },
  ]);
  const revealed = await admin.send('GET', '/api/secrets/API_TOKEN');
  expect(revealed.headers.get('cache-control')).toBe('no-store');
  expect(await revealed.json()).toEqual({ name: 'API_TOKEN', value: token, updated_at: set.updated_at });

  const again = await admin.send('POST', '/api/secrets/API_TOKEN', { value: `${token}2` });
  expect(again.status).toBe(200);
  const receipt = await admin.json<Receipt>('GET', `/api/receipts/${set.receipt_id}`);
  expect(receipt).toMatchObject({
    tool: 'secret.set',
    action: 'apply',
    diffs: [],
    files: [
      { path: '.service/secrets.enc', before_hash: 'absent', after_hash: expect.stringMatching(/^sha256:/) },
    ],
  });
  expect((await admin.send('DELETE', '/api/secrets/API_TOKEN')).status).toBe(204);
  expect(await admin.problem('GET', '/api/secrets/API_TOKEN')).toMatchObject({
    code: 'unknown_secret',
    httpStatus: 404,
  });
  expect(await admin.problem('DELETE', '/api/secrets/API_TOKEN')).toMatchObject({ code: 'unknown_secret' });

  const { entries } = await admin.json<AuditPage>('GET', '/api/account/audit-log');
  const about = entries.filter(({ event }) => event.startsWith('secret.'));
  expect(about.map(({ event, names }) => [event, names]).reverse()).toEqual([
    ['secret.set', ['API_TOKEN']],
    ['secret.reveal', ['API_TOKEN']],
    ['secret.set', ['API_TOKEN']],
    ['secret.delete', ['API_TOKEN']],
  ]);
  expect(about.every(({ actor }) => actor.type === 'key' && actor.key_id === admin.key.key_id)).toBe(true);
  expect(readFileSync(join(at.dataDir, 'audit.jsonl'), 'utf8')).not.toContain(token);
});

test('setting the same value again changes nothing and leaves no receipt', async () => {
  await using at = await bootWithKey();
  const first = await at.admin.json<SetSecret>('POST', '/api/secrets/A', { value: token });
  const before = readFileSync(storeOf(at.projectDir));
  const again = await at.admin.json<SetSecret>('POST', '/api/secrets/A', { value: token });
  expect(again).toEqual({ ...first, receipt_id: null });
  expect(readFileSync(storeOf(at.projectDir))).toEqual(before);
});

test('takes names and values up to their limits, and refuses what is over', async () => {
  await using at = await bootWithKey();
  const set = (name: string, value: string) => at.admin.send('POST', `/api/secrets/${name}`, { value });
  const refused = async (name: string, value: unknown) =>
    (await at.admin.problem('POST', `/api/secrets/${name}`, { value })).code;
  expect((await set('N'.repeat(128), 'x')).status).toBe(201);
  expect((await set('__', 'x'.repeat(65_536))).status).toBe(201);
  expect((await set('UMLAUT', 'ü'.repeat(32_768))).status).toBe(201);
  expect(await refused('N'.repeat(129), 'x')).toBe('invalid_request');
  expect(await refused('__', 'x'.repeat(65_537))).toBe('invalid_request');
  expect(await refused('UMLAUT', `${'ü'.repeat(32_768)}x`)).toBe('invalid_request');
  for (const value of ['', 'a\0b', '\ud800', 7, null])
    expect(await refused('V', value)).toBe('invalid_request');
  const names = [
    '1A',
    'A-B',
    'A%20B',
    'LD_PRELOAD',
    'DYLD_X',
    'NODE_OPTIONS',
    'BASH_ENV',
    'PATH',
    'Path',
    'PPID',
  ];
  for (const name of names) expect([name, await refused(name, 'value')]).toEqual([name, 'invalid_request']);
});

test('previews give away at most four characters and never more than half', async () => {
  await using at = await bootWithKey();
  const values = {
    A: 'x',
    B: 'xy',
    C: 'xyz',
    D: 'abcdefg',
    E: 'abcdefgh',
    F: 'abcdefghijkl',
    G: '🔑🔒abcdef',
  };
  for (const [name, value] of Object.entries(values))
    await at.admin.json('POST', `/api/secrets/${name}`, { value });
  const listed = await at.admin.json<SecretListing[]>('GET', '/api/secrets');
  expect(listed.map(({ preview }) => preview)).toEqual([
    '***',
    'x***',
    'x***',
    'abc***',
    'abcd***',
    'abcd***',
    '🔑🔒ab***',
  ]);
});

test('a value of five characters is set with a warning, and not masked; one of six is', async () => {
  await using at = await bootWithKey();
  const five = await at.admin.json<SetSecret>('POST', '/api/secrets/FIVE', { value: 'abcde' });
  const six = await at.admin.json<SetSecret>('POST', '/api/secrets/SIX', { value: 'uvwxyz' });
  expect([five.warning, six.warning]).toEqual([expect.stringContaining('not masked'), undefined]);
  expect(linesOf((await at.admin.run({ cmd: 'echo $FIVE; echo $SIX' })).frames)).toEqual(['abcde', '***']);
});

test('commands get all secrets, those they name, or none; and what they print of them is masked', async () => {
  await using at = await bootWithKey();
  await at.admin.json('POST', '/api/secrets/ONE', { value: 'first-secret' });
  await at.admin.json('POST', '/api/secrets/TWO', { value: "second'secret\nof $two `lines`" });
  const run = async (body: object) => (await at.admin.run({ cmd: 'echo "[$ONE][$TWO]"', ...body })).frames;
  const exit = (frames: JobFrame[]) => frames.at(-1) as ExitFrame;

  const all = await run({});
  expect(linesOf(all)).toEqual(['[***][***]']);
  expect(exit(all)).toMatchObject({ code: 0, masked: 2 });
  const one = await run({ secrets: ['ONE'] });
  expect(linesOf(one)).toEqual(['[***][]']);
  expect(exit(one)).toMatchObject({ masked: 1 });
  const none = await run({ secrets: [] });
  expect(linesOf(none)).toEqual(['[][]']);
  expect(exit(none)).not.toHaveProperty('masked');
  const unknown = await at.admin.problem('POST', '/api/shell/run', { cmd: 'true', secrets: ['ONE', 'NONE'] });
  expect(unknown).toMatchObject({ code: 'unknown_secret', names: ['NONE'], httpStatus: 404 });
  // The value reaches the command whole, whichever shell it is started by.
  for (let round = 0; round < 3; round += 1) {
    const hex = linesOf(await run({ cmd: 'printf %s "$TWO" | cksum' }));
    expect(hex).toEqual([`${cksum("second'secret\nof $two `lines`")}`]);
  }
});

test('no argument list and no environment but the command’s own holds a value', async () => {
  await using at = await bootWithKey();
  await at.admin.json('POST', '/api/secrets/ARGUED', { value: token });
  // The brackets keep the command's own arguments from matching.
  const pattern = '[h]unter2-correct';
  const looking = `grep -la "${pattern}" /proc/[0-9]*/environ 2>/dev/null | grep -c .;
    grep -la "${pattern}" /proc/[0-9]*/cmdline 2>/dev/null | grep -c .;
    grep -c "${pattern}" /proc/${process.pid}/environ`;
  const lines = linesOf((await at.admin.run({ cmd: looking })).frames).map(Number);
  expect(lines[0]).toBeGreaterThan(0);
  expect(lines.slice(1)).toEqual([0, 0]);
});

test('another workspace gets nothing, and its output is not masked', async () => {
  await using at = await bootWithKey();
  await at.admin.json('POST', '/api/secrets/MINE', { value: token });
  const other = await at.keyed('admin');
  const folder = join(at.projectDir, 'inner');
  await at.admin.run({ cmd: 'mkdir inner' });
  await other.json<LoadedProject>('POST', '/api/project/load', { path: folder });
  expect(await other.json('GET', '/api/secrets')).toEqual([]);
  expect(linesOf((await other.run({ cmd: `echo "[$MINE]" ${token}` })).frames)).toEqual([`[] ${token}`]);
});

test('the command line is masked in jobs, recent commands, receipts, events and what is stored of them', async () => {
  await using at = await bootWithKey();
  const { admin } = at;
  await admin.json('POST', '/api/secrets/TOKEN', { value: token });
  const running = admin.run({ cmd: `echo ${token} > note.txt; sleep 1; echo done-${token}` });
  let jobs: JobListing[] = [];
  while (jobs.length === 0) jobs = await admin.json<JobListing[]>('GET', '/api/shell/jobs');
  expect(jobs[0]?.cmd).toBe('echo *** > note.txt; sleep 1; echo done-***');
  const { jobId, frames } = await running;
  expect(linesOf(frames)).toEqual(['done-***']);
  const stream = await (await admin.send('GET', `/api/shell/jobs/${jobId}/stream`)).text();
  expect(stream).toContain('done-***');
  expect(stream).not.toContain(token);
  const recent = await admin.json<RecentCommand[]>('GET', '/api/shell/recent');
  expect(recent[0]?.cmd).toContain('echo *** >');
  const { receipts } = await admin.json<ReceiptPage>('GET', '/api/receipts?tool=shell.run');
  const receipt = await (await admin.send('GET', `/api/receipts/${receipts[0]?.receipt_id}`)).text();
  expect(receipt).toContain('+***');
  expect(receipt).not.toContain(token);
  // The project's own file is the user's, and is what the command made it.
  expect(readFileSync(join(at.projectDir, 'note.txt'), 'utf8')).toBe(`${token}\n`);
  await at.daemon[Symbol.asyncDispose]();
  const found = spawnSync(
    'grep',
    ['-rlaF', token, at.dataDir, '--exclude-dir=snapshots', '--exclude-dir=intents'],
    { encoding: 'utf8' },
  );
  expect([found.status, found.stdout]).toEqual([1, '']);
});

test('a secret that is set while a command runs is masked in what it prints from then on; so is the old value', async () => {
  await using at = await bootWithKey();
  await at.admin.json('POST', '/api/secrets/OLD', { value: 'old-value-1' });
  const cmd = `until [ -e go ]; do sleep 0.05; done; echo new-value-2 $OLD`;
  const running = at.admin.run({ cmd });
  await at.admin.json('POST', '/api/secrets/OLD', { value: 'new-value-2' });
  writeFileSync(join(at.projectDir, 'go'), '');
  expect(linesOf((await running).frames)).toEqual(['*** ***']);
});

test('sets that come at the same time lose nothing', async () => {
  await using at = await bootWithKey();
  const names = Array.from({ length: 40 }, (_, at) => `NAME_${String(at).padStart(2, '0')}`);
  await Promise.all(
    names.map((name) => at.admin.json('POST', `/api/secrets/${name}`, { value: `value of ${name}` })),
  );
  const listed = await at.admin.json<SecretListing[]>('GET', '/api/secrets');
  expect(listed.map(({ name }) => name)).toEqual(names);
  const { receipts } = await at.admin.json<ReceiptPage>('GET', '/api/receipts?limit=100');
  expect(receipts.filter(({ tool }) => tool === 'secret.set')).toHaveLength(40);
});

test('a paste of .env text is previewed without a change, then set as one', async () => {
  await using at = await bootWithKey();
  await at.admin.json('POST', '/api/secrets/SAME', { value: 'same-value' });
  await at.admin.json('POST', '/api/secrets/OTHER', { value: 'other-value' });
  const env =
    'export NEW="line one\\nline two" # note\nSAME=same-value\nOTHER=altered-value\nPATH=/evil\nEMPTY=\nSHORT=abc\n';
  const preview = await at.admin.json<ImportedSecrets>('POST', '/api/secrets', { env, preview: true });
  expect(preview.secrets.map(({ name, step }) => [name, step])).toEqual([
    ['NEW', 'create'],
    ['SAME', 'unchanged'],
    ['OTHER', 'update'],
    ['PATH', 'refused'],
    ['EMPTY', 'refused'],
    ['SHORT', 'create'],
  ]);
  expect(JSON.stringify(preview)).not.toContain('altered-value');
  expect(await at.admin.json<SecretListing[]>('GET', '/api/secrets')).toHaveLength(2);
  const done = await at.admin.json<ImportedSecrets>('POST', '/api/secrets', {
    env,
    names: ['NEW', 'OTHER', 'PATH'],
  });
  expect(done.receipt_id).toEqual(expect.any(String));
  const reveal = async (name: string) =>
    (await at.admin.json<RevealedSecret>('GET', `/api/secrets/${name}`)).value;
  expect([await reveal('NEW'), await reveal('OTHER'), await reveal('SAME')]).toEqual([
    'line one\nline two',
    'altered-value',
    'same-value',
  ]);
  expect(await at.admin.problem('GET', '/api/secrets/SHORT')).toMatchObject({ code: 'unknown_secret' });
});

test('what a workspace holds is limited: a thousand secrets, and a mebibyte of them', async () => {
  await using at = await bootWithKey();
  const env = (count: number) => Array.from({ length: count }, (_, at) => `N${at}=value${at}`).join('\n');
  expect(
    (await at.admin.json<ImportedSecrets>('POST', '/api/secrets', { env: env(1000) })).secrets,
  ).toHaveLength(1000);
  expect(await at.admin.problem('POST', '/api/secrets', { env: env(1001) })).toMatchObject({
    code: 'too_many_secrets',
    httpStatus: 422,
  });
  expect(await at.admin.problem('POST', '/api/secrets/ONE_MORE', { value: 'x' })).toMatchObject({
    code: 'too_many_secrets',
  });
  for (let index = 0; index < 15; index += 1)
    await at.admin.json('POST', `/api/secrets/N${index}`, { value: 'v'.repeat(65_536) });
  expect(await at.admin.problem('POST', '/api/secrets/N16', { value: 'v'.repeat(65_536) })).toMatchObject({
    code: 'too_many_secrets',
  });
  expect(linesOf((await at.admin.run({ cmd: 'echo $N0 | cut -c1-9; echo ${#N0} $N999' })).frames)).toEqual([
    'vvvvvvvvv',
    '65536 ***',
  ]);
}, 60_000);

test('survives a restart, and a wrong master key opens nothing and changes nothing', async () => {
  const masterKey = randomMasterKey();
  await using first = await bootWithKey({ masterKey });
  await first.admin.json('POST', '/api/secrets/KEPT', { value: token });
  await first.daemon[Symbol.asyncDispose]();
  const stored = readFileSync(storeOf(first.projectDir));
  const again = async (key: string | undefined) => {
    const booted = await boot({
      dataDir: first.dataDir,
      environment: { ...process.env, SERVICE_SECRET_KEY: key },
    });
    const keyed = await booted.keyed('admin');
    await keyed.json('POST', '/api/project/load', { path: first.projectDir });
    return { booted, keyed };
  };
  {
    const { booted, keyed } = await again(randomMasterKey());
    await using _ = booted;
    for (const [method, path, body] of [
      ['GET', '/api/secrets', undefined],
      ['GET', '/api/secrets/KEPT', undefined],
      ['POST', '/api/secrets/OTHER', { value: 'x' }],
      ['DELETE', '/api/secrets/KEPT', undefined],
      ['POST', '/api/shell/run', { cmd: 'true' }],
    ] as const)
      expect([path, (await keyed.problem(method, path, body)).code]).toEqual([
        path,
        'master_key_unavailable',
      ]);
    expect(linesOf((await keyed.run({ cmd: 'echo "[$KEPT]"', secrets: [] })).frames)).toEqual(['[]']);
  }
  expect(readFileSync(storeOf(first.projectDir))).toEqual(stored);
  const { booted, keyed } = await again(masterKey);
  await using _ = booted;
  expect((await keyed.json<RevealedSecret>('GET', '/api/secrets/KEPT')).value).toBe(token);
});

test('without a master key everything but secrets works', async () => {
  await using at = await boot({ environment: { ...process.env, SERVICE_SECRET_KEY: undefined } });
  const admin = await at.keyed('admin');
  await admin.json('POST', '/api/project/load', { path: at.projectDir });
  expect(linesOf((await admin.run({ cmd: 'echo works' })).frames)).toEqual(['works']);
  expect(await admin.json('GET', '/api/secrets')).toEqual([]);
  const problem = await admin.problem('POST', '/api/secrets/A', { value: token });
  expect(problem).toMatchObject({ code: 'master_key_unavailable', httpStatus: 503 });
  expect(problem.detail).toContain('SERVICE_SECRET_KEY');
  expect(existsSync(storeOf(at.projectDir))).toBe(false);
});

test('git clean does not lose the secrets: they are put back from the copy, and that is told', async () => {
  await using at = await bootWithKey();
  await at.admin.json('POST', '/api/secrets/KEPT', { value: token });
  const stored = readFileSync(storeOf(at.projectDir));
  await at.admin.run({ cmd: 'git init -q . && git clean -fdxq' });
  expect(existsSync(storeOf(at.projectDir))).toBe(false);
  expect((await at.admin.json<RevealedSecret>('GET', '/api/secrets/KEPT')).value).toBe(token);
  expect(readFileSync(storeOf(at.projectDir))).toEqual(stored);
  const { notices } = await at.panel.json<{ notices: string[] }>('GET', '/api/status');
  expect(notices.join()).toContain('put back from the copy');
});

test('an older state of the store is refused, offered the copy, and kept under another name', async () => {
  await using at = await bootWithKey();
  await at.admin.json('POST', '/api/secrets/A', { value: 'first-value' });
  const old = readFileSync(storeOf(at.projectDir));
  await at.admin.json('POST', '/api/secrets/A', { value: 'second-value' });
  writeFileSync(storeOf(at.projectDir), old);
  const problem = await at.admin.problem('GET', '/api/secrets');
  expect(problem).toMatchObject({
    code: 'secrets_store_damaged',
    httpStatus: 409,
    reason: 'rolled_back',
    copy: { secrets: 1, updated_at: expect.any(String) },
  });
  expect(await at.admin.problem('POST', '/api/secrets/B', { value: 'x' })).toMatchObject({
    code: problem.code,
  });
  expect(readFileSync(storeOf(at.projectDir))).toEqual(old);
  const recovered = await at.admin.json<RecoveredStore>('POST', '/api/secrets/recover-store', {
    use: 'copy',
  });
  expect(recovered.secrets.map(({ name }) => name)).toEqual(['A']);
  expect(readFileSync(join(at.projectDir, recovered.set_aside ?? ''))).toEqual(old);
  expect((await at.admin.json<RevealedSecret>('GET', '/api/secrets/A')).value).toBe('second-value');
  expect(await at.admin.problem('POST', '/api/secrets/recover-store', { use: 'empty' })).toMatchObject({
    code: 'conflict',
  });
});

test('the store of another workspace, an altered one and a thing that is no file are refused, and nothing is overwritten', async () => {
  await using at = await bootWithKey();
  await at.admin.json('POST', '/api/secrets/A', { value: token });
  const own = readFileSync(storeOf(at.projectDir));
  const other = await at.keyed('admin');
  await at.admin.run({ cmd: 'mkdir inner' });
  await other.json('POST', '/api/project/load', { path: join(at.projectDir, 'inner') });
  await other.json('POST', '/api/secrets/B', { value: 'of-another' });
  const swapped = readFileSync(storeOf(join(at.projectDir, 'inner')));
  const altered = Buffer.from(own);
  altered[60] = altered[60] === 0x41 ? 0x42 : 0x41;
  for (const bytes of [swapped, altered, Buffer.concat([own, Buffer.from('\n')]), Buffer.alloc(0)]) {
    writeFileSync(storeOf(at.projectDir), bytes);
    expect(await at.admin.problem('GET', '/api/secrets')).toMatchObject({ reason: 'wrong_key_or_altered' });
    expect(await at.admin.problem('POST', '/api/secrets/C', { value: 'x' })).toMatchObject({
      code: 'secrets_store_damaged',
    });
    expect(readFileSync(storeOf(at.projectDir))).toEqual(bytes);
  }
  rmSync(storeOf(at.projectDir));
  mkdirSync(storeOf(at.projectDir));
  expect(await at.admin.problem('GET', '/api/secrets')).toMatchObject({ reason: 'unreadable' });
});

test('rolling a set back brings the old value back, and rolling that back the new one', async () => {
  await using at = await bootWithKey();
  const { admin } = at;
  const value = async () => (await admin.json<RevealedSecret>('GET', '/api/secrets/A')).value;
  const first = await admin.json<SetSecret>('POST', '/api/secrets/A', { value: 'first-value' });
  const second = await admin.json<SetSecret>('POST', '/api/secrets/A', { value: 'second-value' });
  const runOf = async (id: string | null) => (await admin.json<Receipt>('GET', `/api/receipts/${id}`)).run_id;
  const back = await admin.json<RolledBack>(
    'POST',
    `/api/agent/rollback/${await runOf(second.receipt_id)}`,
    {},
  );
  expect(await value()).toBe('first-value');
  const forth = await admin.json<RolledBack>('POST', `/api/agent/rollback/${back.rollback_run_id}`, {});
  expect(await value()).toBe('second-value');
  expect(
    await admin.problem('POST', `/api/agent/rollback/${await runOf(first.receipt_id)}`, {}),
  ).toMatchObject({
    code: 'rollback_conflict',
  });
  // To before there was a store: an empty one, for a missing one would be put back from the copy.
  await admin.json('POST', `/api/agent/rollback/${await runOf(first.receipt_id)}`, { force: true });
  expect(await admin.json('GET', '/api/secrets')).toEqual([]);
  expect(forth.receipt_id).toEqual(expect.any(String));
  expect(await admin.json('POST', `/api/receipts/${forth.rollback_run_id}/verify`)).toMatchObject({
    valid: true,
  });
});

function linesOf(frames: readonly JobFrame[]): string[] {
  return frames.flatMap((frame) => (frame.type === 'stdout' ? [frame.line] : []));
}

function cksum(text: string): string {
  return execFileSync('cksum', { input: text, encoding: 'utf8' }).trim();
}
