import { type ErrorCode, WindrowError } from '../core/errors.js';

/** An error of the store. */
export class StorageError extends WindrowError {
  override name = 'StorageError';
}

/** Whether the store refuses what it may take later, rather than our own code fails. */
export function isRefusal(error: unknown): error is StorageError {
  return error instanceof StorageError && REFUSALS.has(error.code);
}

const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'storage.failed',
  'storage.full',
  'storage.locked',
  'storage.newer',
  'storage.unknown',
]);

/** The disk is full: nothing was written. Reads still work. */
export class StorageFullError extends StorageError {
  override name = 'StorageFullError';
  /** In words, after which "still work" can stand. */
  readonly stillWorks: string;

  constructor(message: string, stillWorks: 'reads' | 'reads, tokens and deletions', options?: { cause?: unknown }) {
    super('storage.full', message, options);
    this.stillWorks = stillWorks;
  }
}

/** The store was lost during a commit: it took effect as a whole or not at all, but which of the two is not known. */
export class UnknownCommitError extends StorageError {
  override name = 'UnknownCommitError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('storage.unknown', message, options);
  }
}

/** Another owner has the claim now: nothing was written. */
export class StaleClaimError extends StorageError {
  override name = 'StaleClaimError';

  constructor(message: string) {
    super('storage.claim', message);
  }
}

/** Stored samples differ from what was written, most likely by a flipped bit. */
export class DamagedSamplesError extends StorageError {
  override name = 'DamagedSamplesError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('storage.damaged', message, options);
  }
}

/** A row with this key exists. */
export class DuplicateKeyError extends StorageError {
  override name = 'DuplicateKeyError';
  readonly table: string;

  constructor(table: string, message: string) {
    super('storage.duplicate', message);
    this.table = table;
  }
}
