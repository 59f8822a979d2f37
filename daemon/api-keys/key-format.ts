import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { KeyEnvironment } from '../contract/daemon.ts';
import { encodeBase62, randomBase62 } from '../lib/ids.ts';

const prefix = 'tly';
const secretLength = 30;
const checkLength = 6;
const shape = new RegExp(`^${prefix}_(live|test)_[0-9A-Za-z]{${secretLength + checkLength}}$`);
const previewLength = 12;

/** `tly_<live|test>_<30 base62><6 base62>`: 178 random bits, and the CRC-32 of what precedes it. */
export function newKey(env: KeyEnvironment): string {
  const body = `${prefix}_${env}_${randomBase62(secretLength)}`;
  return body + checkOf(body);
}

/** The environment of a well-formed key; undefined for anything else, a mistyped key included. */
export function readKeyEnvironment(key: string): KeyEnvironment | undefined {
  const match = shape.exec(key);
  if (match === null) return undefined;
  const body = key.slice(0, -checkLength);
  return key.endsWith(checkOf(body)) ? KeyEnvironment.parse(match[1]) : undefined;
}

/** Lowercase hex of the SHA-256 of the whole key: all of it that is ever stored. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

export function previewKey(key: string): string {
  return `${key.slice(0, previewLength)}***`;
}

function checkOf(body: string): string {
  return encodeBase62(crc32(body), checkLength);
}
