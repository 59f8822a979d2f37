import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realMutations } from './testing/real-door.ts';

test('changes of a command that could not be looked for are receipted as its own before anything else is', async () => {
  await using it = await realMutations();
  const file = join(it.project, 'file.txt');
  const packs = join(it.data, 'snapshots/objects/pack');
  writeFileSync(file, 'one\n');
  await it.command(() => undefined);
  renameSync(packs, `${packs}-away`);
  // What a command made can't be stored now, so that the next one's changes could not be undone.
  await it.command(() => writeFileSync(file, 'two\n'));
  const failed = it.command(() => writeFileSync(file, 'three\n'), 'fails to be looked at');
  await expect(failed).rejects.toMatchObject({ code: 'storage_failed' });
  await expect(it.write('other.txt', 'other\n')).rejects.toMatchObject({ code: 'storage_failed' });

  renameSync(`${packs}-away`, packs);
  await it.write('other.txt', 'other\n');
  expect(it.receipts.slice(1)).toMatchObject([
    {
      tool: 'shell.run',
      command: { cmd: 'fails to be looked at', exit_code: 0 },
      files: [{ path: 'file.txt' }],
    },
    { tool: 'file.write', files: [{ path: 'other.txt' }] },
  ]);
});
