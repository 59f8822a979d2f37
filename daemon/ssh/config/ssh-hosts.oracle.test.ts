import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ClientHome } from './testing/client-home.ts';
import { compareWithSsh } from './testing/compare.ts';

const hasSsh = spawnSync('ssh', ['-V']).error === undefined;
if (!hasSsh) console.warn('skipped: there is no ssh client to compare with');

/** Title, configuration, and the aliases to compare (default: h). */
const cases: readonly (readonly [string, string, string[]?])[] = [
  ['nothing but a name', 'Host h'],
  ['the simple settings', 'Host h\n HostName example.com\n User bob\n Port 2222\n'],
  ['several aliases on a line', 'Host a h b\n User bob\n', ['a', 'h', 'b']],
  ['the first value obtained', 'Host h\n User one\n Port 1\nHost *\n User two\n Port 2\n HostName x\n'],
  ['a default that comes too early', 'Host *\n User two\nHost h\n User one\n'],
  ['settings before the first Host', 'User top\nHost h\n Port 99\n'],
  ['a * pattern', 'Host h.example.com\nHost *.example.com\n User star\n', ['h.example.com']],
  ['a ? pattern', 'Host h1 h\nHost h?\n User mark\n', ['h1', 'h']],
  ['a negated pattern', 'Host h g\nHost * !h\n User other\n', ['h', 'g']],
  ['a negation that comes last', 'Host h g\nHost h g !g\n User neither\n', ['h', 'g']],
  ['only a negation', 'Host h\nHost !g\n User none\n'],
  ['patterns that know case', 'Host H h\nHost H\n User big\n', ['H', 'h']],
  ['no commas in Host', 'Host h\nHost h,g\n User comma\n'],
  ['keywords in any case', 'hOST h\n hostNAME Example.COM\n USER bob\n'],
  ['Keyword=value', 'Host=h\n User=bob\n Port = 23\n HostName =x\n IdentityFile= ~/k\n'],
  ['quoted values', 'Host "h"\n User "bo b"\n IdentityFile "~/my keys/id"\n'.replace('my keys', 'my-keys')],
  ['single quotes', "Host 'h'\n User 'bob'\n"],
  ['a quote in the middle', 'Host h\n User b"o"b\n'],
  ['backslash escapes', 'Host h\n User b\\"o\\\\b\\x\n'],
  ['an escaped space', 'Host h\n User bo\\ b\n'],
  ['comments', '# top\nHost h # here\n  # inside\n User bob # there\n Port 3\n'],
  ['a # in the middle of a word', 'Host h\n User b#b\n'],
  ['a comment behind values', 'Host h #g\n User bob #x\n Port 33\t# y\n'],
  ['CRLF', 'Host h\r\n\tUser bob\r\n\tPort 44\r\n'],
  ['tabs, blank lines, form feed', '\n\n\tHost\th  \n\t \n  User\t bob \f\n'],
  ['no newline at the end', 'Host h\n User bob'],
  ['Match all', 'Host h\n User one\nMatch all\n User two\n Port 7\n'],
  ['Match host on the alias', 'Host h\nMatch host h\n User m\n'],
  ['Match host on the HostName', 'Host h\n HostName %h.example.com\nMatch host *.example.com\n User m\n'],
  [
    'Match originalhost',
    'Host h\n HostName x\nMatch originalhost h\n User m\nMatch originalhost x\n Port 5\n',
  ],
  ['Match host with a list', 'Host h g\nMatch host g,h,!g\n User m\n', ['h', 'g']],
  ['Match user', 'Host h\n User bob\nMatch user bob\n Port 5\nMatch user alice\n HostName x\n'],
  ['Match localuser', 'Host h\nMatch localuser root,daemon\n Port 5\nMatch !localuser root\n User x\n'],
  [
    'Match with negation',
    'Host h g\nMatch !host g\n User m\nMatch host * !originalhost h\n Port 5\n',
    ['h', 'g'],
  ],
  ['Match final', 'Host h\n HostName x.example.com\nMatch final host *.example.com\n User m\n'],
  ['Match final and Host by HostName', 'Host h\n HostName x\nHost x\n User late\nMatch final\n Port 6\n'],
  ['Match !final', 'Host h\nMatch !final\n User m\nMatch canonical\n Port 6\n'],
  ['Match final all', 'Host h\nMatch final all\n User m\n'],
  ['Match canonical all without a second pass', 'Host h\nMatch canonical all\n User m\n'],
  ['Match host=value', 'Host h\nMatch host=h user=bob\n Port 6\nMatch host="h"\n User m\n'],
  [
    'identity files twice in a final pass',
    'Host h\n IdentityFile ~/a\n IdentityFile ~/b\nMatch final\n IdentityFile ~/a\n IdentityFile ~/c\n',
  ],
  [
    'several identity files',
    'Host h\n IdentityFile ~/.ssh/a\n IdentityFile ~/.ssh/b\nHost *\n IdentityFile ~/.ssh/c\n IdentityFile ~/.ssh/a\n',
  ],
  ['IdentityFile none beside others', 'Host h\n IdentityFile none\n IdentityFile ~/k\n'],
  [
    'tokens in IdentityFile',
    'Host h\n HostName Ex.com\n User bob\n Port 24\n HostKeyAlias KEY\n IdentityFile %d/k/%h-%n-%p-%r-%u-%i-%L-%l-%k-%%-%C\n',
  ],
  ['variables', 'Host h\n IdentityFile ~/k/${TEAM}-${EMPTY}x\n UserKnownHostsFile ~/${TEAM}\n'],
  ['a relative identity file', 'Host h\n IdentityFile keys/id\n'],
  ['IdentitiesOnly', 'Host h\n IdentitiesOnly TRUE\nHost *\n IdentitiesOnly no\n'],
  ['IdentityAgent by name', 'Host h\n IdentityAgent SSH_AUTH_SOCK\n'],
  ['IdentityAgent by variable', 'Host h\n IdentityAgent $MY_AGENT\n'],
  ['IdentityAgent by ${variable}', 'Host h\n IdentityAgent ${MY_AGENT}\n'],
  ['IdentityAgent by path', 'Host h\n IdentityAgent ~/%r/agent\n User bob\n'],
  ['IdentityAgent none', 'Host h\n IdentityAgent none\n'],
  ['HostName with tokens', 'Host h\n HostName %h.%%.example.com\n'],
  ['HostName in capitals', 'Host h\n HostName EXAMPLE.com\nMatch host example.com\n User m\n'],
  [
    'addresses',
    'Host h\n HostName 127.1\nHost g\n HostName 2001:DB8:0:0::1\nHost i\n HostName 0x7f000001\n',
    ['h', 'g', 'i'],
  ],
  ['an alias that is an address', 'Host 10.0.0.1 ::1\n User bob\n', ['10.0.0.1', '::1']],
  [
    'known_hosts files',
    'Host h\n UserKnownHostsFile ~/a %d/b-%h relative\n GlobalKnownHostsFile /etc/a ~/b\nHost *\n UserKnownHostsFile no\n',
  ],
  ['no known_hosts files', 'Host h\n UserKnownHostsFile none\n GlobalKnownHostsFile none\n'],
  ['HostKeyAlias', 'Host h\n HostKeyAlias Some.Name\n'],
  ['times', 'Host h\n ConnectTimeout 1m30\n ServerAliveInterval 2M\n ServerAliveCountMax 9\n'],
  ['times that mean none', 'Host h\n ConnectTimeout none\n ServerAliveInterval 0\n ServerAliveCountMax 0\n'],
  ['a time of none, which is no value', 'Host h\n ConnectTimeout none\nHost *\n ConnectTimeout 5\n'],
  ['ProxyJump', 'Host h\n ProxyJump g\nHost g\n HostName gate\n User guard\n Port 23\n'],
  ['ProxyJump to a name without Host', 'Host h\n ProxyJump bob@gate.example.com:2200\n'],
  [
    'ProxyJump over several',
    'Host h\n ProxyJump a,bob@b:23,c\nHost a\n User ua\nHost b\n User ub\n Port 1\nHost c\n HostName cc\n',
  ],
  ['ProxyJump of a hop', 'Host h\n ProxyJump a\nHost a\n ProxyJump b\nHost b\n ProxyJump c,d\n'],
  [
    'ProxyJump of a later hop, which does not count',
    'Host h\n ProxyJump a,b\nHost a\n ProxyJump c\nHost b\n ProxyJump d\n',
  ],
  ['ProxyJump none', 'Host h\n ProxyJump none\nHost *\n ProxyJump gate\n'],
  ['ProxyJump as a URI', 'Host h\n ProxyJump ssh://bob@gate:2200,ssh://other\n'],
  ['ProxyJump with an IPv6 address', 'Host h\n ProxyJump bob@[2001:db8::1]:2200\n'],
  ['ProxyJump for all but the gate', 'Host h gate\nHost * !gate\n ProxyJump gate\n', ['h', 'gate']],
  ['ProxyCommand before ProxyJump', 'Host h\n ProxyCommand nc %h %p\n ProxyJump g\n'],
  ['ProxyJump before ProxyCommand', 'Host h\n ProxyJump g\n ProxyCommand nc %h %p\n'],
  ['ProxyCommand none before ProxyJump', 'Host h\n ProxyCommand none\n ProxyJump g\n'],
  ['ProxyJump none before ProxyCommand', 'Host h\n ProxyJump none\n ProxyCommand nc %h %p\n'],
  ['a later hop with a ProxyCommand', 'Host h\n ProxyJump a,b\nHost b\n ProxyCommand nc %h %p\n'],
  [
    'settings that do not matter',
    'Host h\n ForwardAgent yes\n SendEnv A B\n SetEnv X=1 Y=2\n LocalForward 1 x:2\n ControlPath ~/c-%C\n',
  ],
  [
    'unknown keywords under IgnoreUnknown',
    'IgnoreUnknown Use*\nHost h\n UseKeychain yes "\n'.replace(' "', ''),
  ],
  ['Include beside the configuration', 'Include extra.conf\nHost h\n User late\n'],
  ['Include with ~ and a glob', 'Include ~/.ssh/conf.d/*.conf\nHost h\n'],
  ['several Includes on a line', 'Include extra.conf conf.d/b*.conf missing.conf\nHost h\n'],
  [
    'Include in a Host that applies',
    'Host h g\nHost h\n Include extra.conf\n Port 70\nHost g\n Port 71\n',
    ['h', 'g'],
  ],
  ['Include in a Match', 'Host h g\nMatch host g\n Include extra.conf conf.d/*.conf\n Port 70\n', ['h', 'g']],
  ['Include that goes on after it', 'Host h\n Include conf.d/match.conf\n Port 70\n'],
  ['Include with a set in the glob', 'Include conf.d/[!a]*.conf\nHost h\n'],
  ['Include of Include', 'Include nested.conf\nHost h\n'],
  ['PreferredAuthentications with publickey', 'Host h\n PreferredAuthentications password,publickey\n'],
  [
    'CanonicalizeHostname without domains',
    'Host h\n HostName x.y.z\n CanonicalizeHostname yes\nMatch canonical\n User m\nHost x.y.z\n Port 7\n',
  ],
];

describe.skipIf(!hasSsh)('hosts of the SSH configuration, as ssh -G has them', () => {
  it.each(cases.map(([title, config, aliases]) => ({ title, config, aliases: aliases ?? ['h'] })))(
    'reads $title',
    async ({ config, aliases }) => {
      using home = new ClientHome();
      home.write('.ssh/extra.conf', 'User extra\nHost h\n HostName from-extra\n');
      home.write('.ssh/conf.d/a.conf', 'Host h\n User from-a\n IdentityFile ~/.ssh/from-a\n');
      home.write('.ssh/conf.d/b.conf', 'Port 71\nUser from-b\nIdentityFile ~/.ssh/from-b\n');
      home.write('.ssh/conf.d/.hidden.conf', 'ConnectTimeout 3\n');
      home.write('.ssh/conf.d/match.conf', 'Host none\nMatch host none\n Port 72\n');
      home.write('.ssh/nested.conf', 'Host h\n Include conf.d/a.conf\n Port 73\n');
      for (const alias of aliases)
        expect(await compareWithSsh(home, config, alias), alias).toMatch(/^same$|^needs a command/);
    },
  );
});
