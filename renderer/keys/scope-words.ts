import type { KeyExpiry } from '../../daemon/contract/api-keys.ts';
import type { Scope } from '../../daemon/contract/scopes.ts';

/** Narrowest first, as each one includes those before it. */
export const scopeWords: { scope: Scope; title: string; note: string }[] = [
  { scope: 'read', title: 'Read', note: 'See workspaces, jobs and recent commands. Change nothing.' },
  { scope: 'write', title: 'Write', note: 'Also open projects and change their files.' },
  { scope: 'agent', title: 'Agent', note: 'Also run and stop commands. What a coding agent needs.' },
  { scope: 'admin', title: 'Admin', note: 'Everything, also secrets and API keys. Not for agents.' },
];

export const expiryWords: { expiry: KeyExpiry; title: string }[] = [
  { expiry: '1d', title: '1 day' },
  { expiry: '1m', title: '1 month' },
  { expiry: '1y', title: '1 year' },
  { expiry: 'never', title: 'Never' },
];
