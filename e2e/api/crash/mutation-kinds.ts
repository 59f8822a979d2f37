import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf } from './receipt-replay.ts';
import type { Outcome, WorkspaceDaemon } from './workspace-daemon.ts';

/** Path → hash that the file is to have, or `absent`. */
export type Demand = ReadonlyMap<string, string>;

/** A mutation that is ready to be asked for. */
interface Attempt {
  readonly demand: Demand;
  send(): Promise<Outcome>;
}

interface Setting {
  readonly daemon: WorkspaceDaemon;
  readonly project: string;
  /** Different for every attempt. */
  readonly mark: string;
}

/** Puts in place what the mutation needs (by mutations that must not fail), and answers the mutation itself. */
type Prepare = (setting: Setting) => Promise<Attempt>;

const absent = 'absent';

export const mutationKinds = {
  write: async ({ daemon, mark }) => {
    await done(daemon.write('write.txt', `before ${mark}\n`));
    const content = `after ${mark}\n`;
    return { demand: demandOf({ 'write.txt': content }), send: () => daemon.write('write.txt', content) };
  },
  create: async ({ daemon, mark }) => {
    const path = `made-${mark}/new/file.txt`;
    return { demand: demandOf({ [path]: mark }), send: () => daemon.write(path, mark) };
  },
  edit: async ({ daemon, mark }) => {
    const text = (value: string) => `first line\nvalue = ${value};\nlast line\n`;
    await done(daemon.write('edit.txt', text(`old ${mark}`)));
    return {
      demand: demandOf({ 'edit.txt': text(mark) }),
      send: () => daemon.edit('edit.txt', `old ${mark}`, mark),
    };
  },
  move: async ({ daemon, project, mark }) => {
    const [from, to] = existsSync(join(project, 'there/moved.txt'))
      ? ['there/moved.txt', 'here/moved.txt']
      : ['here/moved.txt', 'there/moved.txt'];
    if (!existsSync(join(project, from))) await done(daemon.write(from, `moved ${mark}`));
    const content = readFileSync(join(project, from), 'utf8');
    return { demand: demandOf({ [from]: null, [to]: content }), send: () => daemon.move(from, to) };
  },
  delete: async ({ daemon, mark }) => {
    await done(daemon.write('delete.txt', `delete ${mark}`));
    return { demand: demandOf({ 'delete.txt': null }), send: () => daemon.delete('delete.txt') };
  },
  shell: async ({ daemon, project, mark }) => {
    const command = ['mkdir -p out', `echo one ${mark} > out/one.txt`, `echo two ${mark} > out/two.txt`];
    const isThere = existsSync(join(project, 'out/three.txt'));
    command.push(isThere ? 'rm out/three.txt' : 'cp out/one.txt out/three.txt');
    const [one, two] = [`one ${mark}\n`, `two ${mark}\n`];
    const demand = demandOf({
      'out/one.txt': one,
      'out/two.txt': two,
      'out/three.txt': isThere ? null : one,
    });
    return { demand, send: () => daemon.shell(command.join(' && ')) };
  },
} satisfies Record<string, Prepare>;

export type MutationKind = keyof typeof mutationKinds;
export const kindNames = Object.keys(mutationKinds) as MutationKind[];

/** Of a mutation that nothing stands in the way of. */
export async function done(outcome: Promise<Outcome>): Promise<Outcome & { readonly kind: 'done' }> {
  const result = await outcome;
  if (result.kind !== 'done')
    throw new Error(`a mutation failed that had nothing in its way: ${JSON.stringify(result)}`);
  return result;
}

function demandOf(contents: Readonly<Record<string, string | null>>): Demand {
  const entries = Object.entries(contents);
  return new Map(entries.map(([path, content]) => [path, content === null ? absent : hashOf(content)]));
}
