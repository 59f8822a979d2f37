import { toast } from 'sonner';
import { copyText } from '../desktop-bridge.ts';
import { saveFile } from '../ui/save-file.ts';
import { countWords } from '../ui/time-words.ts';
import type { LogClient, LogSnapshot } from './log-client.ts';
import type { LineRange } from './use-line-selection.ts';

export type LogCopy = { all: () => void; range: (range: LineRange) => void; download: () => void };

/** Takes output out of the worker, onto the clipboard or into a file, without its colour codes. */
export function useLogCopy(client: LogClient, log: LogSnapshot, name: string): LogCopy {
  const range = ({ from, to }: LineRange) =>
    void client
      .text(from, to)
      .then((text) => copyText(text))
      .then(
        () => toast.success(`Copied ${countWords(to - Math.max(from, log.first), 'line')}`),
        () =>
          toast.error('The clipboard is not available', {
            description: 'Save the output as a file instead.',
          }),
      );
  return {
    range,
    all: () => range({ from: log.first, to: log.end }),
    download: () => void client.file().then((file) => saveFile(file, fileName(name))),
  };
}

function fileName(command: string): string {
  const words = command
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);
  return `${words || 'output'}.log.txt`;
}
