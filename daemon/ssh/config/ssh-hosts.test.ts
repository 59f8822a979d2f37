import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, unlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SshHost } from '../../contract/ssh.ts';
import { ClientHome } from './testing/client-home.ts';

const noAgent = { environment: {} };

async function only(list: Promise<SshHost[]>): Promise<SshHost | undefined> {
  const hosts = await list;
  expect(hosts).toHaveLength(1);
  return hosts[0];
}

describe('the list of hosts', () => {
  it('has literal aliases in order and once, those of included files too, but no patterns', async () => {
    using home = new ClientHome();
    home.write('.ssh/more.conf', 'Host inner\nHost *.x\n');
    const hosts = home.hosts(
      'Host b a !z *.y b\nMatch all\n Include more.conf\nHost a ?\nHost -dash "white space"\n',
    );
    expect((await hosts.list()).map(({ host }) => host)).toEqual(['b', 'a', 'inner', '-dash', 'white space']);
  });

  it('says of each host where it is and by which hosts it is reached', async () => {
    using home = new ClientHome();
    const hosts = home.hosts('Host h\n HostName h.example\n User bob\n Port 23\n ProxyJump a,eve@b:24\n');
    expect(await hosts.list()).toEqual([
      {
        host: 'h',
        user: 'bob',
        hostname: 'h.example',
        port: 23,
        proxy_jump: ['a', 'b'],
        supported: true,
        reason: null,
      },
    ]);
  });

  it('is empty where there is no configuration', async () => {
    using home = new ClientHome();
    const hosts = home.hosts('Host h\n');
    unlinkSync(home.configFile);
    expect(await hosts.list()).toEqual([]);
  });

  it('leaves out an alias whose Host line can never apply', async () => {
    using home = new ClientHome();
    home.write('.ssh/inner.conf', 'Host b c\n User inner\n');
    const hosts = home.hosts('Host a !a\nHost b\n Include inner.conf\n');
    expect((await hosts.list()).map(({ host }) => host)).toEqual(['b']);
    await expect(hosts.resolve('c')).rejects.toMatchObject({ code: 'unknown_ssh_host' });
    await expect(hosts.resolve('a')).rejects.toMatchObject({ code: 'unknown_ssh_host' });
  });

  it('takes the system’s configuration after the user’s', async () => {
    using home = new ClientHome();
    const system = 'Host s\nHost *\n User late\n Port 99\n';
    const hosts = home.hosts('Host h\n User early\n', { system });
    expect((await hosts.list()).map(({ host, user, port }) => [host, user, port])).toEqual([
      ['h', 'early', 99],
      ['s', 'late', 99],
    ]);
  });

  it('shows a file that is changed, replaced, or newly matched by a glob at the next call', async () => {
    using home = new ClientHome();
    const hosts = home.hosts('Include conf.d/*\nHost h\n User a\n');
    expect((await hosts.resolve('h')).user).toBe('a');
    home.write('.ssh/config', 'Include conf.d/*\nHost h\n User b\n');
    // The same size and time of change: only the time of the inode's change tells.
    utimesSync(home.configFile, 1, 1);
    expect((await hosts.resolve('h')).user).toBe('b');
    home.write('.ssh/conf.d/new', 'User c\n');
    expect((await hosts.resolve('h')).user).toBe('c');
  });

  it('lists a name that the API can not take as unsupported', async () => {
    using home = new ClientHome();
    const hosts = home.hosts(`Host "a b" ${'x'.repeat(256)} ${'y'.repeat(255)}\n`);
    expect((await hosts.list()).map(({ supported }) => supported)).toEqual([false, false, true]);
  });
});

