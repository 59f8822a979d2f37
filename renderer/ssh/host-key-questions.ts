import type { HostKeyProblem } from './host-key-problem.ts';

export type HostKeyQuestion = HostKeyProblem & {
  /** What was being done when the key came in the way: done again once the key is accepted. */
  goOn: () => void;
};

/** The host key that the person is asked about now: one at a time, whichever part of the panel met it. */
export class HostKeyQuestions {
  #question: HostKeyQuestion | undefined;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): HostKeyQuestion | undefined => this.#question;

  ask(question: HostKeyQuestion): void {
    this.#set(question);
  }

  close(): void {
    this.#set(undefined);
  }

  #set(question: HostKeyQuestion | undefined): void {
    this.#question = question;
    for (const listener of this.#listeners) listener();
  }
}
