import { expect, test } from 'vitest';
import type { Tool, TouchedFile } from '../../daemon/contract/receipts.ts';
import {
  changeOf,
  costWords,
  deedWords,
  guardWords,
  modeWords,
  placeWords,
  shortHash,
} from './receipt-words.ts';

const hash = `sha256:${'0123456789abcdef'.repeat(4)}`;

test('says what was done in words, whatever the tool', () => {
  expect(words('file.write', [file('src/a.ts', { before_hash: 'absent', before_mode: 'absent' })])).toEqual([
    'Created a.ts',
    'src',
  ]);
  expect(words('file.write', [file('a.ts')])).toEqual(['Wrote a.ts', '']);
  expect(words('file.edit', [file('lib/x/b.ts')])).toEqual(['Edited b.ts', 'lib/x']);
  expect(words('file.delete', [gone('c.ts')])).toEqual(['Deleted c.ts', '']);
  expect(words('file.delete', [gone('d/1'), gone('d/2'), gone('d/3')])).toEqual([
    'Deleted 3 files',
    '1 and 2 other files',
  ]);
  expect(words('shell.run', [file('x/a'), file('y/b')])).toEqual(['Ran a command', 'a, b']);
  expect(words('rollback', [file('x/a')])).toEqual(['Rolled back 1 file', 'x/a']);
  expect(words('ssh.pull', [file('pulled/web-1/app.log')])).toEqual(['Pulled app.log', 'pulled/web-1']);
  const command = { cmd: 'uptime', exit_code: 0, host: 'web-1' };
  expect(placeWords({ tool: 'ssh.run', command, files: [], file_count: 0 })).toBe('on web-1');
});

test('tells a file that got another name from one that went elsewhere', () => {
  const made = (path: string) => file(path, { before_hash: 'absent', before_mode: 'absent' });
  expect(words('file.move', [gone('src/a.ts'), made('src/b.ts')])).toEqual([
    'Renamed a.ts to b.ts',
    'src/a.ts → src/b.ts',
  ]);
  expect(words('file.move', [made('lib/a.ts'), gone('src/a.ts')])).toEqual([
    'Moved a.ts',
    'lib/a.ts → src/a.ts',
  ]);
});

test('tells a change of content from a change of mode', () => {
  expect(changeOf(file('a'))).toBe('changed');
  expect(changeOf(gone('a'))).toBe('deleted');
  const executable = file('a', { after_hash: file('a').before_hash, after_mode: '100755' });
  expect(changeOf(executable)).toBe('mode');
  expect(modeWords(executable)).toBe('now executable');
  expect(modeWords(file('a'))).toBeUndefined();
  expect(modeWords(file('a', { after_mode: '120000' }))).toBe('now a link');
});

test('guards and costs that say nothing are left out', () => {
  expect(guardWords({ write: 'pass', hallucination: 'warn', egress: 'skipped' })).toEqual([
    { name: 'hallucination', result: 'warn' },
  ]);
  expect(costWords({ usd: 0, tokens_in: 0, tokens_out: 0 })).toBeUndefined();
  expect(costWords({ usd: 0.0123, tokens_in: 10, tokens_out: 1 })).toBe('$0.0123');
  expect(costWords({ usd: 1.5, tokens_in: 10, tokens_out: 1 })).toBe('$1.50');
});

test('a hash is shortened to what can be compared by eye, and anything else left alone', () => {
  expect(shortHash(hash)).toBe('01234567…cdef');
  expect(shortHash('absent')).toBe('absent');
});

function words(tool: Tool, files: TouchedFile[]): [string, string] {
  const told = { tool, files, file_count: files.length };
  return [deedWords(told), placeWords(told)];
}

function file(path: string, change: Partial<TouchedFile> = {}): TouchedFile {
  return {
    path,
    before_hash: hash,
    after_hash: hash.replace('0', 'f'),
    before_mode: '100644',
    after_mode: '100644',
    ...change,
  };
}

function gone(path: string): TouchedFile {
  return file(path, { after_hash: 'absent', after_mode: 'absent' });
}
