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

/** ISO 8601, UTC, milliseconds, `Z`. */
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({ id: 'Timestamp' });
