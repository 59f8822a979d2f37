import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { expect } from 'vitest';
import { CodedError } from '../../../contract/errors.ts';
import type { ClientHome } from './client-home.ts';
import { askRealSsh, type RealHost } from './real-ssh.ts';

export type Compared = 'same' | 'no key' | 'refused by ssh' | 'needs a command or circles';

/** Holds what SshHosts says of an alias, and of every host on the way, against what the real ssh says. */
export async function compareWithSsh(home: ClientHome, config: string, alias: string): Promise<Compared> {
  const hosts = home.hosts(config);
  const real = askRealSsh({ ...home, home: home.path }, alias);
  if ('refused' in real) {
    // ssh refuses any wrong line, also one that does not apply to the host: all that is asked is a coded error, if any.
    await hosts.resolve(alias).catch((error: unknown) => expect(error).toBeInstanceOf(CodedError));
    return 'refused by ssh';
  }
  if ('cantBe' in real) {
    await expect(hosts.resolve(alias)).rejects.toMatchObject({
      code: expect.stringMatching(/^ssh_(password_)?host_unsupported$/),
    });
    return 'needs a command or circles';
  }
  for (const host of real.hosts) createKeys(home, host);
  if (real.hosts.some(hasNoKey)) {
    await expect(hosts.resolve(alias)).rejects.toMatchObject({ code: 'ssh_password_host_unsupported' });
    return 'no key';
  }
  const { proxyJump, ...host } = await hosts.resolve(alias);
  const way = proxyJump.map(({ proxyJump: _none, ...hop }) => hop);
  expect([...way, host]).toEqual(real.hosts);
  return 'same';
}

function createKeys(home: ClientHome, { identityFiles }: RealHost): void {
  for (const path of identityFiles) {
    const name = relative(home.path, path);
    if (!name.startsWith('..') && !existsSync(path)) home.write(name, 'a key');
  }
}

function hasNoKey({ identityFiles, identityAgent, identitiesOnly }: RealHost): boolean {
  const hasAgent = identityAgent !== null && existsSync(identityAgent);
  return !identityFiles.some((path) => existsSync(path)) && (!hasAgent || identitiesOnly);
}
