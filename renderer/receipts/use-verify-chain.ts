import { useQueryClient } from '@tanstack/react-query';
import { createParser } from 'eventsource-parser';
import { useEffect, useRef, useState } from 'react';
import type { ChainVerdict, VerifyFrame } from '../../daemon/contract/receipts.ts';
import type { ApiClient } from '../api/client.ts';
import { problemText } from '../api/problem.ts';
import { usePanel } from '../panel-context.ts';

export type Verification =
  | { phase: 'idle' }
  | { phase: 'running'; checked: number; total: number }
  | { phase: 'done'; verdict: ChainVerdict; at: string }
  /** No verdict was reached, which says nothing about the chain. */
  | { phase: 'failed'; detail: string };

export type ChainVerifier = { state: Verification; start: () => void; dismiss: () => void };

/** Has the daemon verify the whole chain of a workspace, and follows how far it is. */
export function useVerifyChain(workspaceId: string): ChainVerifier {
  const { api } = usePanel();
  const [state, setState] = useState<Verification>({ phase: 'idle' });
  const cache = useQueryClient();
  const damaged = useRef(false);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const dismiss = () => {
    running.current?.abort();
    setState({ phase: 'idle' });
  };
  const start = () => {
    running.current?.abort();
    const stop = new AbortController();
    running.current = stop;
    setState({ phase: 'running', checked: 0, total: 0 });
    const onFrame = (frame: VerifyFrame) => {
      if (stop.signal.aborted) return;
      if (frame.type === 'progress') {
        setState({ phase: 'running', checked: frame.checked, total: frame.total });
        return;
      }
      setState({ phase: 'done', verdict: frame, at: new Date().toISOString() });
      // The verdict is about what is on the disk now: that is what has to stand beside it.
      void cache.invalidateQueries({ queryKey: ['receipt', workspaceId] });
      if (!frame.valid || damaged.current)
        void cache.invalidateQueries({ queryKey: ['receipts', workspaceId] });
      damaged.current = !frame.valid;
    };
    readVerification(api, workspaceId, onFrame, stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) setState({ phase: 'failed', detail: problemText(error) });
    });
  };
  return { state, start, dismiss };
}

async function readVerification(
  api: ApiClient,
  workspaceId: string,
  onFrame: (frame: VerifyFrame) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await api.open(`/api/receipts/verify?ws_id=${workspaceId}`, {
    method: 'POST',
    workspaceId,
    headers: { Accept: 'text/event-stream' },
    signal,
  });
  let finished = false;
  const parser = createParser({
    onEvent: (message) => {
      const frame: VerifyFrame = JSON.parse(message.data);
      finished ||= frame.type === 'verdict';
      onFrame(frame);
    },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) break;
    parser.feed(part.value);
  }
  if (!finished) throw new Error('The daemon stopped before it came to a verdict.');
}
