import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What a verifier is told beside the folder. */
export interface Given {
  readonly head?: string | undefined;
  readonly key?: string | undefined;
  readonly wsId?: string | undefined;
}

/** What both verifiers must agree on. */
export interface Finding {
  readonly field: string | null;
  readonly receipt_id: string | null;
}

/** One process for many folders: starting Python takes longer than verifying a short chain. */
const driver = `
import json, sys
import verify
for line in sys.stdin:
    folder, head, key, workspace = json.loads(line)
    try:
        verify.verify(folder, head, key and verify.read_key(key), workspace)
        print(json.dumps([None, None]), flush=True)
    except verify.Fault as fault:
        print(json.dumps([fault.field, fault.receipt_id]), flush=True)
`;

export interface PythonVerifier extends AsyncDisposable {
  verify(folder: string, given: Given): Promise<Finding>;
}

/** The verifier of e2e/verifier/verify.py. Ask it one thing at a time. */
export function startPythonVerifier(): PythonVerifier {
  const child = spawn('python3', ['-c', driver], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PYTHONPATH: join(import.meta.dirname, '../../verifier'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
  const closed = once(child, 'close');
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    verify: async (folder, { head, key, wsId }) => {
      child.stdin.write(`${JSON.stringify([folder, head ?? null, key ?? null, wsId ?? null])}\n`);
      const answer = await answers.next();
      if (answer.done === true) throw new Error('verify.py ended');
      const [field, receipt_id]: [string | null, string | null] = JSON.parse(answer.value);
      return { field, receipt_id };
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await closed;
    },
  };
}
