import { expect, test } from 'vitest';
import type { JobListing, RecentCommand } from '../../daemon/contract/shell.ts';
import { distinctCommands, jobEntries } from './job-entries.ts';

const time = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`;

function recent(id: string, started: number, over: Partial<RecentCommand> = {}): RecentCommand {
  const base = {
    cmd: id,
    cwd: '.',
    code: 0,
    finished_at: time(started + 1),
    origin: 'api',
    key_id: null,
    reason: null,
  };
  return { ...base, ...over, job_id: id, started_at: time(started) } as RecentCommand;
}

function running(id: string, started: number): JobListing {
  const base = { ws_id: 'ws', cmd: id, cwd: '.', pid: 1, state: 'running', origin: 'api', key_id: null };
  return {
    ...base,
    job_id: id,
    started_at: time(started),
    timeout: 300,
    free_ports: [],
  } as unknown as JobListing;
}

test('puts what runs first, and each part newest first', () => {
  const entries = jobEntries(
    [running('r1', 1), running('r2', 5)],
    [recent('e1', 2), recent('e2', 9), recent('r1', 1, { finished_at: null, code: null })],
  );
  expect(entries.map((entry) => entry.jobId)).toEqual(['r2', 'r1', 'e2', 'e1']);
  expect(entries.map((entry) => entry.running !== undefined)).toEqual([true, true, false, false]);
});

test('a command has ended once its end is known, though it is listed as a job still', () => {
  expect(jobEntries([running('a', 1)], [recent('a', 1)]).map((entry) => entry.running)).toEqual([undefined]);
});

test('the same command in the same folder of the same host is offered once, its latest run', () => {
  const commands = [
    recent('a', 9, { cmd: 'x' }),
    recent('b', 8, { cmd: 'x', cwd: 'sub' }),
    recent('c', 7, { cmd: 'x' }),
    recent('d', 6, { cmd: 'x', host: 'web-1' }),
  ];
  expect(distinctCommands(commands, 8).map((command) => command.job_id)).toEqual(['a', 'b', 'd']);
  expect(distinctCommands(commands, 1)).toHaveLength(1);
});
