import type { SecretListing } from '../contract/secrets.ts';
import type { StoreContents } from './store-format.ts';

/** The first characters of a value: at most four, and never more than half of it, so that it gives little away. */
export function previewOf(value: string): string {
  const characters = Array.from(value.slice(0, 16));
  const half = Math.floor((value.length < 16 ? characters.length : 16) / 2);
  return `${characters.slice(0, Math.min(4, half)).join('')}***`;
}

/** Secrets as they are listed: by name, without their values. */
export function listingOf(secrets: StoreContents['secrets']): SecretListing[] {
  return [...secrets]
    .map(([name, { value, updated_at }]) => ({ name, preview: previewOf(value), updated_at }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
