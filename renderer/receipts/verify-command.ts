import type { ChainHead } from '../../daemon/contract/receipts.ts';

type Head = Pick<ChainHead, 'head' | 'checkpoint_key'>;

/** The command, over several lines, that checks the chain against this head, without the daemon. */
export function verifyCommand(projectPath: string, { head, checkpoint_key: key }: Head): string {
  const folder = quoted(`${projectPath.replace(/\/$/, '')}/.service/receipts`);
  const words = [
    `tallystick verify ${folder}`,
    `--head ${head}`,
    ...(key === null ? [] : [`--key ${quoted(key)}`]),
  ];
  return words.join(' \\\n  ');
}

/** As a POSIX shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w./:@%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
