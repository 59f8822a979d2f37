const answerMs = 5_000;

/** Login tokens asked for and not yet answered, in order: the daemon answers them one by one. */
export class TokenRequests {
  #waiting: ((token: string | null) => void)[] = [];

  /** Settles with the next token, or `null` after five seconds or when the daemon is gone. */
  async next(): Promise<string | null> {
    return await new Promise((resolve) => {
      const timer = setTimeout(resolve, answerMs, null);
      this.#waiting.push((token) => {
        clearTimeout(timer);
        resolve(token);
      });
    });
  }

  settle(token: string): void {
    this.#waiting.shift()?.(token);
  }

  drop(): void {
    for (const answer of this.#waiting.splice(0)) answer(null);
  }
}
