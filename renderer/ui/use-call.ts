import { useState } from 'react';

export type Call<Args extends unknown[]> = {
  run: (...args: Args) => void;
  busy: boolean;
  error: Error | null;
  reset: () => void;
};

/**
 * A call whose arguments or answer must not be kept: React Query's mutations would stay in its cache for minutes.
 * `action` does itself what follows on success.
 */
export function useCall<Args extends unknown[]>(action: (...args: Args) => Promise<void>): Call<Args> {
  const [state, setState] = useState<{ busy: boolean; error: Error | null }>(idle);
  const run = (...args: Args) => {
    setState({ busy: true, error: null });
    action(...args).then(
      () => setState(idle),
      (error: unknown) =>
        setState({ busy: false, error: error instanceof Error ? error : new Error(String(error)) }),
    );
  };
  return { ...state, run, reset: () => setState(idle) };
}

const idle = { busy: false, error: null };
