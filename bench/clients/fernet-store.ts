import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { WorkspaceId } from '../../daemon/contract/ids.ts';
import { openToken, sealToken } from '../../daemon/lib/fernet.ts';
import { openStore, sealStore } from '../../daemon/secrets/store-format.ts';

export interface FernetInput {
  /** A file with a `FernetSample`. */
  sample: string;
  seconds: number;
}

export interface FernetSample {
  /** Base64url with padding. */
  key: string;
  wsId: WorkspaceId;
  token: string;
}

/** Calls per second, and the SHA-256 of what was opened last. */
export interface FernetAnswer {
  openStore: number;
  sealStore: number;
  openToken: number;
  sealToken: number;
  sha256: string;
}

const { sample, seconds }: FernetInput = JSON.parse(process.argv[2] ?? '');
const { key: keyText, wsId, token }: FernetSample = JSON.parse(readFileSync(sample, 'utf8'));
const key = Buffer.from(keyText, 'base64url');
const plaintext = openToken(key, token);
const contents = openStore(key, wsId, token);

const answer: FernetAnswer = {
  openStore: rateOf(() => openStore(key, wsId, token)),
  sealStore: rateOf(() => sealStore(key, wsId, contents)),
  openToken: rateOf(() => openToken(key, token)),
  sealToken: rateOf(() => sealToken(key, plaintext)),
  sha256: createHash('sha256')
    .update(openToken(key, sealStore(key, wsId, contents)))
    .digest('hex'),
};
process.stdout.write(JSON.stringify(answer));

function rateOf(call: () => unknown): number {
  for (let warm = 0; warm < 1000; warm += 1) call();
  const started = performance.now();
  let calls = 0;
  let elapsedMs = 0;
  while (elapsedMs < seconds * 1000) {
    for (let count = 0; count < 50; count += 1) call();
    calls += 50;
    elapsedMs = performance.now() - started;
  }
  return calls / (elapsedMs / 1000);
}
