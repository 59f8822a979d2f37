import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { tempFolder } from '../lib/testing/temp-folder.ts';

const run = promisify(execFile);
const asker = join(import.meta.dirname, '../lib/testing/ask-keychain.ts');

/** gnome-keyring under a D-Bus of its own, with a home of its own: no keyring of the machine's user is touched. */
export interface Keyring extends AsyncDisposable {
  /** For a process that is to find this keyring: to be laid over the environment it gets. */
  readonly environment: Readonly<Record<string, string>>;
  /** The same home and session, where there is no bus. */
  readonly withoutBus: Readonly<Record<string, string | undefined>>;
  /** Makes the keyring with the first call. */
  unlock(): Promise<void>;
  lock(): Promise<void>;
  /** Ends gnome-keyring; the bus goes on. */
  stopProvider(): Promise<void>;
  startProvider(): Promise<void>;
  /** What is kept under the service `tallystick`, in no order; the keyring must be unlocked to see it all. */
  accounts(): Promise<string[]>;
  /** As the service sees it. */
  get(account: string): Promise<string | null>;
  set(account: string, secret: string): Promise<void>;
}

/** Why there can be no keyring here; undefined where there can. */
export function keyringMissing(): string | undefined {
  if (process.platform !== 'linux') return 'gnome-keyring is for Linux';
  for (const [program, ...args] of [
    ['dbus-daemon', '--version'],
    ['gnome-keyring-daemon', '--version'],
    ['gdbus', 'help'],
  ] as const) {
    const { error } = spawnSync(program, args);
    if (error) return `${program} is not installed (${error.message})`;
  }
  return undefined;
}

/** Starts the bus alone; `startProvider` and `unlock` do the rest. */
export async function startKeyring(): Promise<Keyring> {
  const stack = new AsyncDisposableStack();
  const { path: home } = stack.use(await tempFolder());
  const runtime = join(home, 'run');
  await mkdir(runtime, { mode: 0o700 });
  // Without a bus, libraries look for one in the runtime folder: it must not be there.
  stack.adopt(await startBus(join(home, 'bus.conf'), join(home, 'bus')), end);
  const session = {
    HOME: home,
    XDG_RUNTIME_DIR: runtime,
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: join(home, 'cache'),
    // A prompt needs a screen, and would wait for somebody in front of it.
    DISPLAY: '',
    WAYLAND_DISPLAY: '',
  };
  const environment = { ...session, DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(home, 'bus')}` };
  const env = { ...process.env, ...environment };
  let provider: ChildProcess | undefined;
  const stopProvider = async () => {
    if (provider !== undefined) await end(provider);
    provider = undefined;
  };
  stack.defer(stopProvider);
  const startProvider = async (...args: string[]) => {
    const started = spawn('gnome-keyring-daemon', ['--foreground', '--components=secrets', ...args], {
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    provider = started;
    started.stdin.end(password);
    await run('gdbus', ['wait', '--session', '--timeout', '20', 'org.freedesktop.secrets'], { env });
  };
  const unlock = async () => {
    if (existsSync(join(home, 'data/keyrings/login.keyring')))
      return unlockRunning(join(runtime, 'keyring/control'));
    // A keyring that is made for one that runs already would not show before the next start.
    await stopProvider();
    await startProvider('--unlock');
  };
  const ask = async (...args: string[]) => {
    const { stdout } = await run(process.execPath, [asker, ...args], { env });
    return JSON.parse(stdout);
  };
  return {
    environment,
    withoutBus: { ...session, DBUS_SESSION_BUS_ADDRESS: undefined },
    startProvider: () => startProvider(),
    stopProvider,
    unlock,
    lock: async () => {
      await callSecrets(env, ['--method', 'org.freedesktop.Secret.Service.Lock', `['${collection}']`]);
    },
    accounts: async () => accountsOf(env),
    get: async (account) => ask('get', account),
    set: async (account, secret) => ask('set', account, secret),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const password = 'password';
const collection = '/org/freedesktop/secrets/collection/login';

/** No service files: what is not started is not there. */
async function startBus(config: string, socket: string): Promise<ChildProcess> {
  await writeFile(
    config,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=${socket}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
`,
  );
  const bus = spawn('dbus-daemon', [`--config-file=${config}`, '--nofork', '--print-address=1'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await Promise.race([
    once(createInterface({ input: bus.stdout }), 'line'),
    once(bus, 'exit').then(() => []),
  ]);
  if (line === undefined) throw new Error('dbus-daemon did not start');
  return bus;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** What PAM does at a login: gnome-keyring's control protocol, lengths and numbers as 32 bits, big-endian. */
async function unlockRunning(socketPath: string): Promise<void> {
  const secret = Buffer.from(password);
  const message = Buffer.alloc(1 + 12 + secret.length);
  const unlockOperation = 1;
  message.writeUInt32BE(message.length - 1, 1);
  message.writeUInt32BE(unlockOperation, 5);
  message.writeUInt32BE(secret.length, 9);
  secret.copy(message, 13);
  const socket = connect(socketPath, () => socket.write(message));
  const [reply] = await once(socket, 'data');
  socket.destroy();
  if (reply.readUInt32BE(4) !== 0) throw new Error(`the keyring was not unlocked: ${reply.toString('hex')}`);
}

async function callSecrets(
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  path = '/org/freedesktop/secrets',
) {
  const target = ['--session', '--dest', 'org.freedesktop.secrets', '--object-path', path];
  return (await run('gdbus', ['call', ...target, ...args], { env })).stdout;
}

async function accountsOf(env: NodeJS.ProcessEnv): Promise<string[]> {
  const search = ['--method', 'org.freedesktop.Secret.Service.SearchItems', "{'service': 'tallystick'}"];
  const items =
    (await callSecrets(env, search)).match(/\/org\/freedesktop\/secrets\/collection\/[^']+/g) ?? [];
  const property = [
    ...['--method', 'org.freedesktop.DBus.Properties.Get'],
    ...['org.freedesktop.Secret.Item', 'Attributes'],
  ];
  const attributes = await Promise.all(items.map((item) => callSecrets(env, property, item)));
  return attributes.map((text) => /'(?:username|account)': '([^']*)'/.exec(text)?.[1] ?? text).sort();
}
