import { isAlive } from './lib/data-folder-holder.ts';
import { readDataFolderHolder } from './lib/data-folder-lock.ts';

const notRunning = 3;
const answerWithinMs = 2000;

/** `tallystick status`: whether a daemon holds the data folder, and whether it answers. Answers the exit status. */
export async function showStatus(dataDir: string, json: boolean): Promise<number> {
  const holder = await readDataFolderHolder(dataDir);
  const running = holder !== undefined && isAlive(holder);
  const answers = running && typeof holder.url === 'string' && (await isHealthy(holder.url));
  const status = running
    ? { running, answers, pid: holder.pid, url: holder.url, version: holder.version, data_dir: dataDir }
    : { running, data_dir: dataDir };
  process.stdout.write(json ? `${JSON.stringify(status)}\n` : describe(status));
  return running ? 0 : notRunning;
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(answerWithinMs) });
    return response.ok;
  } catch {
    // Refused or too slow: it does not answer, whatever the reason.
    return false;
  }
}

interface Status {
  readonly running: boolean;
  readonly answers?: boolean;
  readonly pid?: number;
  readonly url?: string | null;
  readonly version?: string | null;
  readonly data_dir: string;
}

function describe({ running, answers, pid, url, version, data_dir }: Status): string {
  if (!running) return `No daemon runs on ${data_dir}. Start one with "tallystick serve".\n`;
  return `Tallystick ${version ?? ''} runs as process ${pid} on ${data_dir}.\n${url ?? 'It is still starting.'}${answers === false ? ' (does not answer)' : ''}\n`;
}
