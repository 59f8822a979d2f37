import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClientHome } from './testing/client-home.ts';
import { type Compared, compareWithSsh } from './testing/compare.ts';
import { randomConfig, strangeLine } from './testing/random-config.ts';
import { sshCalls } from './testing/real-ssh.ts';

const hasSsh = spawnSync('ssh', ['-V']).error === undefined;
if (!hasSsh) console.warn('skipped: there is no ssh client to compare with');

const numRuns = Number(process.env.TALLYSTICK_SSH_CONFIGS ?? 150);
const seed = Number(process.env.TALLYSTICK_SSH_SEED ?? 20_261_121);

describe.skipIf(!hasSsh)('random SSH configurations', () => {
  it('are read as ssh -G reads them', { timeout: 60_000 + numRuns * 200 }, async () => {
    const counts: Record<Compared, number> = {
      same: 0,
      'refused by ssh': 0,
      'no key': 0,
      'needs a command or circles': 0,
    };
    await fc.assert(
      fc.asyncProperty(randomConfig, async ({ config, one, two, alias }) => {
        using home = new ClientHome();
        home.write('.ssh/one.conf', one);
        home.write('.ssh/two.conf', two);
        home.write('.ssh/conf.d/1', two);
        home.write('.ssh/conf.d/2', 'IdentityFile ~/k9\nHost b\nUser conf-d\n');
        counts[await compareWithSsh(home, config, alias)]++;
      }),
      { numRuns, seed },
    );
    console.log(`${numRuns} configurations, seed ${seed}, ${sshCalls()} calls of ssh -G:`, counts);
    expect(counts.same).toBeGreaterThan(numRuns / 4);
  });

  it('are refused where ssh refuses them, however strange the line', {
    timeout: 60_000 + numRuns * 200,
  }, async () => {
    const counts = { read: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(strangeLine, async (line) => {
        using home = new ClientHome();
        const config = `Host a\n${line}\n`;
        const isRefused = (await compareWithSsh(home, config, 'a')) === 'refused by ssh';
        counts[isRefused ? 'refused' : 'read']++;
        if (isRefused) await expect(home.hosts(config).resolve('a')).rejects.toThrow();
      }),
      { numRuns: numRuns * 2, seed },
    );
    console.log(`${numRuns * 2} lines, seed ${seed}:`, counts);
    expect(Math.min(counts.read, counts.refused)).toBeGreaterThan(numRuns / 10);
  });
});