describe('a host that would need a command', () => {
  it('is never asked: Match exec, ProxyCommand and KnownHostsCommand leave no marker', async () => {
    using home = new ClientHome();
    const marker = join(home.path, 'marker');
    const config = [
      `Match exec "touch ${marker}"\n User exec\n`,
      `Host p\n User x\n ProxyCommand touch ${marker}\nHost k\n User x\n KnownHostsCommand /bin/touch ${marker}\n`,
      `Host "$(touch ${marker})"\n User x\nHost v\n User x\n IdentityFile ~/$(touch\\ ${marker})\n`,
    ].join('');
    const hosts = home.hosts(config);
    for (const { host } of await hosts.list()) await hosts.resolve(host).catch(() => undefined);
    expect((await hosts.list()).map(({ host, supported }) => [host, supported])).toContainEqual(['p', false]);
    expect(existsSync(marker)).toBe(false);
    // That the check can fail: the real ssh runs what Match exec says even to print the configuration.
    execFileSync('ssh', ['-G', '-F', home.configFile, 'p'], { stdio: 'ignore' });
    expect(existsSync(marker)).toBe(true);
  });

  it.each([
    ['ProxyCommand', 'Host h\n ProxyCommand nc %h %p\n', /ProxyCommand would have to be run/],
    ['KnownHostsCommand', 'Host h\n KnownHostsCommand /bin/x\n', /KnownHostsCommand would have to be run/],
    ['RevokedHostKeys', 'Host h\n RevokedHostKeys ~/r\n', /RevokedHostKeys/],
    ['Match exec', 'Match exec true\n Port 23\nHost h\n', /config line 1: Match exec .* could decide port$/],
    [
      'an identity file under Match exec',
      'Host h\n IdentityFile ~/a\nMatch exec true\n IdentityFile ~/b\n',
      /identityfile$/,
    ],
    [
      'an Include under Match exec',
      'Host h\nMatch host h exec true\n Include port.conf\n',
      /could decide port$/,
    ],
    [
      'a hop with ProxyCommand',
      'Host h\n ProxyJump g\nHost g\n ProxyCommand x\n',
      /^g, on the way: ProxyCommand/,
    ],
    ['CanonicalizeHostname', 'CanonicalizeHostname yes\nCanonicalDomains x.example\nHost h\n', /DNS/],
    ['Match localnetwork', 'Match localnetwork 10.0.0.0/8\n User x\nHost h\n', /Match localnetwork/],
    ['an unknown token', 'Host h\n IdentityFile ~/%q\n', /IdentityFile: %q can not be used/],
    ['an unset variable', 'Host h\n IdentityFile ${NOT_SET_ANYWHERE}\n', /NOT_SET_ANYWHERE is not set/],
    ['somebody’s home', 'Host h\n IdentityFile ~nobody/k\n', /~nobody/],
    ['a wrong port', 'Host h\n Port 65536\n', /config line 2: port: 65536 is not a port/],
    ['an open quote', 'Host h\n User "x\n', /config line 2: user: a quote is not closed/],
    ['a wrong Match', 'Match whatever x\n User x\nHost h\n', /line 1: Match whatever is not known/],
    ['two values', 'Host h\n User a b\n', /more than one value/],
  ])('is listed with the reason, and refused: %s', async (_title, config, reason) => {
    using home = new ClientHome();
    home.write('.ssh/port.conf', 'Port 7\n');
    const hosts = home.hosts(config);
    const [h] = (await hosts.list()).filter(({ host }) => host === 'h');
    expect(h).toMatchObject({ supported: false, reason: expect.stringMatching(reason) });
    await expect(hosts.resolve('h')).rejects.toMatchObject({
      code: 'ssh_host_unsupported',
      message: h?.reason,
    });
  });

  it.each([
    ['decides nothing that is not decided', 'Host h\n User a\nMatch exec false\n User b\n'],
    ['decides nothing that matters', 'Host h\nMatch exec true\n ForwardAgent yes\n'],
    ['decides a last resort that is not needed', 'Match exec true\n PKCS11Provider /lib/x.so\nHost h\n'],
    ['is about another host', 'Host h\nMatch exec true host g\n User b\nMatch host g exec true\n User b\n'],
    ['comes too late for ProxyCommand', 'Host h\n ProxyJump g\nMatch host h exec true\n ProxyCommand x\n'],
  ])('is supported where Match exec %s', async (_title, config) => {
    using home = new ClientHome();
    expect(await only(home.hosts(config).list())).toMatchObject({ supported: true });
  });

  it('does not drag other hosts along: a wrong line is only held against the hosts it applies to', async () => {
    using home = new ClientHome();
    const hosts = home.hosts('Host a\n Port x\nHost b\n User b\n');
    expect((await hosts.list()).map(({ supported }) => supported)).toEqual([false, true]);
  });
});

