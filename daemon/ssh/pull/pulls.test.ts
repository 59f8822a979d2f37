import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SFTPWrapper } from 'ssh2';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { maxPullBytes } from '../../contract/ssh.ts';
import { isReservedName } from '../../files/reserved-names.ts';
import { tempFolder } from '../../lib/testing/temp-folder.ts';
import { actor, realMutations } from '../../mutations/testing/real-door.ts';
import { type Sshd, startSshd, whyNoSshd } from '../../testing/sshd.ts';
import { Pulls } from './pulls.ts';
import { type DirectConnector, directConnector } from './testing/direct-connector.ts';

const noSshd = whyNoSshd();

describe.skipIf(noSshd !== undefined)(`Pulls${noSshd === undefined ? '' : ` (skipped: ${noSshd})`}`, () => {
  let sshd: Sshd;
  let real: Awaited<ReturnType<typeof realMutations>>;
  let connections: DirectConnector;
  let pulls: Pulls;
  /** Remote folder of each test. */
  let folder: string;
  let cases = 0;

  beforeAll(async () => {
    sshd = await startSshd();
    real = await realMutations();
  });
  afterAll(async () => {
    await real[Symbol.asyncDispose]();
    await sshd[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    cases += 1;
    folder = join(sshd.home, `case-${cases}`);
    mkdirSync(folder);
    rmSync(join(real.project, 'pulled'), { recursive: true, force: true });
    real.receipts.length = 0;
    connections = directConnector(sshd);
    pulls = pullsOver(connections);
    return () => connections[Symbol.asyncDispose]();
  });

  const pullsOver = (over: DirectConnector, replyTimeoutMs = 20_000) =>
    new Pulls({ connections: over, door: real.mutations, isReservedName, replyTimeoutMs });
  const pull = (remotePath: string, { host = 'web', signal }: { host?: string; signal?: AbortSignal } = {}) =>
    pulls.pull(
      { workspace: real.workspace, actor, ...(signal === undefined ? {} : { signal }) },
      { host, remote_path: remotePath },
    );
  const remote = (name: string, content: string | Buffer = '') => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const local = (name: string) => readFileSync(join(real.project, 'pulled', 'web', name));
  const inProject = () => readdirSync(real.project, { recursive: true });

  /** The pull fails with this code; the project is as it was, and the connection is given back. */
  async function expectRefused(pulling: Promise<unknown>, ...codes: string[]): Promise<void> {
    const before = inProject();
    const code = await pulling.then(
      () => 'no error',
      (error) => error.code ?? String(error),
    );
    expect(codes).toContain(code);
    expect(inProject()).toEqual(before);
    expect(real.receipts).toEqual([]);
    expect(connections.inUse).toBe(0);
  }

  /** Runs `work` when the first request to read has been sent, of every session. */
  function onFirstRead(work: (count: number) => void): void {
    let count = 0;
    connections.intercept = (sftp) => {
      const read = sftp.read.bind(sftp);
      sftp.read = (...args) => {
        read(...args);
        if (args[4] === 0) work(++count);
      };
    };
  }

  describe('the file in the workspace', () => {
    test('has the content and a receipt; the second time, nothing is to be done', async () => {
      const content = Buffer.from('line\r\n\xff\0 bytes', 'latin1');
      const path = remote('access.log', content);
      const sha256 = execFileSync('sha256sum', [path], { encoding: 'utf8' }).slice(0, 64);
      const pulled = await pull(path);
      expect(pulled).toEqual({
        path: 'pulled/web/access.log',
        size: content.length,
        sha256,
        receipt_id: real.receipts[0]?.receipt_id,
      });
      expect(local('access.log')).toEqual(content);
      expect(real.receipts[0]).toMatchObject({
        tool: 'ssh.pull',
        actor,
        files: [{ path: 'pulled/web/access.log', before_hash: 'absent', after_hash: `sha256:${sha256}` }],
      });
      expect(await pull(path)).toEqual({ ...pulled, receipt_id: null });
      expect(real.receipts).toHaveLength(1);
    });

    test('is replaced as a whole, with both hashes in the receipt', async () => {
      const path = remote('a.txt', 'one\n');
      const first = await pull(path);
      const inode = statSync(join(real.project, first.path)).ino;
      remote('a.txt', 'two\n');
      const second = await pull(path);
      expect(local('a.txt').toString()).toBe('two\n');
      expect(statSync(join(real.project, first.path)).ino).not.toBe(inode);
      expect(real.receipts[1]).toMatchObject({
        receipt_id: second.receipt_id,
        files: [{ before_hash: `sha256:${first.sha256}`, after_hash: `sha256:${second.sha256}` }],
      });
      expect(real.receipts[1]?.diffs[0]?.hunks[0]?.lines).toEqual(['-one', '+two']);
    });

    test('does not get the executable bit of the one on the host', async () => {
      const path = remote('run.sh', '#!/bin/sh\n');
      chmodSync(path, 0o6755);
      await pull(path);
      expect(statSync(join(real.project, 'pulled/web/run.sh')).mode & 0o7111).toBe(0);
    });

    test('is found by a path from the home folder, and through a link', async () => {
      const path = remote('target.txt', 'content');
      symlinkSync(path, join(folder, 'link.txt'));
      expect(await pull(`case-${cases}/link.txt`)).toMatchObject({ path: 'pulled/web/link.txt', size: 7 });
    });

    test('may be empty', async () => {
      expect(await pull(remote('empty'))).toMatchObject({ size: 0 });
      expect(local('empty')).toHaveLength(0);
    });

    test.each(['$(touch x)', '`touch x`; touch y', '-rf', 'ñandú 文件', 'a'.repeat(255)])(
      'may be named %s: no shell sees the name',
      async (name) => {
        await pull(remote(name, name));
        expect(local(name).toString()).toBe(name);
        expect(existsSync(join(sshd.home, 'x'))).toBe(false);
        expect(readdirSync(folder)).toEqual([name]);
      },
    );

    test('is in the folder of an alias that begins with a dash', async () => {
      const pulled = await pull(remote('f', 'x'), { host: '-oProxyCommand=x' });
      expect(pulled.path).toBe('pulled/-oProxyCommand=x/f');
    });

    test('takes the place of no link and no folder', async () => {
      await using outside = await tempFolder();
      const path = remote('f', 'x');
      const web = join(real.project, 'pulled/web');
      mkdirSync(join(web, 'f'), { recursive: true });
      await expectRefused(pull(path), 'conflict');
      rmSync(web, { recursive: true });
      symlinkSync(outside.path, web);
      await expectRefused(pull(path), 'conflict');
      rmSync(web);
      mkdirSync(web);
      writeFileSync(join(outside.path, 'f'), 'outside');
      symlinkSync(join(outside.path, 'f'), join(web, 'f'));
      await expectRefused(pull(path), 'conflict');
      rmSync(web, { recursive: true });
      writeFileSync(web, 'a file');
      await expectRefused(pull(path), 'conflict');
      expect(readdirSync(outside.path)).toEqual(['f']);
      expect(readFileSync(join(outside.path, 'f'), 'utf8')).toBe('outside');
    });
  });

  describe('what is refused', () => {
    test('names that are none, before any connection', async () => {
      for (const path of ['/', '/etc/', '..', '.', '/srv/.git', 'C:\\x', 'a\ud800'])
        await expectRefused(pull(path), 'remote_name_refused');
      for (const host of ['..', 'a/b', '.git'])
        await expectRefused(pull('f', { host }), 'remote_name_refused');
      expect(connections.taken).toBe(0);
    });

    test('a file that is not there', async () => {
      await expectRefused(pull(join(folder, 'missing')), 'remote_file_not_found');
      await expectRefused(pull(join(remote('file'), 'below')), 'remote_file_not_found');
    });

    test('a folder, a pipe, a device, a socket, links in a circle or to nothing', async () => {
      execFileSync('mkfifo', [join(folder, 'pipe')]);
      const server = createServer().listen(join(folder, 'socket'));
      await once(server, 'listening');
      symlinkSync('loop-b', join(folder, 'loop-a'));
      symlinkSync('loop-a', join(folder, 'loop-b'));
      symlinkSync('nothing', join(folder, 'dangling'));
      symlinkSync('pipe', join(folder, 'to-pipe'));
      for (const name of ['pipe', 'to-pipe', 'socket', 'loop-a', 'dangling'])
        await expectRefused(pull(join(folder, name)), 'remote_not_a_file');
      for (const path of [folder, '/dev/zero', '/dev/null'])
        await expectRefused(pull(path), 'remote_not_a_file');
      server.close();
    });

    test('a file that the user may not read', async () => {
      const path = remote('secret', 'x');
      chmodSync(path, 0o000);
      const asRoot = process.getuid?.() === 0;
      if (asRoot) chmodSync(sshd.folder, 0o755);
      connections = directConnector(asRoot ? { ...sshd, user: 'nobody' } : sshd);
      pulls = pullsOver(connections);
      await expectRefused(pull(path), 'remote_file_unreadable');
      chmodSync(folder, 0o000);
      await expectRefused(pull(path), 'remote_file_unreadable');
      chmodSync(folder, 0o755);
    });

    test('a file that the system of the host fails to read', async () => {
      await expectRefused(pull('/proc/self/mem'), 'remote_file_unreadable');
    });

    test('a name that the host can not have', async () => {
      await expectRefused(
        pull(`/${'a/'.repeat(2000)}${'b'.repeat(90)}`),
        'remote_file_not_found',
        'remote_file_unreadable',
      );
    });

    test('a pipe that takes the place of the file just before it is opened: the wait is bounded', async () => {
      const path = remote('file', 'x');
      pulls = pullsOver(connections, 300);
      connections.intercept = (sftp) => {
        const open = sftp.open.bind(sftp);
        Object.assign(sftp, {
          open: (...args: Parameters<typeof open>) => {
            rmSync(path);
            execFileSync('mkfifo', [path]);
            open(...args);
          },
        });
      };
      await expectRefused(pull(path), 'ssh_timeout');
      // Lets the server, which waits for someone to write, go on.
      closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    });
  });

  describe('the limit of 50 MiB', () => {
    const sized = (name: string, bytes: number) => {
      const path = remote(name);
      truncateSync(path, bytes);
      return path;
    };
    /** The server is taken to say of no file how large it is, as it does in /proc. */
    const tellNoSize = () => {
      connections.intercept = (sftp: SFTPWrapper) => {
        for (const name of ['stat', 'fstat'] as const) {
          const ask = (sftp[name] as SFTPWrapper['stat']).bind(sftp);
          Object.assign(sftp, {
            [name]: (of: string, done: Parameters<typeof ask>[1]) =>
              ask(of, (error, stats) => done(error, Object.assign(stats, { size: 0 }))),
          });
        }
      };
    };

    test('lets 50 MiB through, and refuses one byte more by what the host says', async () => {
      const path = sized('at', maxPullBytes);
      const file = openSync(path, 'r+');
      writeSync(file, 'first', 0);
      writeSync(file, 'last', maxPullBytes - 4);
      closeSync(file);
      const pulled = await pull(path);
      const sha256 = execFileSync('sha256sum', [path], { encoding: 'utf8' }).slice(0, 64);
      expect(pulled).toMatchObject({ size: maxPullBytes, sha256 });
      execFileSync('cmp', [path, join(real.project, pulled.path)]);
      rmSync(join(real.project, 'pulled'), { recursive: true });
      real.receipts.length = 0;
      await expectRefused(pull(sized('over', maxPullBytes + 1)), 'file_too_large');
      await expectRefused(pull(sized('far-over', 2 ** 40)), 'file_too_large');
    });

    test('counts where the host does not say: 50 MiB pass, one byte more is refused', async () => {
      tellNoSize();
      expect(await pull(sized('at', maxPullBytes))).toMatchObject({ size: maxPullBytes });
      rmSync(join(real.project, 'pulled'), { recursive: true });
      real.receipts.length = 0;
      await expectRefused(pull(sized('over', maxPullBytes + 1)), 'file_too_large');
    });

    test('takes a file of /proc, and refuses one there that has no end', async () => {
      await pull('/proc/version');
      expect(local('version')).toEqual(readFileSync('/proc/version'));
      rmSync(join(real.project, 'pulled'), { recursive: true });
      real.receipts.length = 0;
      await expectRefused(pull('/proc/self/pagemap'), 'file_too_large');
    });

    test('takes a file of /sys, which has less in it than it says', async () => {
      const path = '/sys/kernel/mm/transparent_hugepage/enabled';
      if (!existsSync(path)) return console.warn(`not tried: this kernel has no ${path}`);
      await pull(path);
      expect(local('enabled')).toEqual(readFileSync(path));
    });
  });

  describe('a file that changes while it is read', () => {
    test('is read again: what is written is what it was at one moment', async () => {
      const path = remote('grows', 'a'.repeat(100_000));
      onFirstRead((count) => count === 1 && appendFileSync(path, 'b'.repeat(100_000)));
      expect(await pull(path)).toMatchObject({ size: 200_000 });
      expect(local('grows').toString()).toBe('a'.repeat(100_000) + 'b'.repeat(100_000));
    });

    test('is given up where it changes once more: longer, shorter, or as long as before', async () => {
      const path = remote('changes', 'a'.repeat(100_000));
      onFirstRead(() => appendFileSync(path, 'more'));
      await expectRefused(pull(path), 'conflict');
      onFirstRead((count) => truncateSync(path, 50_000 - count));
      await expectRefused(pull(path), 'conflict');
      onFirstRead((count) => utimesSync(path, count, count));
      await expectRefused(pull(path), 'conflict');
    });

    test('is given up when it grows over the limit', async () => {
      const path = remote('grows', 'a'.repeat(100_000));
      onFirstRead(() => truncateSync(path, maxPullBytes + 1));
      await expectRefused(pull(path), 'file_too_large');
    });

    test('is given up when another process writes to it all the time', async () => {
      const path = remote('log');
      truncateSync(path, 30 * 1024 * 1024);
      const script = 'while :; do head -c 65536 /dev/zero >>"$1"; echo; done';
      const writer = spawn('sh', ['-c', script, 'sh', path], { stdio: ['ignore', 'pipe', 'ignore'] });
      await once(writer.stdout, 'data');
      writer.stdout.resume();
      try {
        await expectRefused(pull(path), 'conflict', 'file_too_large');
      } finally {
        writer.kill('SIGKILL');
        await once(writer, 'exit');
      }
    });

    test('is read again where it ended too early, though it looks the same', async () => {
      const path = remote('file', 'a'.repeat(100_000));
      let reads = 0;
      connections.intercept = (sftp) => {
        const read = sftp.read.bind(sftp);
        sftp.read = (...args) => {
          reads += 1;
          if (reads === 1) args[5](undefined, 0, args[1], args[4]);
          else read(...args);
        };
      };
      expect(await pull(path)).toMatchObject({ size: 100_000 });
    });

    test('is given up where there is more in it than the host says', async () => {
      const path = remote('file', 'a'.repeat(100_000));
      connections.intercept = (sftp) => {
        const fstat = sftp.fstat.bind(sftp);
        sftp.fstat = (handle, done) =>
          fstat(handle, (error, stats) => done(error, Object.assign(stats, { size: 99_999 })));
      };
      await expectRefused(pull(path), 'conflict');
    });

    test('is what it was when it was opened, where another takes its place', async () => {
      const path = remote('file', 'old '.repeat(1000));
      const other = remote('other', 'new');
      onFirstRead(() => existsSync(other) && renameSync(other, path));
      await pull(path);
      expect(local('file').toString()).toBe('old '.repeat(1000));
    });
  });

  describe('a pull that is cut short', () => {
    /** sshd's processes for connections, which are its children. */
    const children = () =>
      readFileSync(`/proc/${sshd.pid}/task/${sshd.pid}/children`, 'utf8').trim().split(' ').filter(Boolean);

    test('leaves nothing behind when the process of the connection is killed, and the next one works', async () => {
      const path = remote('big');
      truncateSync(path, maxPullBytes);
      onFirstRead(() => {
        for (const pid of children()) process.kill(Number(pid), 'SIGKILL');
      });
      await expectRefused(pull(path), 'ssh_failed');
      connections.intercept = undefined;
      expect(await pull(path)).toMatchObject({ size: maxPullBytes });
    });

    test('leaves nothing behind when the caller goes, whenever that is', async () => {
      const path = remote('big');
      truncateSync(path, maxPullBytes);
      await expectRefused(pull(path, { signal: AbortSignal.abort() }), 'ssh_failed');
      const reading = new AbortController();
      onFirstRead(() => reading.abort());
      await expectRefused(pull(path, { signal: reading.signal }), 'ssh_failed');
      const opening = new AbortController();
      connections.intercept = () => opening.abort();
      await expectRefused(pull(path, { signal: opening.signal }), 'ssh_failed');
      const last = new AbortController();
      connections.intercept = (sftp) => {
        const fstat = sftp.fstat.bind(sftp);
        let count = 0;
        sftp.fstat = (handle, done) =>
          fstat(handle, (...stats) => {
            done(...stats);
            count += 1;
            if (count === 2) last.abort();
          });
      };
      await expectRefused(pull(path, { signal: last.signal }), 'ssh_failed');
    });

    test('says so when the host answers nothing any more', async () => {
      pulls = pullsOver(connections, 300);
      const path = remote('big');
      truncateSync(path, maxPullBytes);
      let stopped: string[] = [];
      onFirstRead(() => {
        stopped = children();
        for (const pid of stopped) process.kill(Number(pid), 'SIGSTOP');
      });
      await expectRefused(pull(path), 'ssh_timeout');
      for (const pid of stopped) process.kill(Number(pid), 'SIGCONT');
    });

    test('says so when the host has no SFTP', async () => {
      await using bare = await startSshd({ config: ['ForceCommand /bin/false'] });
      connections = directConnector(bare);
      pulls = pullsOver(connections);
      await expectRefused(pull('/etc/hostname'), 'ssh_failed');
    });
  });

  test('four pulls are under way at a time; the fifth begins when one of them is done', async () => {
    const names = ['1', '2', '3', '4', '5'];
    const waiting: (() => void)[] = [];
    let arrived = () => {};
    const fourRead = new Promise<void>((resolve) => {
      arrived = () => waiting.length === 4 && resolve();
    });
    connections.intercept = (sftp) => {
      const read = sftp.read.bind(sftp);
      sftp.read = (...args) => {
        waiting.push(() => read(...args));
        arrived();
      };
    };
    const pulling = names.map((name) => pull(remote(name, name)));
    await fourRead;
    for (let turns = 0; turns < 10; turns += 1) await nextTurn();
    expect(connections.taken).toBe(4);
    connections.intercept = undefined;
    for (const goOn of waiting.splice(0)) goOn();
    // Each looks for the end of the file, too.
    const goingOn = setInterval(() => waiting.splice(0).forEach((goOn) => void goOn()), 5);
    await Promise.all(pulling);
    clearInterval(goingOn);
    expect(connections.taken).toBe(5);
    expect(names.map((name) => local(name).toString())).toEqual(names);
    expect(connections.inUse).toBe(0);
  });
});
