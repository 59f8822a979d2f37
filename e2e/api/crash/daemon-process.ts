import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyListing } from '../../../daemon/contract/api-keys.ts';
import { ListeningEvent } from '../../../daemon/contract/daemon.ts';
import type { CreatedSession } from '../../../daemon/contract/session.ts';
import { LineProcess } from '../../../daemon/lib/testing/line-process.ts';
import { type Client, client } from '../../../daemon/testing/client.ts';

const built = join(import.meta.dirname, '../../../dist/daemon/tallystick.js');

/** What a request for a key came to; `lost` where the daemon was gone before it could answer. */
export type KeyOutcome = { key: string } | { problem: string; status: number } | 'lost';

/** The built daemon as a process of its own, and a signed-in person. */
export class DaemonProcess implements AsyncDisposable {
  readonly process: LineProcess;
  readonly #url: string;
  readonly #panel: Client;

  static async start(dataDir: string): Promise<DaemonProcess> {
    if (!existsSync(built)) throw new Error('the daemon is not built; run `npm run build`');
    const daemon = LineProcess.start(built, ['serve', '--json', '--port', '0', '--data-dir', dataDir]);
    const line = await daemon.line(() => true);
    if (line === undefined) throw new Error(`the daemon did not start: ${daemon.errors}`);
    const { url, login_token } = ListeningEvent.parse(JSON.parse(line));
    const { session_token } = await client(url).json<CreatedSession>('POST', '/api/session', {
      token: login_token,
    });
    return new DaemonProcess(daemon, url, client(url, session_token));
  }

  private constructor(daemon: LineProcess, url: string, panel: Client) {
    this.process = daemon;
    this.#url = url;
    this.#panel = panel;
  }

  async createKey(name: string): Promise<KeyOutcome> {
    const request = { name, scopes: 'admin', expiry: 'never' };
    let response: Response;
    let body: string;
    try {
      response = await this.#panel.send('POST', '/api/account/api-keys', request);
      body = await response.text();
    } catch {
      // The connection broke before a whole answer had come: the caller can't know whether there is a key.
      return 'lost';
    }
    const { key, code } = JSON.parse(body);
    return response.status === 201 ? { key } : { problem: code, status: response.status };
  }

  /** The names of all keys, oldest first, as the person at the panel sees them. */
  async keyNames(): Promise<string[]> {
    const listed = await this.#panel.json<KeyListing[]>('GET', '/api/account/api-keys');
    return listed.map(({ name }) => name).reverse();
  }

  /** Whether the daemon takes the key. */
  async accepts(key: string): Promise<boolean> {
    const response = await client(this.#url, key).send('GET', '/api/account/api-keys');
    await response.body?.cancel();
    return response.status === 200;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}
