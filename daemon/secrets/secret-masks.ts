import type { WorkspaceId } from '../contract/ids.ts';
import type { Masks } from '../masking/masks.ts';

/** What is masked in which workspace, and what is masked where output is of no workspace: logs, errors. */
export class SecretMasks {
  readonly all: Masks;
  readonly #newMasks: () => Masks;
  readonly #ofWorkspace = new Map<WorkspaceId, Masks>();

  constructor(newMasks: () => Masks) {
    this.#newMasks = newMasks;
    this.all = newMasks();
  }

  /** The same object for as long as the daemon runs: values that come later are masked by who holds it. */
  of(wsId: WorkspaceId): Masks {
    let masks = this.#ofWorkspace.get(wsId);
    if (masks === undefined) {
      masks = this.#newMasks();
      this.#ofWorkspace.set(wsId, masks);
    }
    return masks;
  }

  add(wsId: WorkspaceId, values: readonly string[]): void {
    this.of(wsId).add(values);
    this.all.add(values);
  }
}
