import { canonicalAddress } from './canonical-address.ts';
import { expandTokens } from './expand-tokens.ts';
import { lowercase } from './line-words.ts';
import type { Settings } from './settings.ts';

/**
 * The name or address to connect to, as ssh writes it.
 *
 * @throws Error where a token is wrong, or only the DNS could tell
 */
export function finalHostname(alias: string, settings: Readonly<Partial<Settings>>): string {
  const hostname = expandHostname(alias, settings.hostname);
  const address = canonicalAddress(hostname);
  if (address !== null) return address;
  if (asksDns(hostname, settings))
    throw new Error('the name can only be completed by asking the DNS (CanonicalizeHostname)');
  return lowercase(hostname);
}

/** @throws Error for another token than %h and %% */
export function expandHostname(alias: string, written: string | undefined): string {
  return written === undefined ? alias : expandTokens(written, { h: alias });
}

function asksDns(hostname: string, settings: Readonly<Partial<Settings>>): boolean {
  const { canonicalizeHostname = 'no', canonicalizeMaxDots = 1 } = settings;
  const { canonicalDomains = [], permittedCnames = [], proxyJump = [], proxyCommand = 'none' } = settings;
  const isDirect = proxyJump.length === 0 && proxyCommand.toLowerCase() === 'none';
  const isWanted = canonicalizeHostname === 'always' || (isDirect && canonicalizeHostname === 'yes');
  const dots = hostname.split('.').length - 1;
  if (isWanted && dots <= canonicalizeMaxDots && canonicalDomains.some(isNamed)) return true;
  return (isDirect || canonicalizeHostname === 'always') && permittedCnames.some(isNamed);
}

function isNamed(value: string): boolean {
  return value.toLowerCase() !== 'none';
}