describe('a host without a key', () => {
  it.each([
    ['no key and no agent', 'Host h\n', /no identity file .*id_ed25519.* no SSH agent; passwords/],
    ['a configured key that is not there', 'Host h\n IdentityFile ~/missing\n', /missing/],
    ['only the public half of a key', 'Host h\n IdentityFile ~/half\n', /half/],
    ['IdentityFile none', 'Host h\n IdentityFile none\n', /no identity file and no SSH agent/],
    ['PubkeyAuthentication no', 'Host h\n PubkeyAuthentication no\n', /PubkeyAuthentication/],
    ['no publickey', 'Host h\n PreferredAuthentications password,hostbased\n', /PreferredAuthentications/],
    ['a hop without a key', 'Host h\n IdentityFile ~/good\n ProxyJump g\n', /^g, on the way: /],
  ])('is listed as unsupported, and refused: %s', async (_title, config, reason) => {
    using home = new ClientHome();
    unlinkSync(join(home.path, '.ssh/id_ed25519'));
    home.write('good', 'a key');
    home.write('half.pub', 'ssh-ed25519 AAAA');
    const hosts = home.hosts(config, noAgent);
    const host = await only(hosts.list());
    expect(host).toMatchObject({ supported: false, reason: expect.stringMatching(reason) });
    await expect(hosts.resolve('h')).rejects.toMatchObject({
      code: 'ssh_password_host_unsupported',
      message: host?.reason,
    });
  });

  it.each([
    ['a default key', '.ssh/id_ecdsa', 'Host h\n', noAgent],
    ['a configured key', 'mine', 'Host h\n IdentityFile ~/mine\n', noAgent],
    ['an agent', 'other', 'Host h\n', {}],
    ['an agent and a key that is not there', 'other', 'Host h\n IdentityFile ~/missing\n', {}],
    ['an agent and the public half', 'half.pub', 'Host h\n IdentityFile ~/half\n IdentitiesOnly yes\n', {}],
  ])('is not what has %s', async (_title, name, config, options) => {
    using home = new ClientHome();
    unlinkSync(join(home.path, '.ssh/id_ed25519'));
    home.write(name, 'a key');
    expect(await only(home.hosts(config, options).list())).toMatchObject({ supported: true, reason: null });
  });

  it('is what has an agent, but IdentitiesOnly and no key to choose by', async () => {
    using home = new ClientHome();
    unlinkSync(join(home.path, '.ssh/id_ed25519'));
    const hosts = home.hosts('Host h\n IdentitiesOnly yes\n');
    expect(await only(hosts.list())).toMatchObject({ reason: expect.stringMatching(/^IdentitiesOnly/) });
    await expect(hosts.resolve('h')).rejects.toMatchObject({ code: 'ssh_password_host_unsupported' });
  });

  it('is not supported by a security key or a PKCS#11 library either', async () => {
    using home = new ClientHome();
    home.write('sk', 'a key');
    home.write('sk.pub', 'sk-ssh-ed25519@openssh.com AAAA');
    const config = 'Host s\n IdentityFile ~/sk\nHost p\n IdentityFile ~/missing\n PKCS11Provider /lib/x.so\n';
    const reasons = (await home.hosts(config, noAgent).list()).map(({ reason }) => reason);
    expect(reasons).toEqual([
      expect.stringMatching(/security key/),
      expect.stringMatching(/^PKCS11Provider/),
    ]);
    const withAgent = (await home.hosts(config).list()).map(({ supported }) => supported);
    expect(withAgent).toEqual([true, true]);
  });
});

describe('the way to a host', () => {
  it.each([
    ['itself', 'Host h\n ProxyJump h\n'],
    ['each other', 'Host h\n ProxyJump g\nHost g\n ProxyJump h\n'],
    ['all', 'Host h\nHost *\n ProxyJump gate\n'],
  ])('that goes in a circle is refused: %s', async (_title, config) => {
    using home = new ClientHome();
    const reason = expect.stringMatching(/goes in a circle/);
    await expect(home.hosts(config).resolve('h')).rejects.toMatchObject({ message: reason });
  });

  it('has eight hosts at most, be they in one line or in many', async () => {
    using home = new ClientHome();
    const names = ['g1', 'g2', 'g3', 'g4', 'g5', 'g6', 'g7', 'g8', 'g9'];
    const chain = names
      .map((name, index) => `Host ${name}\n ProxyJump ${names[index + 1] ?? 'none'}\n`)
      .join('');
    const hosts = home.hosts(`${chain}Host h\n ProxyJump g1\nHost one\n ProxyJump a,b,c,d,e,f,g,k
      Host two\n ProxyJump a,b,c,d,e,f,g,k,l\nHost three\n ProxyJump g3,x\nHost four\n ProxyJump g2,x\n`);
    const way = async (alias: string) => (await hosts.resolve(alias)).proxyJump.map((hop) => hop.alias);
    expect(await way('g1')).toEqual(names.slice(1).reverse());
    expect(await way('one')).toEqual([...'abcdefgk']);
    expect(await way('three')).toEqual(['g9', 'g8', 'g7', 'g6', 'g5', 'g4', 'g3', 'x']);
    for (const alias of ['h', 'two', 'four'])
      await expect(way(alias)).rejects.toMatchObject({
        message: 'ProxyJump has more than 8 hosts on the way',
      });
  });

  it('may be written with the tokens of the host', async () => {
    using home = new ClientHome();
    const hosts = home.hosts('Host h\n HostName x\n User bob\n ProxyJump %r@gate-%h-%n\n');
    expect((await hosts.resolve('h')).proxyJump).toMatchObject([{ alias: 'gate-x-h', user: 'bob' }]);
  });
});

