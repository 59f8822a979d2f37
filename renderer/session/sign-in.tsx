import { type FormEvent, useState } from 'react';
import { Logo } from '../frame/logo.tsx';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { Field } from '../ui/field.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { type SessionState, type SessionStore, tokenIn } from './session-store.ts';

type SignedOut = Extract<SessionState, { status: 'signed-out' }>;

/** Shown while nobody is signed in: how to get a link, and a field for those who have one elsewhere. */
export function SignIn({ session, state }: { session: SessionStore; state: SignedOut }) {
  const [text, setText] = useState('');
  const [mistake, setMistake] = useState<string>();

  function submit(event: FormEvent) {
    event.preventDefault();
    const token = tokenIn(text);
    if (token === undefined) {
      setMistake('That is neither a sign-in link nor a token. Copy the whole line from the terminal.');
      return;
    }
    void session.exchange(token);
  }

  return (
    <main className="grid min-h-full place-items-center p-6">
      <div className="w-full max-w-[420px]">
        <Logo className="mb-5 size-9 text-accent" />
        <h1 className="text-xl font-semibold tracking-tight">Sign in to Tallystick</h1>
        <p className="mt-1.5 text-muted">{headline(state)}</p>
        {state.detail !== undefined && (
          <p
            role="alert"
            className="mt-4 rounded-md border border-danger/30 bg-danger-soft px-3 py-2 text-danger-text"
          >
            {state.detail}
          </p>
        )}
        <ol className="mt-6 space-y-4">
          <Step number={1}>
            <p className="mb-2">Start the daemon in a terminal, if it is not running yet:</p>
            <CodeBlock text="tallystick serve" />
          </Step>
          <Step number={2}>
            <p>
              Open the link it prints. It works once and for five minutes; press <Kbd>Enter</Kbd> in that
              terminal for a new one.
            </p>
          </Step>
          <Step number={3}>
            <p className="mb-2">Or paste the link, or only its token, here:</p>
            <form onSubmit={submit} className="flex items-start gap-2" noValidate>
              <Field
                label="Sign-in link or token"
                hideLabel
                className="flex-1"
                error={mistake}
                autoFocus
                autoComplete="off"
                spellCheck={false}
                placeholder={`${location.origin}/#token=…`}
                value={text}
                onChange={(event) => {
                  setText(event.target.value);
                  setMistake(undefined);
                }}
              />
              <Button type="submit" variant="primary" disabled={text.trim() === ''}>
                Sign in
              </Button>
            </form>
          </Step>
        </ol>
      </div>
    </main>
  );
}

function headline(state: SignedOut): string {
  switch (state.reason) {
    case 'ended':
      return 'Your session has ended. A new link brings you back to where you were.';
    case 'left':
      return 'You are signed out of this window.';
    default:
      return 'The panel opens with a one-time link from the daemon on this computer.';
  }
}

function Step({ number, children }: { number: number; children: React.ReactNode }) {
  return (
    <li className="flex gap-3">
      <span
        aria-hidden
        className="mt-px grid size-5 shrink-0 place-items-center rounded-full border border-line text-xs text-muted tabular-nums"
      >
        {number}
      </span>
      <div className="min-w-0 flex-1">{children}</div>
    </li>
  );
}
