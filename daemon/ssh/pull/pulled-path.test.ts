import { describe, expect, test } from 'vitest';
import { CodedError } from '../../contract/errors.ts';
import { isReservedName } from '../../files/reserved-names.ts';
import { toBytePath } from '../../lib/byte-path.ts';
import { pulledPath } from './pulled-path.ts';

const pathOf = (host: string, remotePath: string) => pulledPath(host, remotePath, isReservedName);

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return error instanceof CodedError ? error.code : String(error);
  }
  return 'no error';
}

const hostile = [
  ['empty', ''],
  ['the folder itself', '.'],
  ['the folder above', '..'],
  ['a backslash', 'a\\b'],
  ['NUL', 'a\0b'],
  ['a line feed', 'a\nb'],
  ['an escape', 'a\u001b[31mb'],
  ['DEL', 'a\u007f'],
  ['a C1 control character', 'a\u0085b'],
  ['a dot at the end', 'a.'],
  ['a blank at the end', 'a '],
  ['only blanks', '   '],
  ['CON', 'CON'],
  ['nul with an extension', 'nul.tar.gz'],
  ['aux with a blank before the extension', 'Aux .txt'],
  ['COM1', 'com1'],
  ['COM with a raised digit', 'COM².log'],
  ['LPT9', 'lpt9.txt'],
  ['CONIN$', 'conin$'],
  ['a drive', 'c:x'],
  ['a stream', 'a.txt:stream'],
  ['a wildcard', 'a*'],
  ['a question mark', 'a?'],
  ['a quote', 'a"b'],
  ['a redirection', 'a>b'],
  ['a pipe', 'a|b'],
  ['.git', '.git'],
  ['.GIT', '.GIT'],
  ['.git with an ignorable character', '.g\u200cit'],
  ['the short name of .git', 'GIT~1'],
  ['.service', '.Service'],
  ['256 bytes', 'a'.repeat(256)],
  ['256 bytes in 128 characters', 'é'.repeat(128)],
  ['half a character', 'a\ud800'],
] as const;

const harmless = [
  'syslog.1',
  '$(touch x)',
  '`id`; rm -rf ~',
  '-rf',
  '~',
  '...a',
  ' a',
  'console.log',
  'com10.txt',
  'nul-1',
  '.gitignore',
  'naïve файл 文件',
  'a'.repeat(255),
  `${'é'.repeat(127)}a`,
] as const;

describe('pulledPath', () => {
  test('takes the last part of the path, and the alias as the folder', () => {
    expect(pathOf('web', '/var/log/nginx/access.log')).toBe('pulled/web/access.log');
    expect(pathOf('-dash', 'notes.txt')).toBe('pulled/-dash/notes.txt');
  });

  test.each(hostile)('refuses %s as the name of a file', (_, name) => {
    expect(codeOf(() => pathOf('web', `/srv/${name}`))).toBe('remote_name_refused');
  });

  test.each([...hostile, ['a slash', 'a/b'] as const])('refuses %s as the name of a host', (_, name) => {
    expect(codeOf(() => pathOf(name, '/srv/file'))).toBe('remote_name_refused');
  });

  test.each(harmless)('takes %s', (name) => {
    expect(pathOf('web', `/srv/${name}`)).toBe(toBytePath(`pulled/web/${name}`));
    expect(pathOf(name, 'file')).toBe(toBytePath(`pulled/${name}/file`));
  });

  test('refuses a path with half a character in it, wherever it is', () => {
    expect(codeOf(() => pathOf('web', '/srv/\udc00/file'))).toBe('remote_name_refused');
  });
});
