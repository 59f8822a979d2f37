import { EyeOff } from 'lucide-react';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { DialogActions } from '../ui/dialog.tsx';
import { clearAfterMs, clipboardWords } from './clipboard-words.ts';
import { useHiding } from './use-hiding.ts';

/** A value in plain sight, for 30 seconds. */
export function RevealedValue({ name, value, onHide }: { name: string; value: string; onHide: () => void }) {
  const seconds = useHiding(shownMs, onHide);
  return (
    <>
      <output
        aria-label={`Value of ${name}`}
        className="block max-h-[40vh] overflow-auto rounded-md border border-line-strong bg-inset px-3 py-2 font-mono text-xs leading-[18px] wrap-anywhere whitespace-pre-wrap select-text"
      >
        {value}
      </output>
      <div className="mt-3 flex items-center gap-3 text-xs text-muted">
        <span aria-hidden className="h-1 flex-1 overflow-hidden rounded-full bg-selected">
          <span
            className="block h-full bg-accent-fill transition-[width] duration-1000 ease-linear"
            style={{ width: `${(100 * (seconds - 1)) / (shownMs / 1000 - 1)}%` }}
          />
        </span>
        <span role="timer" className="tabular-nums">
          Hidden in {seconds} s
        </span>
      </div>
      <p className="mt-2 text-xs text-faint">{clipboardWords()}</p>
      <DialogActions>
        <CopyButton text={value} label="Copy" clearAfterMs={clearAfterMs} />
        <Button variant="primary" autoFocus onClick={onHide}>
          <EyeOff className="size-4" aria-hidden />
          Hide now
        </Button>
      </DialogActions>
    </>
  );
}

const shownMs = 30_000;
