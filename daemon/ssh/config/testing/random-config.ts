import fc from 'fast-check';

const patterns = [
  'a',
  'b',
  'c',
  'a b',
  '*',
  '!a *',
  'a*',
  '? !c',
  'b c',
  'x.example',
  '*.example',
  'ab',
  '!*.example a b',
];
const names = ['a', 'b', 'c', 'ab', 'x.example', 'a.example', '10.1.2.3'];
const criteria = [
  'all',
  'host a',
  'host *.example',
  'host a,b',
  '!host a',
  'originalhost a',
  'originalhost=!c,*',
  'user bob',
  '!user bob,eve',
  'localuser root',
  'localuser nobody',
  'final',
  'final host *.example',
  'host "b" user *',
  'canonical all',
  '!final host x*',
];
const values: Readonly<Record<string, readonly string[]>> = {
  HostName: [...names, '%h.example', 'X.EXAMPLE', '"x.example"', '%h%%'],
  User: ['bob', 'eve', '"bob"', "'e v e'", 'b\\"b', 'bob # no'],
  Port: ['22', '2222', '1', '65535', '0x16', '0'],
  IdentityFile: ['~/k1', '~/k2', 'none', '%d/%h', '~/k-%n-%r-%p', '"~/k3"', '${TEAM}', '~/${EMPTY}k', '~/%q'],
  IdentitiesOnly: ['yes', 'no', 'True', 'maybe'],
  IdentityAgent: ['none', 'SSH_AUTH_SOCK', '$MY_AGENT', '~/agent-%r', '${MY_AGENT}'],
  ProxyJump: [
    'none',
    'a',
    'b',
    'c',
    'gate',
    'a,b',
    'eve@b:23',
    'ssh://bob@c:99',
    '[::1]:5',
    'a,gate,c',
    'b # why',
  ],
  ProxyCommand: ['none', 'nc %h %p'],
  UserKnownHostsFile: ['none', '~/kh', '~/kh /kh2', '%d/%k-%h', '/dev/null', 'none /x'],
  GlobalKnownHostsFile: ['none', '/a', '~/g /b'],
  HostKeyAlias: ['alias', 'ALIAS'],
  ConnectTimeout: ['5', '1m', 'none', '1h1', '0', '1x'],
  ServerAliveInterval: ['0', '7', '2m'],
  ServerAliveCountMax: ['0', '1', '9'],
  CanonicalizeHostname: ['no', 'yes'],
  PreferredAuthentications: ['publickey', 'password,publickey'],
  ForwardAgent: ['yes', 'no'],
  Compression: ['yes'],
  Include: ['one.conf', 'two.conf', 'conf.d/*', '~/.ssh/one.conf', 'missing', 'one.conf two.conf'],
};

const setting = fc
  .constantFrom(...Object.keys(values))
  .chain((keyword) => fc.tuple(fc.constant(keyword), fc.constantFrom(...(values[keyword] ?? []))));

const head = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...patterns).map((pattern) => `Host ${pattern}`) },
  { weight: 2, arbitrary: fc.constantFrom(...criteria).map((list) => `Match ${list}`) },
);

const line = fc
  .tuple(
    fc.oneof({ weight: 2, arbitrary: head }, { weight: 5, arbitrary: setting.map((pair) => pair.join(' ')) }),
    fc.constantFrom('', '', '', '  ', '\t', '# '),
    fc.constantFrom(' ', ' ', ' ', '=', ' = ', '\t'),
    fc.constantFrom('\n', '\n', '\r\n', '\n\n', ' \t\n'),
    fc.boolean(),
  )
  .map(([text, indent, separator, end, isUpper]) => {
    const [keyword = '', ...rest] = text.split(' ');
    return `${indent}${isUpper ? keyword.toUpperCase() : keyword}${separator}${rest.join(' ')}${end}`;
  });

const lines = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(line, { maxLength, size: 'max' }).map((list) => list.join(''));

/** Configurations whose aliases are a, b and c, with two files that they include here and there. */
export const randomConfig: fc.Arbitrary<{ config: string; one: string; two: string; alias: string }> =
  fc.record({
    config: fc.tuple(lines(14), lines(6)).map(([before, after]) => `${before}Host a b c\n${after}`),
    // Only the configuration itself includes: files that include each other in a circle have tests of their own.
    one: lines(5).map(withoutIncludes),
    two: lines(5).map(withoutIncludes),
    alias: fc.constantFrom('a', 'b', 'c'),
  });

function withoutIncludes(text: string): string {
  return text.replace(/^.*include.*$/gim, '');
}

const piece = fc.constantFrom(
  'a',
  'b',
  '"',
  '"',
  "'",
  '\\',
  ' ',
  '\t',
  '=',
  '#',
  '!',
  ',',
  '*',
  '?',
  '~',
  '%',
);
const text = fc.array(piece, { maxLength: 12, size: 'max' }).map((pieces) => pieces.join(''));
const criterion = fc.constantFrom(
  'host',
  'all',
  '!all',
  'user',
  'originalhost',
  'final',
  'HOST',
  'canonical',
);
const criteriaText = fc
  .array(fc.tuple(criterion, text), { maxLength: 3, size: 'max' })
  .map((list) => list.flat().join(' '));

const hopPiece = fc.constantFrom(
  'a',
  'b',
  'b',
  ',',
  '@',
  ':',
  '[b]',
  '[a',
  '[::1]',
  '7',
  'ssh://',
  '/',
  ' ',
  '#',
);
const hops = fc.array(hopPiece, { minLength: 1, maxLength: 7, size: 'max' }).map((pieces) => pieces.join(''));

/** One line written in strange ways, below a Host line for the alias a. */
export const strangeLine: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(fc.constantFrom('User', 'HostKeyAlias', ' User', '"User"', 'User=', 'User ='), text)
    .map((parts) => parts.join(' ')),
  text.map((words) => `User=${words}`),
  text.map((words) => `Host ${words}\nUser m`),
  text.map((words) => `Match ${words}\nUser m`),
  criteriaText.map((words) => `Match ${words}\nUser m`),
  hops.map((words) => `ProxyJump ${words}`),
  text.map((words) => `Port 7${words}`),
);
