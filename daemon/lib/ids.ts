import { randomBytes, randomInt } from 'node:crypto';

const crockford = '0123456789abcdefghjkmnpqrstvwxyz';
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `<prefix>_` and 16 lowercase Crockford base32 characters: 80 bits from the system's CSPRNG. */
export function newId(prefix: string): string {
  let id = `${prefix}_`;
  // A byte's low five bits are uniform, so no value is favoured.
  for (const byte of takeRandom(16)) id += crockford[byte & 31];
  return id;
}

let pool = Buffer.alloc(0);

/** Random bytes from the system's CSPRNG; a call of it for every few bytes would cost more than all the rest of an id. */
export function takeRandom(bytes: number): Buffer {
  if (pool.length < bytes) pool = randomBytes(Math.max(bytes, 4096));
  const taken = pool.subarray(0, bytes);
  pool = pool.subarray(bytes);
  return taken;
}

/** `length` base62 characters from the system's CSPRNG, each uniform. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => base62[randomInt(base62.length)]).join('');
}

/** A non-negative integer in base62, padded with `0` to `width` characters. */
export function encodeBase62(value: number, width: number): string {
  let digits = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) digits = base62[rest % 62] + digits;
  return digits.padStart(width, '0');
}
