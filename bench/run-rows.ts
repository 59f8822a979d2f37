import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { compilePrograms } from './compile-programs.ts';
import { daemonLauncher } from './daemon-under-test.ts';
import { topSelfTimes } from './profile.ts';
import type { Row, RowResult } from './row.ts';

export interface RowRun {
  rows: readonly Row[];
  /** The daemon's entry file. */
  entry: string;
  quick: boolean;
  /** Profile every daemon that a row launches. */
  profile: boolean;
  cacheDir: string;
  tempDir: string;
  progress(message: string): void;
}

export type Outcome =
  | { row: string; result: RowResult; profile: string[] }
  /** It could not be measured, or the daemon's answer was wrong. */
  | { row: string; error: unknown };

/** Runs the rows one after the other; a row that fails does not keep the others from running. */
export async function* runRows(run: RowRun): AsyncGenerator<Outcome> {
  const { cacheDir, tempDir, quick } = run;
  mkdirSync(cacheDir, { recursive: true });
  const program = await compilePrograms(import.meta.dirname, join(cacheDir, 'programs'));
  for (const row of run.rows) {
    const profileDir = run.profile ? mkdtempSync(join(tempDir, 'profile-')) : undefined;
    const flags = profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
    const daemon = daemonLauncher(run.entry, tempDir, flags);
    const progress = (message: string) => run.progress(`${row.name}: ${message}`);
    try {
      const result = await row.run({ quick, cacheDir, tempDir, daemon, program, progress });
      yield { row: row.name, result, profile: profileDir === undefined ? [] : topSelfTimes(profileDir, 15) };
    } catch (error) {
      yield { row: row.name, error };
    }
  }
}
