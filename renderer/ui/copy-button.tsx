import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { toast } from 'sonner';
import { copyText } from '../desktop-bridge.ts';
import { Button, IconButton } from './button.tsx';

type CopyProps = { text: string; label: string; clearAfterMs?: number | undefined };

/** An icon that copies `text` and says so for a moment. */
export function CopyIcon({ text, label, clearAfterMs }: CopyProps) {
  const [copied, copy] = useCopy(text, clearAfterMs);
  return (
    <IconButton label={copied ? 'Copied' : label} onClick={copy}>
      {copied ? <Check className="text-success" /> : <Copy />}
    </IconButton>
  );
}

export function CopyButton({
  text,
  label,
  clearAfterMs,
  primary = false,
}: CopyProps & { primary?: boolean }) {
  const [copied, copy] = useCopy(text, clearAfterMs);
  return (
    <Button variant={primary ? 'primary' : 'default'} onClick={copy}>
      {copied ? <Check className="size-4" /> : <Copy className="size-4" />}
      {copied ? 'Copied' : label}
    </Button>
  );
}

function useCopy(text: string, clearAfterMs?: number): [boolean, () => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1800);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () =>
    void copyText(text, clearAfterMs).then(
      () => setCopied(true),
      () =>
        toast.error('The clipboard is not available', {
          description: 'Select the text and copy it by hand.',
        }),
    );
  return [copied, copy];
}
