import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const perFolder = 100;

/** Fills a folder with text files of 1 to 2 KB, a hundred to a folder. */
export function makeLargeTree(folder: string, files: number): void {
  for (let at = 0; at < files; at += 1) {
    const parent = join(folder, `folder-${Math.floor(at / perFolder)}`);
    if (at % perFolder === 0) mkdirSync(parent, { recursive: true });
    writeFileSync(join(parent, `file-${at % perFolder}.txt`), `file ${at}\n`.repeat(90 + (at % 70)));
  }
}

export async function post(url: string, key: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${new URL(url).pathname} answered ${response.status}: ${text}`);
  return text;
}
