import type { Machine } from './machine.ts';
import type { Figure, RowResult, Target } from './row.ts';

export function printMachine(machine: Machine): string {
  const { processor, cores, memoryGib, system, node, commit, date, load } = machine;
  return [
    `${processor}, ${cores} cores, ${memoryGib} GiB, ${system}`,
    `Node ${node}, commit ${commit}, ${date}, load before ${load.toFixed(2)}`,
  ].join('\n');
}

/** A row as text: medians with the lowest and highest round, then the ratios with what was wanted of them. */
export function printRow({ row, title, figures, targets, notes }: RowResult): string {
  const lines = [
    `${row}: ${title}`,
    ...table(figures.map(figureCells)),
    ...table(targets.map(targetCells)),
    ...notes.map((note) => `  ${note}`),
  ];
  return lines.join('\n');
}

export function printVerdict(results: readonly RowResult[]): string {
  const targets = results.flatMap(({ row, targets: ofRow }) => ofRow.map((each) => ({ row, ...each })));
  const missed = targets.filter(({ met }) => !met);
  const lines = [`${targets.length - missed.length} of ${targets.length} targets met`];
  for (const { row, name, ...rest } of missed) {
    lines.push(
      `MISSED  ${row}: ${name} is ${amount(rest.value, rest.unit)}, wanted ${rest.wanted} ${amount(rest.limit, rest.unit)}`,
    );
  }
  return lines.join('\n');
}

function figureCells({ name, unit, median, low, high, samples }: Figure): string[] {
  const spread = samples > 1 && low !== high ? `${digits(low)} – ${digits(high)}` : '';
  return [name, amount(median, unit), spread];
}

function targetCells({ name, unit, value, low, high, wanted, limit, met }: Target): string[] {
  const spread =
    low === undefined || high === undefined || low === high ? '' : `${digits(low)} – ${digits(high)}`;
  return [name, amount(value, unit), spread, `${wanted} ${amount(limit, unit)}`, met ? 'met' : 'MISSED'];
}

function amount(value: number, unit: string): string {
  return unit === '×' ? `${digits(value)}×` : `${digits(value)} ${unit}`;
}

function digits(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 1000) return Math.round(value).toLocaleString('en');
  return value.toFixed(magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : magnitude >= 0.1 ? 2 : 3);
}

/** Columns of equal width; the first is left-aligned, as is a verdict in the last of five. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) => {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 || column >= 3 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `  ${cells.join('   ').trimEnd()}`;
  });
}
