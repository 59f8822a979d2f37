import * as z from 'zod';
import { ReceiptId, Timestamp } from './ids.ts';
import { maxPathLength } from './projects.ts';
import { Command, SecretNames, TimeoutSeconds } from './shell.ts';

/** Jobs on remote hosts that one workspace may have under way. */
export const maxSshJobs = 4;
/** Bytes of a file that can be pulled. */
export const maxPullBytes = 50 * 1024 * 1024;
export const maxHostLength = 255;

/** An alias of the SSH client configuration, as it stands there. */
export const SshAlias = z
  .string()
  .min(1)
  .max(maxHostLength)
  .refine((host) => !/[\s\0]/.test(host), 'must be an alias of the SSH configuration')
  .meta({ id: 'SshAlias' });

export const SshHost = z
  .object({
    host: z.string().describe('The alias'),
    user: z.string(),
    hostname: z.string(),
    port: z.int(),
    proxy_jump: z.array(z.string()).describe('The hosts on the way, first hop first'),
    supported: z.boolean(),
    reason: z.string().nullable().describe('Why it can not be used, and what to do; null where it can'),
  })
  .meta({ id: 'SshHost' });
export type SshHost = z.infer<typeof SshHost>;

export const SshRunRequest = z
  .strictObject({
    host: SshAlias,
    cmd: Command.describe('A command line for the login shell of the host’s user'),
    timeout: TimeoutSeconds.optional(),
    secrets: SecretNames.optional().describe(
      'Names of the secrets that the command gets in its environment; default: none',
    ),
  })
  .meta({ id: 'SshRunRequest' });
export type SshRunRequest = z.infer<typeof SshRunRequest>;

export const SshPullRequest = z
  .strictObject({
    host: SshAlias,
    remote_path: z
      .string()
      .min(1)
      .max(maxPathLength)
      .refine((path) => !path.includes('\0'), 'must not contain NUL')
      .describe('Absolute, or relative to the home folder of the host’s user; never read by a shell'),
  })
  .meta({ id: 'SshPullRequest' });
export type SshPullRequest = z.infer<typeof SshPullRequest>;

export const PulledFile = z
  .object({
    path: z.string().describe('In the workspace: pulled/<host>/<basename>'),
    size: z.int(),
    sha256: z.string().describe('64 lowercase hexadecimal digits'),
    receipt_id: ReceiptId.nullable().describe('null where the file had this content already'),
  })
  .meta({ id: 'PulledFile' });
export type PulledFile = z.infer<typeof PulledFile>;

/** Members of the problems `ssh_host_key_unknown`, `ssh_host_key_changed` and `ssh_host_key_revoked`. */
export const SshHostKey = z
  .object({
    host: z.string().describe('The alias asked for'),
    hop: z.string().describe('The host whose key it is: the alias itself, or a host on the way'),
    hostname: z.string(),
    port: z.int(),
    key_type: z.string(),
    fingerprint: z.string().describe('As ssh-keygen -lf prints it: SHA256:…'),
    known_fingerprints: z.array(z.string()).describe('Of the keys that are known for this host'),
  })
  .meta({ id: 'SshHostKey' });
export type SshHostKey = z.infer<typeof SshHostKey>;

export const AcceptHostKeyRequest = z
  .strictObject({
    hop: z.string().max(maxHostLength).optional().describe('Default: the host itself'),
    fingerprint: z.string().regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'must be as ssh-keygen -lf prints it'),
  })
  .meta({ id: 'AcceptHostKeyRequest' });
export type AcceptHostKeyRequest = z.infer<typeof AcceptHostKeyRequest>;

export const AcceptedHostKey = z
  .object({
    hostname: z.string(),
    port: z.int(),
    key_type: z.string(),
    fingerprint: z.string(),
    accepted_at: Timestamp,
  })
  .meta({ id: 'AcceptedHostKey' });
export type AcceptedHostKey = z.infer<typeof AcceptedHostKey>;

export const SshTest = z
  .object({
    connected_ms: z.number().describe('What connecting and signing in took'),
    server: z.string().describe('What the server says it is'),
    key_type: z.string(),
    fingerprint: z.string(),
  })
  .meta({ id: 'SshTest' });
export type SshTest = z.infer<typeof SshTest>;