describe('configuration files', () => {
  it('that include each other in a circle are held against the hosts', async () => {
    using home = new ClientHome();
    home.write('.ssh/one.conf', 'Include two.conf\nHost one\n');
    home.write('.ssh/two.conf', 'Include one.conf\nHost two\n');
    const hosts = await home.hosts('Include one.conf\nHost h\n').list();
    expect(hosts.map(({ host, reason }) => [host, reason])).toContainEqual([
      'two',
      expect.stringMatching(/two.conf line 1: .*one.conf includes itself/),
    ]);
    expect(await only(home.hosts('Host h\n Include config\n').list())).toMatchObject({
      reason: expect.stringMatching(/includes itself/),
    });
  });

  it('are followed sixteen deep and no deeper, as by ssh', async () => {
    using home = new ClientHome();
    for (let depth = 1; depth < 18; depth++)
      home.write(`.ssh/${depth}`, `Include ${depth + 1}\nConnectTimeout ${depth}\n`);
    home.write('.ssh/16', 'ConnectTimeout 16\n');
    expect(await home.hosts('Include 1\nHost h\n').resolve('h')).toMatchObject({ connectTimeoutMs: 16_000 });
    home.write('.ssh/16', 'Include 17\n');
    await expect(home.hosts('Include 1\nHost h\n').resolve('h')).rejects.toMatchObject({
      message: expect.stringMatching(/too many files include each other/),
    });
  });

  it('that include each other many times over are given up', async () => {
    using home = new ClientHome();
    for (let depth = 0; depth < 15; depth++)
      for (const name of ['a', 'b', 'c']) home.write(`.ssh/${depth}/${name}`, `Include ${depth + 1}/*\n`);
    expect(await only(home.hosts('Include 0/*\nHost h\n').list())).toMatchObject({
      reason: expect.stringMatching(/more than 2000 files are included/),
    });
  });

  it('that others can write to are not followed', async () => {
    using home = new ClientHome();
    const hosts = home.hosts('Host h\nInclude extra\n');
    const extra = home.write('.ssh/extra', 'User x\n');
    chmodSync(extra, 0o666);
    expect(await only(hosts.list())).toMatchObject({
      supported: false,
      reason: expect.stringContaining(extra),
    });
    chmodSync(extra, 0o644);
    chmodSync(home.configFile, 0o620);
    expect(await only(hosts.list())).toMatchObject({ reason: expect.stringContaining(home.configFile) });
  });

  it('may be links, empty, or a device; a folder or a FIFO in their place does not hold anybody up', async () => {
    using home = new ClientHome();
    const hosts = home.hosts('Include dir fifo null link\nHost h\n');
    execFileSync('mkfifo', ['-m', '600', join(home.path, '.ssh/fifo')]);
    home.write('.ssh/real', 'User linked\n');
    symlinkSync('real', join(home.path, '.ssh/link'));
    expect((await hosts.resolve('h')).user).toBe('linked');
    home.write('.ssh/dir/x', '');
    expect(await only(hosts.list())).toMatchObject({
      reason: expect.stringMatching(/dir can not be read: it is a folder/),
    });
  });

  it('that can not be read at all are an error', async () => {
    using home = new ClientHome();
    const hosts = home.hosts('Host h\n');
    unlinkSync(home.configFile);
    home.write('.ssh/config/in-the-way', '');
    await expect(hosts.list()).rejects.toMatchObject({
      code: 'ssh_host_unsupported',
      message: `${home.configFile} can not be read: it is a folder`,
    });
  });

  it('with 10,000 hosts and 200 patterns are listed, each host read as it would be alone', async () => {
    using home = new ClientHome();
    let config = 'Host 77.even\n Port 7\n';
    for (let host = 0; host < 10_000; host++)
      config += `Host ${host}.${host % 2 === 0 ? 'even' : 'odd'}\n HostName 10.0.${host >> 8}.${host & 255}\n IdentityFile ~/.ssh/k${host}\n`;
    for (let pattern = 0; pattern < 200; pattern++) config += `Host *${pattern}.odd\n User u${pattern}\n`;
    const start = performance.now();
    const list = await home.hosts(`${config}Host *\n Port 2222\n`).list();
    console.log(`10,000 hosts listed in ${Math.round(performance.now() - start)} ms`);
    expect(list).toHaveLength(10_001);
    expect(list.find(({ host }) => host === '123.odd')).toMatchObject({
      user: 'u3',
      port: 2222,
      hostname: '10.0.0.123',
    });
    expect(list.find(({ host }) => host === '1999.odd')).toMatchObject({ user: 'u9' });
    expect(readFileSync(home.configFile, 'utf8').length).toBeGreaterThan(500_000);
  });

  it('with patterns made to take for ever take no time', async () => {
    using home = new ClientHome();
    const host = 'a'.repeat(250);
    const hosts = home.hosts(
      `Host ${host}\nHost ${'*a'.repeat(500)}*b\n User x\nHost ${'*'.repeat(5000)}b\n User x\n`,
    );
    expect((await hosts.resolve(host)).hostname).toBe(host);
  });
});
