import * as z from 'zod';
import { ReceiptId, Timestamp, WorkspaceId } from './ids.ts';

export const maxSecretBytes = 65_536;
export const maxSecrets = 1000;
/** Of all values of a workspace together: a system hands a process no more in its environment. */
export const maxStoreBytes = 1024 * 1024;
/** Values of fewer characters are not masked: they would be found everywhere. */
export const minMaskedCharacters = 6;
/** Bytes of a pasted `.env`. */
export const maxEnvTextBytes = 1024 * 1024;

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/**
 * Variables that decide what code a program loads or how a shell works: a secret of that name would be a way to run code
 * in every command.
 */
const refusedNames = new Set(
  [
    'PATH PATHEXT HOME USER LOGNAME SHELL PWD OLDPWD TMPDIR TMP TEMP COMSPEC SYSTEMROOT WINDIR',
    'ENV BASH_ENV BASHOPTS SHELLOPTS IFS PS4 PPID UID EUID GROUPS CDPATH GLOBIGNORE PROMPT_COMMAND ZDOTDIR OPTIND _',
    'NODE_OPTIONS NODE_PATH PYTHONSTARTUP PYTHONHOME PYTHONPATH PERL5LIB PERL5OPT PERL5DB PERLLIB RUBYLIB RUBYOPT',
    'JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH GCONV_PATH GETCONF_DIR HOSTALIASES LOCPATH NLSPATH',
    'MALLOC_TRACE RESOLV_HOST_CONF SERVICE_SECRET_KEY LESSOPEN LESSCLOSE GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_SSH_COMMAND',
  ]
    .join(' ')
    .split(' '),
);
const refusedPrefixes = ['LD_', 'DYLD_', 'BASH_FUNC_', 'GIT_CONFIG_', 'TALLYSTICK_'];

/** Why a name can't be a secret's; undefined where it can. */
export function whyNotSecretName(name: string): string | undefined {
  if (!namePattern.test(name))
    return 'must begin with a letter or _ and go on with letters, digits and _, 128 characters at most';
  const upper = name.toUpperCase();
  if (refusedNames.has(upper) || refusedPrefixes.some((prefix) => upper.startsWith(prefix)))
    return 'is a variable that changes which code programs load or how the shell works';
  return undefined;
}

/** Why a value can't be kept; undefined where it can. */
export function whyNotSecretValue(value: string): string | undefined {
  if (value === '') return 'must not be empty';
  if (value.includes('\0')) return 'must not contain NUL';
  if (!value.isWellFormed()) return 'must be well-formed Unicode';
  if (value.length > maxSecretBytes / 3 && new TextEncoder().encode(value).length > maxSecretBytes)
    return `must be at most ${maxSecretBytes} bytes`;
  return undefined;
}

/** Any name a store can hold; which names may be set is asked where they are set. */
export function isStoredSecretName(name: string): boolean {
  return namePattern.test(name);
}

export const StoredSecretName = z.string().regex(namePattern, 'must be the name of a secret');

export const SecretName = z
  .string()
  .superRefine((name, context) => {
    const message = whyNotSecretName(name);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .meta({ id: 'SecretName' });

export const SecretValue = z
  .string()
  .superRefine((value, context) => {
    const message = whyNotSecretValue(value);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .describe(`1 byte to ${maxSecretBytes} bytes of text without NUL`);

export const SetSecretRequest = z.strictObject({ value: SecretValue }).meta({ id: 'SetSecretRequest' });
export type SetSecretRequest = z.infer<typeof SetSecretRequest>;

export const SecretListing = z
  .object({
    name: z.string(),
    preview: z.string().describe('At most 4 and never more than half of the characters, then ***'),
    updated_at: Timestamp,
  })
  .meta({ id: 'SecretListing' });
export type SecretListing = z.infer<typeof SecretListing>;

export const SetSecret = SecretListing.extend({
  receipt_id: ReceiptId.nullable().describe('null where the value was that already'),
  warning: z.string().optional().describe('For a value that is too short to be masked in output'),
}).meta({ id: 'SetSecret' });
export type SetSecret = z.infer<typeof SetSecret>;

export const RevealedSecret = z
  .object({ name: z.string(), value: z.string(), updated_at: Timestamp })
  .meta({ id: 'RevealedSecret' });
export type RevealedSecret = z.infer<typeof RevealedSecret>;

export const ImportSecretsRequest = z
  .strictObject({
    env: z.string().max(maxEnvTextBytes).describe('Text of a .env file'),
    names: z
      .array(z.string())
      .max(maxSecrets)
      .optional()
      .describe('Only these; default: all that can be set'),
    preview: z.boolean().optional().describe('true: say what would be set, and set nothing'),
  })
  .meta({ id: 'ImportSecretsRequest' });
export type ImportSecretsRequest = z.infer<typeof ImportSecretsRequest>;

export const ImportedSecret = z
  .object({
    name: z.string(),
    step: z.enum(['create', 'update', 'unchanged', 'refused']),
    preview: z.string(),
    detail: z.string().optional().describe('Why it is refused, or a warning'),
  })
  .meta({ id: 'ImportedSecret' });
export type ImportedSecret = z.infer<typeof ImportedSecret>;

export const ImportedSecrets = z
  .object({ secrets: z.array(ImportedSecret), receipt_id: ReceiptId.nullable() })
  .meta({ id: 'ImportedSecrets' });
export type ImportedSecrets = z.infer<typeof ImportedSecrets>;

export const RecoverStoreRequest = z
  .strictObject({
    use: z
      .enum(['copy', 'empty'])
      .describe(
        'What takes the place of the store that can not be opened: the daemon’s own copy, or a new one',
      ),
  })
  .meta({ id: 'RecoverStoreRequest' });
export type RecoverStoreRequest = z.infer<typeof RecoverStoreRequest>;

export const RecoveredStore = z
  .object({
    secrets: z.array(SecretListing),
    receipt_id: ReceiptId.nullable(),
    set_aside: z.string().nullable().describe('Where the old store is now, relative to the workspace'),
  })
  .meta({ id: 'RecoveredStore' });
export type RecoveredStore = z.infer<typeof RecoveredStore>;

/** Members of the problem `secrets_store_damaged`. */
export const DamagedStore = z
  .object({
    reason: z.enum(['unreadable', 'wrong_key_or_altered', 'other_workspace', 'rolled_back']),
    copy: z
      .object({ secrets: z.int(), updated_at: Timestamp.nullable() })
      .nullable()
      .describe('What the daemon’s own copy holds, where it can be opened'),
  })
  .meta({ id: 'DamagedStore' });
export type DamagedStore = z.infer<typeof DamagedStore>;

export const RotatedMaster = z
  .object({
    rotated: z.int().describe('Stores that were encrypted anew'),
    key_id: z.string(),
    pending: z
      .array(z.object({ ws_id: WorkspaceId, slug: z.string() }))
      .describe('Workspaces that could not be reached: the old key is kept until they were opened again'),
  })
  .meta({ id: 'RotatedMaster' });
export type RotatedMaster = z.infer<typeof RotatedMaster>;
