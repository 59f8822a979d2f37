import { constants } from 'node:os';

/**
 * The disk, or a quota, has no room. The old file is untouched and nothing is left behind, so the same write
 * may be tried again once there is room.
 */
export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';
  readonly code = 'storage_full';
  readonly path: string;

  constructor(path: string, options?: ErrorOptions) {
    super('There is no room left on the disk to save this change.', options);
    this.path = path;
  }
}

/**
 * A durable write failed for another reason than room. Where `fatal` is true (a failed fsync, or an I/O error
 * of the device) what the disk holds is no longer known: stop changing state and restart, don't try again.
 * Where it is false (no file handle left, folder missing, no permission) the old file is untouched.
 */
export class StorageFailedError extends Error {
  override readonly name = 'StorageFailedError';
  readonly code = 'storage_failed';
  readonly path: string;
  readonly fatal: boolean;

  constructor(path: string, fatal: boolean, options?: ErrorOptions) {
    super(
      fatal
        ? 'The disk failed while this change was being saved.'
        : 'This change could not be saved to the disk.',
      options,
    );
    this.path = path;
    this.fatal = fatal;
  }
}

/** A change was asked of a store that has been closed, as happens while the daemon ends. */
export class StorageClosedError extends Error {
  override readonly name = 'StorageClosedError';
  readonly code = 'shutting_down';

  constructor() {
    super('The service is ending and takes no more changes.');
  }
}

/** The system error code (`ENOSPC`) of what a file call threw, if it has one. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // libuv has no name for a full quota: its `code` is "Unknown system error -122" on Linux.
  if ('errno' in error && error.errno === -constants.errno.EDQUOT) return 'EDQUOT';
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whether a file call failed because the disk, or a quota, has no room. */
export function isOutOfRoom(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(systemErrorCode(error) ?? '');
}

/** What a failed file call on a store means; an error that says so already is kept. An I/O error is fatal. */
export function asStorageError(error: unknown, path: string): StorageFullError | StorageFailedError {
  if (error instanceof StorageFailedError || error instanceof StorageFullError) return error;
  if (isOutOfRoom(error)) return new StorageFullError(path, { cause: error });
  return new StorageFailedError(path, systemErrorCode(error) === 'EIO', { cause: error });
}
