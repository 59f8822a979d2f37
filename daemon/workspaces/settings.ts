import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

/** What of `.service/settings.json` the daemon itself goes by; other members belong to others. */
const Settings = z.looseObject({
  snapshots: z
    .looseObject({
      max_count: z.int().min(1).max(100_000).optional(),
      max_bytes: z
        .int()
        .min(1024 * 1024)
        .optional(),
    })
    .optional(),
});
export type Settings = z.infer<typeof Settings>;

const maxSettingsBytes = 1024 * 1024;

/**
 * The settings of a project; empty where it has none. A file that can't be understood counts as none: `onProblem` is told,
 * and the file is left as it is.
 */
export async function readSettings(
  projectPath: string,
  onProblem: (message: string) => void,
): Promise<Settings> {
  const path = join(projectPath, '.service', 'settings.json');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT'))
      onProblem(`${path} can't be read: ${error instanceof Error ? error.message : String(error)}`);
    return {};
  }
  try {
    if (text.length > maxSettingsBytes) throw new Error('it is over 1 MiB');
    return Settings.parse(JSON.parse(text));
  } catch (error) {
    onProblem(`${path} is not understood, and not used: ${reasonOf(error)}`);
    return {};
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  return error instanceof Error ? error.message : String(error);
}
