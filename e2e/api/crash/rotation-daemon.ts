import { ListeningEvent } from '../../../daemon/contract/daemon.ts';
import type { MasterKeyStatus } from '../../../daemon/contract/master-key.ts';
import type { LoadedProject } from '../../../daemon/contract/projects.ts';
import type { RevealedSecret, RotatedMaster } from '../../../daemon/contract/secrets.ts';
import type { CreatedSession } from '../../../daemon/contract/session.ts';
import { LineProcess } from '../../../daemon/lib/testing/line-process.ts';
import { type Client, client } from '../../../daemon/testing/client.ts';
import { built } from './workspace-daemon.ts';

/** The built daemon with a master key in a file, and a signed-in person. Its file calls can be counted. */
export class RotationDaemon implements AsyncDisposable {
  readonly process: LineProcess;
  readonly #panel: Client;

  static async start(dataDir: string, keyFile: string): Promise<RotationDaemon> {
    const args = ['serve', '--json', '--port', '0', '--data-dir', dataDir, '--key-file', keyFile];
    const daemon = LineProcess.start(built, args, {
      TALLYSTICK_KEYCHAIN: 'off',
      SERVICE_SECRET_KEY: undefined,
    });
    try {
      const line = await daemon.line(() => true);
      if (line === undefined) throw new Error('it ended');
      const { url, login_token: token } = ListeningEvent.parse(JSON.parse(line));
      const session = await client(url).json<CreatedSession>('POST', '/api/session', { token });
      return new RotationDaemon(daemon, client(url, session.session_token));
    } catch (error) {
      await daemon[Symbol.asyncDispose]();
      throw new Error(`the daemon did not start: ${daemon.errors}`, { cause: error });
    }
  }

  private constructor(daemon: LineProcess, panel: Client) {
    this.process = daemon;
    this.#panel = panel;
  }

  async load(path: string): Promise<string> {
    return (await this.#panel.json<LoadedProject>('POST', '/api/project/load', { path })).ws_id;
  }

  async set(wsId: string, name: string, value: string): Promise<void> {
    await this.#panel.json(
      'POST',
      `/api/secrets/${name}`,
      { value },
      { headers: { 'x-workspace-id': wsId } },
    );
  }

  async reveal(wsId: string, name: string): Promise<string> {
    const headers = { 'x-workspace-id': wsId };
    return (await this.#panel.json<RevealedSecret>('GET', `/api/secrets/${name}`, undefined, { headers }))
      .value;
  }

  status(): Promise<MasterKeyStatus> {
    return this.#panel.json('GET', '/api/account/master-key');
  }

  rotate(): Promise<RotatedMaster> {
    return this.#panel.json('POST', '/api/secrets/rotate-master');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}
