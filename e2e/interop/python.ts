import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export interface PythonCryptography {
  readonly program: string;
  /** Of python3-cryptography. */
  readonly version: string;
}

export const noPython = 'no python3 here has the package cryptography (Debian: python3-cryptography)';

/** The python to hold our Fernet against: the first on the path, else the system's own; undefined where neither has it. */
export function findPython(): PythonCryptography | undefined {
  for (const program of ['python3', '/usr/bin/python3']) {
    const found = spawnSync(program, ['-c', 'import cryptography; print(cryptography.__version__)'], {
      encoding: 'utf8',
    });
    if (found.status === 0) return { program, version: found.stdout.trim() };
  }
  return undefined;
}

/** Runs a script of this folder in one process: JSON in, JSON out. Throws with what it wrote on standard error. */
export function askPython({ program }: PythonCryptography, script: string, question: unknown): unknown {
  const { status, stdout, stderr, error } = spawnSync(program, [join(import.meta.dirname, script)], {
    input: JSON.stringify(question),
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${script} failed: ${error?.message ?? stderr}`);
  return JSON.parse(stdout);
}
