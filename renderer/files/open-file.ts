import type { OpenedFile } from './read-file.ts';

export type FileText = { text: string; etag: string };

/** What the disk was found to hold; `gone` where there is no file any more. */
export type OnDisk = OpenedFile | 'gone';

export type OpenFileState = {
  /** What the changes are changes of: as it was last read or saved. */
  base: FileText;
  dirty: boolean;
  saving: boolean;
  /** Set where the disk holds something else than `base` and taking it over would lose changes. */
  newer: OnDisk | undefined;
};

/** The editor that shows the file now. */
export type EditorPort = {
  read: () => string;
  replace: (text: string) => void;
  /** Its text was changed. */
  changed: () => void;
  /** Saving was asked for with the keyboard. */
  save: () => void;
};

/** A text file that is looked at or changed. It outlives its editor, so that no change is lost by looking elsewhere. */
export class OpenFile {
  readonly #listeners = new Set<() => void>();
  #state: OpenFileState;
  /** Found while a save was under way: what it means is clear only afterwards. */
  #found: OnDisk | undefined;
  editor: EditorPort | undefined;
  /** What the last editor left: text, selection, undo history. Only editors know its form. */
  left: unknown;

  constructor(base: FileText) {
    this.#state = { base, dirty: false, saving: false, newer: undefined };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): OpenFileState => this.#state;

  /** Told by the editor with every change. */
  edited(dirty: boolean): void {
    if (dirty !== this.#state.dirty) this.#set({ dirty });
  }

  /** Told whenever the disk was read. What has no unsaved changes follows it; else the difference is kept to be told. */
  found(onDisk: OnDisk): void {
    const { base, dirty, saving, newer } = this.#state;
    if (saving) this.#found = onDisk;
    else if (onDisk !== 'gone' && onDisk.etag === base.etag) {
      if (newer !== undefined) this.#set({ newer: undefined });
    } else if (onDisk !== 'gone' && onDisk.kind === 'text' && !dirty) this.take(onDisk);
    else this.#set({ newer: onDisk });
  }

  /** Shows `text` in place of what was there, unsaved changes included. */
  take(text: FileText): void {
    this.#set({ base: { text: text.text, etag: text.etag }, dirty: false, newer: undefined });
    if (this.editor === undefined) this.left = undefined;
    else this.editor.replace(text.text);
  }

  saving(): void {
    this.#found = undefined;
    this.#set({ saving: true });
  }

  /** What was typed while it was being saved is still unsaved. */
  saved(base: FileText): void {
    const dirty = this.editor !== undefined && this.editor.read() !== base.text;
    this.#set({ base, dirty, saving: false, newer: undefined });
    this.#judgeFound();
  }

  notSaved(): void {
    this.#set({ saving: false });
    this.#judgeFound();
  }

  #judgeFound(): void {
    const onDisk = this.#found;
    this.#found = undefined;
    if (onDisk !== undefined) this.found(onDisk);
  }

  #set(change: Partial<OpenFileState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
