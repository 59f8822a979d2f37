/** Which workspace this tab looks at. Several tabs may each look at another one. */
export class WorkspaceChoice {
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Null until one was chosen in this tab. */
  readonly snapshot = (): string | null => sessionStorage.getItem(storageKey);

  choose(workspaceId: string | null): void {
    if (workspaceId === null) sessionStorage.removeItem(storageKey);
    else sessionStorage.setItem(storageKey, workspaceId);
    for (const listener of this.#listeners) listener();
  }
}

const storageKey = 'tallystick.workspace';
