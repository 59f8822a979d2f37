import * as z from 'zod';

const crockford = '[0-9a-hjkmnp-tv-z]{16}';

function idSchema<Brand extends string>(prefix: string, brand: Brand) {
  return z
    .string()
    .regex(
      new RegExp(`^${prefix}_${crockford}$`),
      `must be ${prefix}_ and 16 lowercase Crockford base32 characters`,
    )
    .brand<Brand>()
    .meta({ id: brand });
}

export const WorkspaceId = idSchema('ws', 'WorkspaceId');
export type WorkspaceId = z.infer<typeof WorkspaceId>;

export const UserId = idSchema('u', 'UserId');
export type UserId = z.infer<typeof UserId>;

export const JobId = idSchema('j', 'JobId');
export type JobId = z.infer<typeof JobId>;

export const KeyId = idSchema('key', 'KeyId');
export type KeyId = z.infer<typeof KeyId>;

export const SessionId = idSchema('ses', 'SessionId');
export type SessionId = z.infer<typeof SessionId>;

export const RunId = idSchema('run', 'RunId');
export type RunId = z.infer<typeof RunId>;

export const SnapshotId = idSchema('snap', 'SnapshotId');
export type SnapshotId = z.infer<typeof SnapshotId>;

/** `rcpt_<YYYYMMDD>_<8-digit position><4 hex>`: names sort in chain order. */
export const ReceiptId = z
  .string()
  .regex(/^rcpt_\d{8}_\d{8}[0-9a-f]{4}$/, 'must be rcpt_, a date, _ and 12 characters')
  .brand<'ReceiptId'>()
  .meta({ id: 'ReceiptId' });
export type ReceiptId = z.infer<typeof ReceiptId>;

/** ISO 8601, UTC, milliseconds, `Z`. */
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({ id: 'Timestamp' });
