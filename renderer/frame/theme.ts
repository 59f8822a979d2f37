export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

/** The chosen theme, kept in localStorage and applied to the document. */
export class ThemeStore {
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): Theme =>
    themes.find((theme) => theme === localStorage.getItem(storageKey)) ?? 'system';

  apply(): void {
    const theme = this.snapshot();
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }

  set(theme: Theme): void {
    localStorage.setItem(storageKey, theme);
    this.apply();
    for (const listener of this.#listeners) listener();
  }

  /** Changes between light and dark, from what is seen now. */
  toggle(): void {
    this.set(this.isDark() ? 'light' : 'dark');
  }

  isDark(): boolean {
    const theme = this.snapshot();
    return theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  }
}

const storageKey = 'tallystick.theme';
