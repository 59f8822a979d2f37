import type { VerifyAnswer } from '../clients/verify-stream.ts';
import type { LinesFile } from '../lines-file.ts';
import type { Bench } from '../row.ts';
import { runClient, runProgram } from '../run-program.ts';
import type { Sshd } from '../sshd.ts';
import { shuffled } from '../statistics.ts';

const timeoutMs = 120_000;
const pingBytes = ': ping\n\n'.length;
const pingEverySeconds = 15;

export interface StreamServer {
  name: string;
  url: string;
  key?: string;
  /** Alias of the SSH configuration that commands run on; default: here. */
  host?: string;
}

export interface Variant {
  name: string;
  /** Runs it once; seconds. Throws when the client did not get everything. */
  run(): Promise<number>;
}

/** Reads every frame as a client would; fails unless each line came, in order, and the job ended with 0. */
export async function verified(
  bench: Bench,
  server: StreamServer,
  cmd: string,
  input: LinesFile,
): Promise<VerifyAnswer> {
  bench.progress(`verify ${server.name}`);
  const answer = await runClient<VerifyAnswer>(bench.program('verify-stream'), { ...server, cmd }, timeoutMs);
  const isWhole = answer.lines === input.lines && answer.sha256 === input.sha256;
  if (!isWhole || answer.exitCode !== 0 || answer.idsOutOfOrder !== 0) {
    throw new Error(`${server.name} lost or changed lines: ${JSON.stringify(answer)}`);
  }
  return answer;
}

/** curl to /dev/null; it must count `expectedBytes`, what a verified pass counted, and the pings that came meanwhile. */
export function curlVariant(server: StreamServer, cmd: string, expectedBytes: number): Variant {
  const args = [
    '-sN',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code} %{size_download}',
    '-H',
    'Content-Type: application/json',
  ];
  if (server.key !== undefined) args.push('-H', `Authorization: Bearer ${server.key}`);
  const { host, url } = server;
  args.push(
    '-d',
    JSON.stringify({ host, cmd }),
    `${url}/api/shell/${host === undefined ? 'run' : 'ssh-run'}`,
  );
  const run = async () => {
    const { stdout, seconds } = await runProgram('curl', args, timeoutMs);
    const [status, bytes] = stdout.split(' ').map(Number);
    const pings = ((bytes ?? 0) - expectedBytes) / pingBytes;
    if (status !== 200 || !Number.isInteger(pings) || pings < 0 || pings > seconds / pingEverySeconds + 1) {
      throw new Error(`${server.name} gave curl "${stdout}", a verified pass ${expectedBytes} bytes`);
    }
    return seconds;
  };
  return { name: server.name, run };
}

export function shellVariant(name: string, command: string, args: readonly string[] = []): Variant {
  return {
    name,
    run: async () => (await runProgram('sh', ['-c', command, 'sh', ...args], timeoutMs)).seconds,
  };
}

/** `cmd` over a connection of its own each time, and the connecting alone. */
export async function sshVariants(sshd: Sshd, cmd: string, expectedBytes: number): Promise<Variant[]> {
  const { stdout } = await runProgram(
    'sh',
    ['-c', 'ssh "$@" | wc -c', 'sh', ...sshd.sshArgs(cmd)],
    timeoutMs,
  );
  if (Number(stdout) !== expectedBytes)
    throw new Error(`ssh gave ${stdout.trim()} bytes, not ${expectedBytes}`);
  return [
    shellVariant('ssh', 'ssh "$@" >/dev/null', sshd.sshArgs(cmd)),
    shellVariant('ssh true (connecting)', 'ssh "$@" >/dev/null', sshd.sshArgs('true')),
  ];
}

/** Seconds of each variant, round by round, after one round that does not count. */
export async function interleave(
  bench: Bench,
  variants: readonly Variant[],
  rounds: number,
  afterRound: () => Promise<unknown>,
): Promise<Map<string, number[]>> {
  const times = new Map(variants.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const variant of shuffled(variants)) {
      bench.progress(`round ${round} of ${rounds}: ${variant.name}`);
      const seconds = await variant.run();
      if (round > 0) times.get(variant.name)?.push(seconds);
    }
    if (round > 0) await afterRound();
  }
  return times;
}
