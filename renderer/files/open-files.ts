import { type FileText, OpenFile } from './open-file.ts';

/** The files that were looked at last, and every one with unsaved changes. They live as long as the page. */
export class OpenFiles {
  readonly #files = new Map<string, OpenFile>();
  readonly #listeners = new Set<() => void>();
  #dirty: readonly string[] = [];

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Keys of the files with unsaved changes; the same list until it changes. */
  readonly dirty = (): readonly string[] => this.#dirty;

  get(workspaceId: string, path: string): OpenFile | undefined {
    return this.#files.get(fileKey(workspaceId, path));
  }

  open(workspaceId: string, path: string, base: FileText): OpenFile {
    const key = fileKey(workspaceId, path);
    const file = new OpenFile(base);
    file.subscribe(() => this.#count());
    this.#files.set(key, file);
    this.#forgetOldest();
    return file;
  }

  /** Forgets a file, or all files of a folder; their unsaved changes are lost. */
  close(workspaceId: string, path: string): void {
    const closed = fileKey(workspaceId, path);
    for (const key of [...this.#files.keys()])
      if (key === closed || key.startsWith(`${closed}/`)) this.#files.delete(key);
    this.#count();
  }

  /** Unsaved changes go along with a file, or with the files of a folder, that gets another name. */
  rename(workspaceId: string, from: string, to: string): void {
    const old = fileKey(workspaceId, from);
    for (const [key, file] of [...this.#files]) {
      if (key !== old && !key.startsWith(`${old}/`)) continue;
      this.#files.delete(key);
      this.#files.set(fileKey(workspaceId, to) + key.slice(old.length), file);
    }
    this.#count();
  }

  #forgetOldest(): void {
    const clean = [...this.#files].filter(([, file]) => !file.snapshot().dirty && file.editor === undefined);
    for (const [key] of clean.slice(0, -maxClean)) this.#files.delete(key);
  }

  #count(): void {
    const dirty = [...this.#files].filter(([, file]) => file.snapshot().dirty).map(([key]) => key);
    if (dirty.join('\n') === this.#dirty.join('\n')) return;
    this.#dirty = dirty;
    for (const listener of this.#listeners) listener();
  }
}

/** Their undo history and place are worth keeping, but not of every file that was ever looked at. */
const maxClean = 20;

export function fileKey(workspaceId: string, path: string): string {
  return `${workspaceId}/${path}`;
}
