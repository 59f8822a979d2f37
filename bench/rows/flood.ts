import { setTimeout as delay } from 'node:timers/promises';
import type { SlowReaderAnswer } from '../clients/slow-reader.ts';
import type { DaemonUnderTest } from '../daemon-under-test.ts';
import { idleBytes, peakResidentBytes } from '../memory.ts';
import { type Bench, figure, type Row, type RowResult, target } from '../row.ts';
import { runClient } from '../run-program.ts';
import { quantile } from '../statistics.ts';

const cmd = "head -c 1073741824 /dev/zero | tr '\\0' x | fold -w 63";
const bytesPerSecond = 1_000_000;
const mib = 1024 * 1024;

/** A command that prints 1 GB to a client that reads 1 MB/s: what it costs the daemon and everyone else. */
export const flood: Row = { name: 'flood', run };

interface Round {
  coldIdle: number;
  idle: number;
  peak: number;
  answer: SlowReaderAnswer;
}

async function run(bench: Bench): Promise<RowResult> {
  const rounds = bench.quick ? 1 : 3;
  const seconds = 10;
  const results: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    bench.progress(`round ${round} of ${rounds}`);
    await using daemon = await bench.daemon.launch();
    results.push(await measure(bench, daemon, seconds));
  }
  const mibOf = (value: (round: Round) => number) => results.map((round) => value(round) / mib);
  const growth = figure(
    'growth over idle',
    'MiB',
    mibOf(({ idle, peak }) => peak - idle),
  );
  const requests = figure(
    'other requests p99',
    'ms',
    results.map(({ answer }) => quantile(answer.requestMs, 0.99)),
  );
  const commands = figure(
    'first frame meanwhile p50',
    'ms',
    results.map(({ answer }) => quantile(answer.firstFrameMs, 0.5)),
  );
  return {
    row: 'flood',
    title: `1 GB from a command, a client that reads 1 MB/s for ${seconds} s, ${rounds} rounds, a fresh daemon in each`,
    figures: [
      figure(
        'idle at first',
        'MiB',
        mibOf(({ coldIdle }) => coldIdle),
      ),
      figure(
        'idle after such a job',
        'MiB',
        mibOf(({ idle }) => idle),
      ),
      figure(
        'peak',
        'MiB',
        mibOf(({ peak }) => peak),
      ),
      growth,
      figure(
        'growth over idle at first',
        'MiB',
        mibOf(({ coldIdle, peak }) => peak - coldIdle),
      ),
      figure(
        'other requests p50',
        'ms',
        results.map(({ answer }) => quantile(answer.requestMs, 0.5)),
      ),
      requests,
      commands,
      figure(
        'first frame meanwhile p95',
        'ms',
        results.map(({ answer }) => quantile(answer.firstFrameMs, 0.95)),
      ),
    ],
    targets: [
      target(growth.name, 'MiB', growth.median, 'at most', 15),
      target(requests.name, 'ms', requests.median, 'below', 50),
      target(commands.name, 'ms', commands.median, 'below', 5),
    ],
    notes: [
      `${results[0]?.answer.requestMs.length ?? 0} requests and ${results[0]?.answer.firstFrameMs.length ?? 0} commands beside the flood in a round`,
      'a first frame takes a spawn and the way there and back, so it bounds the spawn from above',
    ],
  };
}

/** Memory is compared with idle after a flood of the same kind, and with idle before any. */
async function measure(bench: Bench, daemon: DaemonUnderTest, seconds: number): Promise<Round> {
  const read = async (forSeconds: number) => {
    const input = { url: daemon.url, key: daemon.key, cmd, bytesPerSecond, seconds: forSeconds };
    const answer = await runClient<SlowReaderAnswer>(bench.program('slow-reader'), input, 60_000);
    const share = answer.readBytes / (bytesPerSecond * forSeconds);
    if (share < 0.8 || share > 1.2)
      throw new Error(`the slow client read ${answer.readBytes} bytes in ${forSeconds} s`);
    return answer;
  };
  await delay(1000);
  const coldIdle = await idleBytes(daemon.pid);
  await read(seconds / 2);
  await delay(1000);
  const idle = await idleBytes(daemon.pid);
  const { result, peakBytes } = await peakResidentBytes(daemon.pid, 100, () => read(seconds));
  return { coldIdle, idle, peak: peakBytes, answer: result };
}
