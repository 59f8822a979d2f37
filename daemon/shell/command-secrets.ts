import type { StreamMasker } from '../masking/stream-masker.ts';

/** What a command gets of its workspace's secrets, and what keeps them from being told. */
export interface CommandSecrets {
  /** Environment variables of this command. */
  readonly variables: Readonly<Record<string, string>>;
  /** Puts `***` in the place of every secret of the workspace, those that come later too. */
  readonly mask: (text: string) => string;
  /** The same, for one stream of bytes. */
  readonly newMasker: () => StreamMasker;
}
