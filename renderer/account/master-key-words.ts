import type { MasterKeySource, MasterKeyState, MasterKeyStatus } from '../../daemon/contract/master-key.ts';
import type { Tone } from '../ui/badge.tsx';

export function stateWords({ state, key_id }: MasterKeyStatus): string {
  switch (state) {
    case 'ready':
      return 'Ready';
    case 'locked':
      return 'Locked';
    case 'missing':
      // Known by its id, but not the one that is found, or none is.
      return key_id === null ? 'Missing' : 'The right key is missing';
    default:
      return state satisfies never;
  }
}

export const stateTones: Record<MasterKeyState, Tone> = {
  ready: 'success',
  locked: 'warning',
  missing: 'danger',
};

export const sourceWords: Record<MasterKeySource, string> = {
  environment: 'Environment',
  file: 'Key file',
  keychain: 'Keychain',
};

export const sourceNotes: Record<MasterKeySource, string> = {
  environment: 'SERVICE_SECRET_KEY, as the daemon was started with',
  file: 'readable by you alone',
  keychain: 'of this computer, under “tallystick”',
};
