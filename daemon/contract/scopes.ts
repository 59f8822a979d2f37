import * as z from 'zod';

/** Cumulative, narrowest first: each scope grants all that stands before it. */
export const scopes = ['read', 'write', 'agent', 'admin'] as const;

export const Scope = z.enum(scopes).meta({ id: 'Scope' });
export type Scope = z.infer<typeof Scope>;

export function scopeGrants(granted: Scope, required: Scope): boolean {
  return scopes.indexOf(granted) >= scopes.indexOf(required);
}
