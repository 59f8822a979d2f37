import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AcceptedHostKeys, readKnownHosts } from './store.ts';

let folder: string;
let path: string;
let keys: AcceptedHostKeys;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tallystick-accepted-'));
  path = join(folder, 'known_hosts');
  keys = new AcceptedHostKeys(path);
});
afterEach(() => rm(folder, { recursive: true }));

let count = 0;
function newKey(): Buffer {
  const file = join(folder, `key${++count}`);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  return Buffer.from(readFileSync(`${file}.pub`, 'utf8').split(' ')[1] ?? '', 'base64');
}

const host = (hostname: string, port = 22) => ({ hostname, port, hostKeyAlias: null });

describe('the accepted host keys', () => {
  it('are written so that OpenSSH finds them, for the owner alone', async () => {
    const key = newKey();
    expect(await keys.accept(host('Box.example', 2222), key, [])).toEqual({ status: 'known' });
    const found = execFileSync('ssh-keygen', ['-F', '[box.example]:2222', '-f', path], { encoding: 'utf8' });
    expect(found).toContain(key.toString('base64'));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('are all there when many are accepted at once', async () => {
    const key = newKey();
    const names = Array.from({ length: 20 }, (_, at) => `box${at}`);
    await Promise.all(names.map((name) => keys.accept(host(name), key, [])));
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    expect(lines.map((line) => line.split(' ')[0])).toEqual(names);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('are written once, and go on from a last line without its end', async () => {
    const key = newKey();
    writeFileSync(path, '# kept');
    await keys.accept(host('box'), key, []);
    await keys.accept(host('box'), key, []);
    expect(readFileSync(path, 'utf8')).toBe(`# kept\nbox ssh-ed25519 ${key.toString('base64')}\n`);
  });

  it('are not written against what is known, here or by the user, or revoked', async () => {
    const [first, second] = [newKey(), newKey()];
    await keys.accept(host('box'), first, []);
    expect(await keys.accept(host('box'), second, [])).toMatchObject({ status: 'changed' });
    const theirs = join(folder, 'theirs');
    writeFileSync(theirs, `other ssh-ed25519 ${first.toString('base64')}\n`);
    expect(await keys.accept(host('other'), second, await readKnownHosts([theirs]))).toMatchObject({
      status: 'changed',
    });
    writeFileSync(theirs, `@revoked * ssh-ed25519 ${second.toString('base64')}\n`);
    expect(await keys.accept(host('third'), second, await readKnownHosts([theirs]))).toMatchObject({
      status: 'revoked',
    });
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  it.each(['*', 'a,b', 'box *', '@revoked', '!box', '|1|x', '#box', 'box\nevil'])(
    'are not written for a name that would be read as something else: %j',
    async (name) => {
      await expect(keys.accept(host(name), newKey(), [])).rejects.toMatchObject({
        code: 'ssh_host_unsupported',
      });
      expect(await keys.read()).toEqual([]);
    },
  );

  it('fail and stay as they were where the file can not be read, and go on after that', async () => {
    mkdirSync(path);
    await expect(keys.accept(host('box'), newKey(), [])).rejects.toMatchObject({ code: 'ssh_failed' });
    await rm(path, { recursive: true });
    expect(await keys.accept(host('box'), newKey(), [])).toEqual({ status: 'known' });
  });

  it('say nothing of a file that is not there, or is none', async () => {
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const files = [join(folder, 'none'), '/dev/null/none', '/dev/null', '/dev/zero', fifo];
    expect(await readKnownHosts(files)).toEqual([]);
  });
});
