import { CopyIcon } from './copy-button.tsx';

/** A command to copy; long ones wrap, at spaces where there are any. */
export function CodeBlock({ text, label = 'Copy command' }: { text: string; label?: string }) {
  return (
    <div className="flex items-start gap-1 rounded-md border border-line bg-inset py-1 pr-1 pl-3">
      <pre className="min-w-0 flex-1 overflow-x-auto py-1 wrap-anywhere font-mono text-xs leading-[18px] whitespace-pre-wrap select-text">
        {text}
      </pre>
      <CopyIcon text={text} label={label} />
    </div>
  );
}
