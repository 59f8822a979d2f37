import { expect, test } from 'vitest';
import { verifyCommand } from './verify-command.ts';

const head = `sha256:${'a'.repeat(64)}`;

test('names the folder with the receipts, the head, and the key where there is one', () => {
  expect(verifyCommand('/home/ada/acme', { head, checkpoint_key: 'acme+1b2c3d4e+AbC/9=' })).toBe(
    [
      'tallystick verify /home/ada/acme/.service/receipts \\',
      `  --head ${head} \\`,
      "  --key 'acme+1b2c3d4e+AbC/9='",
    ].join('\n'),
  );
  expect(verifyCommand('/', { head, checkpoint_key: null })).toBe(
    `tallystick verify /.service/receipts \\\n  --head ${head}`,
  );
});

test('a shell takes the folder for one word, and runs nothing in it', () => {
  const folderIn = (path: string) => verifyCommand(path, { head, checkpoint_key: null }).split(' \\\n')[0];
  expect(folderIn('/with space')).toBe("tallystick verify '/with space/.service/receipts'");
  expect(folderIn("/ada's")).toBe("tallystick verify '/ada'\\''s/.service/receipts'");
  expect(folderIn('/$HOME`id`')).toBe("tallystick verify '/$HOME`id`/.service/receipts'");
});
