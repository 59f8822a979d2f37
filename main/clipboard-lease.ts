/** The two things of the system clipboard that a lease needs. */
export type TextClipboard = { readText(): Promise<string>; writeText(text: string): Promise<void> };

/**
 * Text put on the clipboard for a while: cleared after its time, and when the app ends, but only if the
 * clipboard still holds it. What the user copied since is theirs.
 */
export class ClipboardLease {
  readonly #clipboard: TextClipboard;
  #leased: string | null = null;
  #copies = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(clipboard: TextClipboard) {
    this.#clipboard = clipboard;
  }

  /** With `clearAfterMs` null the text stays. */
  async copy(text: string, clearAfterMs: number | null): Promise<void> {
    clearTimeout(this.#timer);
    this.#leased = null;
    this.#copies += 1;
    const copy = this.#copies;
    await this.#clipboard.writeText(text);
    if (clearAfterMs === null || copy !== this.#copies) return;
    this.#leased = text;
    this.#timer = setTimeout(() => void this.clear(), clearAfterMs);
  }

  /** Takes leased text off the clipboard now; does nothing when there is none or it was replaced. */
  async clear(): Promise<void> {
    clearTimeout(this.#timer);
    const leased = this.#leased;
    this.#leased = null;
    if (leased === null || (await this.#clipboard.readText()) !== leased) return;
    await this.#clipboard.writeText('');
  }
}
