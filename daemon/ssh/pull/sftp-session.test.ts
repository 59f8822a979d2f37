import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { SFTPWrapper } from 'ssh2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sshd, startSshd, whyNoSshd } from '../../testing/sshd.ts';
import { SftpSession } from './sftp-session.ts';
import { directConnector } from './testing/direct-connector.ts';

const noSshd = whyNoSshd();

describe.skipIf(noSshd !== undefined)(
  `SftpSession${noSshd === undefined ? '' : ` (skipped: ${noSshd})`}`,
  () => {
    let sshd: Sshd;
    beforeAll(async () => {
      sshd = await startSshd();
    });
    afterAll(() => sshd[Symbol.asyncDispose]());

    test('is closed on the host, too, where the caller went while it was opened', async () => {
      await using connections = directConnector(sshd);
      using lease = await connections.lease('host');
      const caller = new AbortController();
      let closed: Promise<unknown> | undefined;
      connections.intercept = (sftp: SFTPWrapper) => {
        closed = once(sftp, 'close');
        caller.abort();
      };
      const opening = SftpSession.open(lease, { signal: caller.signal, replyTimeoutMs: 20_000 });
      await expect(opening).rejects.toMatchObject({ code: 'ssh_failed' });
      await closed;
      expect(closed).toBeDefined();
    });

    test('fails at once where a call is made after the connection was lost', async () => {
      await using connections = directConnector(sshd);
      using lease = await connections.lease('host');
      using session = await SftpSession.open(lease, { replyTimeoutMs: 20_000 });
      const children = readFileSync(`/proc/${sshd.pid}/task/${sshd.pid}/children`, 'utf8').trim().split(' ');
      for (const pid of children) process.kill(Number(pid), 'SIGKILL');
      await lease.lost;
      await expect(session.stat('/')).rejects.toMatchObject({ code: 'ssh_failed' });
      const again = SftpSession.open(lease, { replyTimeoutMs: 20_000 });
      await expect(again).rejects.toMatchObject({ code: 'ssh_failed' });
    });

    test('keeps no listener of a signal that outlives it', async () => {
      await using connections = directConnector(sshd);
      using lease = await connections.lease('host');
      const { signal } = new AbortController();
      let listeners = 0;
      const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
      signal.addEventListener = (...args: Parameters<typeof add>) => {
        listeners += 1;
        add(...args);
      };
      signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        listeners -= 1;
        remove(...args);
      };
      {
        using session = await SftpSession.open(lease, { signal, replyTimeoutMs: 20_000 });
        expect((await session.stat('/')).isDirectory()).toBe(true);
        expect(listeners).toBe(1);
      }
      expect(listeners).toBe(0);
    });
  },
);
