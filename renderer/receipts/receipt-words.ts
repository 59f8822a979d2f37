import type { Actor, ReceiptSummary, TouchedFile } from '../../daemon/contract/receipts.ts';
import { countWords } from '../ui/time-words.ts';

type Told = Pick<ReceiptSummary, 'tool' | 'command' | 'rolled_back_run_id' | 'file_count'> & {
  files: TouchedFile[];
};

/** What was done, in words: "Wrote README.md", "Ran", "Rolled back 3 files". Of a command, the line itself stands beside it. */
export function deedWords(receipt: Told): string {
  const [first] = receipt.files;
  const name = first === undefined ? 'nothing' : nameOf(first.path);
  switch (receipt.tool) {
    case 'file.write':
      return first?.before_hash === 'absent' ? `Created ${name}` : `Wrote ${name}`;
    case 'file.edit':
      return `Edited ${name}`;
    case 'file.move':
      return moveWords(receipt.files);
    case 'file.delete':
      return receipt.file_count > 1 ? `Deleted ${countWords(receipt.file_count, 'file')}` : `Deleted ${name}`;
    case 'shell.run':
      return 'Ran a command';
    case 'ssh.run':
      return 'Ran a command on another host';
    case 'ssh.pull':
      return `Pulled ${name}`;
    case 'rollback':
      return `Rolled back ${countWords(receipt.file_count, 'file')}`;
    case 'secret.set':
      return 'Set a secret';
    case 'secret.delete':
      return 'Deleted a secret';
    case 'secret.import':
      return 'Set secrets from a .env';
    case 'secret.recover':
      return 'Recovered the secrets';
    case 'secret.rotate':
      return 'Encrypted the secrets anew';
    default:
      // A later daemon may know more tools.
      receipt.tool satisfies never;
      return String(receipt.tool);
  }
}

function moveWords(files: TouchedFile[]): string {
  const from = files.find((file) => file.after_hash === 'absent');
  const to = files.find((file) => file.after_hash !== 'absent' && file.path !== from?.path);
  if (from === undefined || to === undefined) return `Moved ${nameOf(files[0]?.path ?? 'nothing')}`;
  if (files.length > 2) return `Moved ${countWords(Math.ceil(files.length / 2), 'file')}`;
  const [last, next] = [nameOf(from.path), nameOf(to.path)];
  return last === next ? `Moved ${last}` : `Renamed ${last} to ${next}`;
}

/** The last part of a path; a folder keeps its slash. */
export function nameOf(path: string): string {
  return path.slice(path.replace(/\/$/, '').lastIndexOf('/') + 1);
}

/** Where the files are: the folder of a file, both paths of a move, the names of a command's. Of a remote command, its host. */
export function placeWords({ tool, command, files, file_count: count }: Told): string {
  if (command?.host !== undefined) return `on ${command.host}`;
  const [first, second] = files;
  if (first === undefined) return '';
  const folder = first.path.slice(0, -nameOf(first.path).length - 1);
  if (count === 1 && (tool.startsWith('file.') || tool === 'ssh.pull')) return folder;
  if (count === 1) return first.path;
  if (count === 2 && second !== undefined)
    return tool === 'file.move'
      ? `${first.path} → ${second.path}`
      : `${nameOf(first.path)}, ${nameOf(second.path)}`;
  return `${nameOf(first.path)} and ${countWords(count - 1, 'other file')}`;
}

export const toolWords: Record<ReceiptSummary['tool'], string> = {
  'file.write': 'File written',
  'file.edit': 'File edited',
  'file.move': 'File moved',
  'file.delete': 'File deleted',
  'shell.run': 'Command run',
  'ssh.run': 'Command on a host',
  'ssh.pull': 'File pulled',
  rollback: 'Rollback',
  'secret.set': 'Secret set',
  'secret.delete': 'Secret deleted',
  'secret.import': 'Secrets from a .env',
  'secret.recover': 'Secrets recovered',
  'secret.rotate': 'Secrets with a new key',
};

/** "You" for anything done from the panel; else the key's name, or its id where it is not known any more. */
export function actorWords(actor: Actor, keyNames: ReadonlyMap<string, string>): string {
  if (actor.type === 'session') return 'You';
  return keyNames.get(actor.key_id) ?? actor.key_id;
}

export type FileChange = 'created' | 'deleted' | 'changed' | 'mode';

export function changeOf(file: TouchedFile): FileChange {
  if (file.before_hash === 'absent' && file.before_mode === 'absent') return 'created';
  if (file.after_hash === 'absent' && file.after_mode === 'absent') return 'deleted';
  return file.before_hash === file.after_hash ? 'mode' : 'changed';
}

/** What differs beside the content: "now executable", "was a link"; undefined where nothing does. */
export function modeWords(file: TouchedFile): string | undefined {
  const { before_mode: before, after_mode: after } = file;
  if (before === after || before === 'absent' || after === 'absent')
    return after === '120000' || before === '120000'
      ? 'link'
      : after === '100755' && before === 'absent'
        ? 'executable'
        : undefined;
  if (after === '100755') return 'now executable';
  if (before === '100755' && after === '100644') return 'no longer executable';
  if (after === '120000') return 'now a link';
  return before === '120000' ? 'no longer a link' : `mode ${before} → ${after}`;
}

/** Guards that have something to say: those that were skipped or passed have not. */
export function guardWords(guards: ReceiptSummary['guards']): { name: string; result: 'warn' | 'fail' }[] {
  return Object.entries(guards).flatMap(([name, result]) =>
    result === 'warn' || result === 'fail' ? [{ name, result }] : [],
  );
}

/** "$0.0123", or undefined where nothing was spent. */
export function costWords({ usd, tokens_in, tokens_out }: ReceiptSummary['cost']): string | undefined {
  if (usd === 0 && tokens_in === 0 && tokens_out === 0) return undefined;
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

/** `sha256:3f9a…21c0`: enough to compare by eye. */
export function shortHash(hash: string): string {
  return hash.replace(/^(sha256:)?([0-9a-f]{8})[0-9a-f]+([0-9a-f]{4})$/, '$2…$3');
}
