import type { DaemonLauncher } from './daemon-under-test.ts';
import { type Summary, summarize } from './statistics.ts';

/** What a row is given: how thorough to be, where to keep files, how to start a daemon, the compiled programs. */
export interface Bench {
  quick: boolean;
  /** Kept between runs: made input, compiled programs. */
  cacheDir: string;
  /** Emptied after the run. */
  tempDir: string;
  daemon: DaemonLauncher;
  /** Path of a peer or client, as plain JavaScript that any Node runs as it is. */
  program(name: string): string;
  progress(message: string): void;
}

export interface Figure extends Summary {
  name: string;
  unit: string;
}

export interface Target {
  name: string;
  value: number;
  /** Of the same ratio taken round by round, where there are rounds. */
  low?: number;
  high?: number;
  unit: string;
  wanted: 'at most' | 'at least' | 'below';
  limit: number;
  met: boolean;
}

export interface RowResult {
  row: string;
  title: string;
  figures: Figure[];
  targets: Target[];
  notes: string[];
}

export interface Row {
  name: string;
  /** Throws when something could not be measured or came out wrong, which is not the same as a target missed. */
  run(bench: Bench): Promise<RowResult>;
}

export function figure(name: string, unit: string, values: readonly number[]): Figure {
  return { name, unit, ...summarize(values) };
}

/** A single number held against its limit. */
export function target(
  name: string,
  unit: string,
  value: number,
  wanted: Target['wanted'],
  limit: number,
): Target {
  return { name, unit, value, wanted, limit, met: isMet(value, wanted, limit) };
}

/** The ratio of the medians, with the lowest and highest ratio of one round. */
export function ratioTarget(
  name: string,
  ours: readonly number[],
  theirs: readonly number[],
  wanted: Target['wanted'],
  limit: number,
): Target {
  const perRound = ours.flatMap((value, round) =>
    theirs[round] === undefined ? [] : [value / theirs[round]],
  );
  const { low, high } = summarize(perRound);
  const value = summarize(ours).median / summarize(theirs).median;
  return { ...target(name, '×', value, wanted, limit), low, high };
}

function isMet(value: number, wanted: Target['wanted'], limit: number): boolean {
  switch (wanted) {
    case 'at most':
      return value <= limit;
    case 'below':
      return value < limit;
    case 'at least':
      return value >= limit;
    default:
      return wanted satisfies never;
  }
}
