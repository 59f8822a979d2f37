import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { SshHosts } from '../ssh-hosts.ts';

/** A home folder of its own with an SSH client configuration, gone when disposed. */
export class ClientHome implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'tallystick-ssh-config-'));
  readonly configFile = join(this.path, '.ssh', 'config');
  readonly agent = join(this.path, 'agent.sock');
  readonly environment: Record<string, string>;

  constructor() {
    this.write('.ssh/id_ed25519', 'a key');
    this.write('agent.sock', 'in place of a socket');
    this.environment = { SSH_AUTH_SOCK: this.agent, MY_AGENT: this.agent, TEAM: 'blue', EMPTY: '' };
  }

  write(name: string, text: string, mode = 0o600): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode });
    return path;
  }

  hosts(text: string, { environment = this.environment, system = '' } = {}): SshHosts {
    this.write('.ssh/config', text);
    return new SshHosts({
      configFile: this.configFile,
      systemConfigFile: this.write('etc/ssh_config', system),
      home: this.path,
      user: userInfo().username,
      environment,
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
