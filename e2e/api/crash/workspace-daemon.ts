import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ListeningEvent } from '../../../daemon/contract/daemon.ts';
import type { LoadedProject } from '../../../daemon/contract/projects.ts';
import type { ReceiptPage, RunVerdict } from '../../../daemon/contract/receipts.ts';
import type { CreatedSession } from '../../../daemon/contract/session.ts';
import type { ExitFrame, JobListing } from '../../../daemon/contract/shell.ts';
import { LineProcess } from '../../../daemon/lib/testing/line-process.ts';
import { type Client, client, collectFrames } from '../../../daemon/testing/client.ts';
import { until } from '../../../daemon/testing/processes.ts';

/** What `npm run build` made. */
export const built = join(import.meta.dirname, '../../../dist/daemon/tallystick.js');

/** What a mutation came to. */
export type Outcome =
  /** Acknowledged; no receipt where nothing was changed. */
  | { readonly kind: 'done'; readonly receiptId: string | null; readonly runId: string }
  | { readonly kind: 'refused'; readonly status: number; readonly code: string }
  /** The daemon was gone before it could answer, or it let a command go without its receipt being known. */
  | { readonly kind: 'lost' };

interface WorkspaceDaemonOptions {
  readonly dataDir: string;
  readonly project: string;
  /** Takes the id of every receipt that is answered. */
  readonly acknowledged: Set<string>;
  /** File calls run in as many threads; with one they can be counted. */
  readonly poolThreads?: number;
}

/** The built daemon as a process of its own, with one project loaded and a person signed in. */
export class WorkspaceDaemon implements AsyncDisposable {
  readonly process: LineProcess;
  readonly panel: Client;
  readonly receiptsFolder: string;
  readonly workspaceFolder: string;
  readonly #acknowledged: Set<string>;

  /** Resolves when the project is loaded and what an earlier daemon left in its journal is dealt with. */
  static async start(options: WorkspaceDaemonOptions): Promise<WorkspaceDaemon> {
    const { dataDir, project, poolThreads = 1 } = options;
    if (!existsSync(built)) throw new Error('the daemon is not built; run `npm run build`');
    const daemon = serve(dataDir, poolThreads);
    try {
      const line = await daemon.line(() => true);
      if (line === undefined) throw new Error(`the daemon did not start: ${daemon.errors}`);
      const { url, login_token: token } = ListeningEvent.parse(JSON.parse(line));
      const session = await client(url).json<CreatedSession>('POST', '/api/session', { token });
      const panel = client(url, session.session_token);
      const { slug } = await panel.json<LoadedProject>('POST', '/api/project/load', { path: project });
      // A command waits until the tree is known.
      await panel.run({ cmd: 'true' });
      return new WorkspaceDaemon(daemon, panel, {
        workspaceFolder: join(dataDir, 'workspaces', slug),
        acknowledged: options.acknowledged,
      });
    } catch (error) {
      await daemon[Symbol.asyncDispose]();
      throw new Error(`the daemon did not come up: ${daemon.errors}`, { cause: error });
    }
  }

  private constructor(
    daemon: LineProcess,
    panel: Client,
    {
      workspaceFolder,
      acknowledged,
    }: { readonly workspaceFolder: string; readonly acknowledged: Set<string> },
  ) {
    this.process = daemon;
    this.panel = panel;
    this.workspaceFolder = workspaceFolder;
    this.#acknowledged = acknowledged;
    this.receiptsFolder = join(workspaceFolder, 'receipts');
  }

  write(path: string, content: string): Promise<Outcome> {
    return this.#outcome('PUT', `/api/project/file?path=${encodeURIComponent(path)}`, undefined, content);
  }

  edit(path: string, oldText: string, newText: string): Promise<Outcome> {
    const edits = [{ old_text: oldText, new_text: newText }];
    return this.#outcome('POST', '/api/project/edit', { path, edits });
  }

  move(from: string, to: string): Promise<Outcome> {
    return this.#outcome('POST', '/api/project/move', { from, to });
  }

  delete(path: string): Promise<Outcome> {
    return this.#outcome('DELETE', `/api/project/file?path=${encodeURIComponent(path)}`);
  }

  /** Runs a command to its end. */
  async shell(cmd: string): Promise<Outcome> {
    try {
      const response = await this.panel.send('POST', '/api/shell/run', { cmd });
      if (!response.ok) return refusal(response.status, await response.text());
      const exit = (await collectFrames(response)).find((frame): frame is ExitFrame => frame.type === 'exit');
      if (exit?.run_id === undefined) return { kind: 'lost' };
      const receiptId = exit.receipt_id === undefined ? await this.settled(exit.run_id) : exit.receipt_id;
      return this.#done(receiptId, exit.run_id);
    } catch {
      return { kind: 'lost' };
    }
  }

  /** The exit of a command is not held up for long by its receipt: then one has to ask for it. */
  async settled(runId: string): Promise<string | null> {
    await until('the command is done with', async () => {
      return !(await this.jobs()).some(({ run_id }) => run_id === runId);
    });
    const { receipts } = await this.panel.json<ReceiptPage>('GET', `/api/receipts?run_id=${runId}`);
    return receipts[0]?.receipt_id ?? null;
  }

  async jobs(): Promise<JobListing[]> {
    return this.panel.json<JobListing[]>('GET', '/api/shell/jobs');
  }

  async verifyRun(runId: string): Promise<RunVerdict> {
    return this.panel.json<RunVerdict>('POST', `/api/receipts/${runId}/verify`);
  }

  /** Ends it as a system that shuts down does; answers how it ended. */
  async end(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
    this.process.kill('SIGTERM');
    return this.process.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }

  #done(receiptId: string | null, runId: string): Outcome {
    if (receiptId !== null) this.#acknowledged.add(receiptId);
    return { kind: 'done', receiptId, runId };
  }

  async #outcome(method: string, path: string, body?: unknown, text?: string): Promise<Outcome> {
    try {
      const raw = text === undefined ? {} : { rawBody: text, headers: { 'content-type': 'text/plain' } };
      const response = await this.panel.send(method, path, body, raw);
      const answer = await response.text();
      if (!response.ok) return refusal(response.status, answer);
      const { receipt_id: receiptId, run_id: runId } = JSON.parse(answer);
      return this.#done(receiptId, runId);
    } catch {
      // The connection broke before a whole answer had come: the caller can't know what was done.
      return { kind: 'lost' };
    }
  }
}

/** A daemon that nobody speaks to, killed so long after it says that it listens: it may be mending the last crash. */
export async function killWhileStarting(dataDir: string, afterMs: number): Promise<void> {
  await using daemon = serve(dataDir, 1);
  await daemon.line(() => true);
  await delay(afterMs);
}

function serve(dataDir: string, poolThreads: number): LineProcess {
  return LineProcess.start(built, ['serve', '--json', '--port', '0', '--data-dir', dataDir], {
    TALLYSTICK_KEYCHAIN: 'off',
    UV_THREADPOOL_SIZE: String(poolThreads),
  });
}

function refusal(status: number, answer: string): Outcome {
  return { kind: 'refused', status, code: JSON.parse(answer).code };
}
