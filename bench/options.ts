import { parseArgs } from 'node:util';

export interface Options {
  rows: string[];
  quick: boolean;
  json: boolean;
  /** Show where the daemon's time went. It runs slower meanwhile, so the figures are not results. */
  profile: boolean;
  /** The daemon's entry; built first when none is named. */
  daemon: string | undefined;
}

export const usage = `npm run bench -- [--rows a,b] [--quick] [--json] [--profile] [--daemon <entry.js>]`;

/** Throws on an unknown option or row. */
export function readOptions(args: readonly string[], knownRows: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      daemon: { type: 'string' },
    },
  });
  const { quick, json, profile, daemon } = values;
  const rows = values.rows?.split(',') ?? [...knownRows];
  const unknown = rows.filter((row) => !knownRows.includes(row));
  if (unknown.length > 0) throw new Error(`no row ${unknown.join(', ')}; there are ${knownRows.join(', ')}`);
  return { rows, quick, json, profile, daemon };
}
