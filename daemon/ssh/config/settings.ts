import { parseJump, type WrittenHop } from './jump-hops.ts';
import type { Entry } from './parse-file.ts';
import * as value from './setting-values.ts';

/** The settings that matter here, as they are written: tokens stand as they are. */
export interface Settings {
  user: string;
  hostname: string;
  port: number;
  identityFiles: readonly WrittenIdentity[];
  identitiesOnly: boolean;
  identityAgent: string;
  /** Empty: ProxyJump none. */
  proxyJump: readonly WrittenHop[];
  proxyCommand: string;
  knownHostsCommand: string;
  userKnownHostsFiles: readonly string[];
  globalKnownHostsFiles: readonly string[];
  revokedHostKeys: string;
  hostKeyAlias: string;
  /** Seconds; -1 for none. */
  connectTimeout: number;
  serverAliveInterval: number;
  serverAliveCountMax: number;
  pubkeyAuthentication: boolean;
  preferredAuthentications: string;
  canonicalizeHostname: 'no' | 'yes' | 'always';
  canonicalDomains: readonly string[];
  canonicalizeMaxDots: number;
  permittedCnames: readonly string[];
  pkcs11Provider: string;
  tag: string;
}

export interface WrittenIdentity {
  readonly path: string;
  readonly isUser: boolean;
}

const maxIdentityFiles = 100;
const noTime = -1;

const keywords: ReadonlyMap<string, keyof Settings> = new Map([
  ['user', 'user'],
  ['hostname', 'hostname'],
  ['port', 'port'],
  ['identityfile', 'identityFiles'],
  ['identityfile2', 'identityFiles'],
  ['identitiesonly', 'identitiesOnly'],
  ['identityagent', 'identityAgent'],
  ['proxyjump', 'proxyJump'],
  ['proxycommand', 'proxyCommand'],
  ['knownhostscommand', 'knownHostsCommand'],
  ['userknownhostsfile', 'userKnownHostsFiles'],
  ['globalknownhostsfile', 'globalKnownHostsFiles'],
  ['revokedhostkeys', 'revokedHostKeys'],
  ['hostkeyalias', 'hostKeyAlias'],
  ['connecttimeout', 'connectTimeout'],
  ['serveraliveinterval', 'serverAliveInterval'],
  ['serveralivecountmax', 'serverAliveCountMax'],
  ['pubkeyauthentication', 'pubkeyAuthentication'],
  ['dsaauthentication', 'pubkeyAuthentication'],
  ['preferredauthentications', 'preferredAuthentications'],
  ['canonicalizehostname', 'canonicalizeHostname'],
  ['canonicaldomains', 'canonicalDomains'],
  ['canonicalizemaxdots', 'canonicalizeMaxDots'],
  ['canonicalizepermittedcnames', 'permittedCnames'],
  ['pkcs11provider', 'pkcs11Provider'],
  ['smartcarddevice', 'pkcs11Provider'],
  ['tag', 'tag'],
]);

const readers: { readonly [Key in keyof Settings]: (entry: Entry) => Settings[Key] } = {
  user: value.word,
  hostname: value.word,
  port: value.port,
  identityFiles: (entry) => [{ path: value.word(entry), isUser: true }],
  identitiesOnly: value.flag,
  identityAgent: value.agent,
  proxyJump: (entry) => parseJump(value.remainder(entry)),
  proxyCommand: value.remainder,
  knownHostsCommand: value.remainder,
  userKnownHostsFiles: value.files,
  globalKnownHostsFiles: value.files,
  revokedHostKeys: value.word,
  hostKeyAlias: value.word,
  connectTimeout: value.duration,
  serverAliveInterval: value.duration,
  serverAliveCountMax: value.integer,
  pubkeyAuthentication: (entry) => value.choice(entry, value.publicKeyChoices),
  preferredAuthentications: value.word,
  canonicalizeHostname: (entry) => value.choice(entry, value.canonicalizeChoices),
  canonicalDomains: value.files,
  canonicalizeMaxDots: value.integer,
  permittedCnames: value.files,
  pkcs11Provider: value.word,
  tag: value.word,
};

/** Whether a line would change what has been gathered so far: for most settings, the first value wins. */
export function wouldSet(settings: Partial<Settings>, entry: Entry): boolean {
  const key = keywords.get(entry.keyword);
  if (key === undefined) return false;
  if (key === 'identityFiles') return true;
  // Of ProxyJump and ProxyCommand, the one that comes first rules the other out; ProxyJump none rules out no command.
  if (key === 'proxyJump' && settings.proxyCommand !== undefined) return false;
  if (key === 'proxyCommand' && settings.proxyJump !== undefined && settings.proxyJump.length > 0)
    return false;
  // A time of none is no value obtained: ssh goes on looking.
  return settings[key] === undefined || settings[key] === noTime;
}

/** Whether a line only matters to a host that has no other key, which is unsupported with it and without. */
export function isLastResort(entry: Entry): boolean {
  return keywords.get(entry.keyword) === 'pkcs11Provider';
}

/**
 * Takes a line that applies into account. Keywords that do not matter here are passed over, unknown ones too.
 *
 * @throws Error where ssh would refuse the line, saying why
 */
export function applyEntry(settings: Partial<Settings>, entry: Entry, isUser: boolean): void {
  const key = keywords.get(entry.keyword);
  if (key === undefined) return;
  if (key === 'identityFiles') addIdentity(settings, { path: value.word(entry), isUser });
  else setFirst(settings, key, entry);
}

function setFirst<Key extends keyof Settings>(settings: Partial<Settings>, key: Key, entry: Entry): void {
  const read = readers[key](entry);
  // Only a comment behind the keyword: ssh takes it for no value at all.
  if (entry.words?.length === 0) return;
  if (wouldSet(settings, entry)) settings[key] = read;
}

function addIdentity(settings: Partial<Settings>, identity: WrittenIdentity): void {
  const { identityFiles = [] } = settings;
  if (identityFiles.some(({ path, isUser }) => path === identity.path && isUser === identity.isUser)) return;
  if (identityFiles.length >= maxIdentityFiles)
    throw new Error(`more than ${maxIdentityFiles} identity files`);
  settings.identityFiles = [...identityFiles, identity];
}
