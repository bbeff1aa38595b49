import { WindrowError } from '../core/errors.js';

/** What a store can not do, or not now. */
export class StorageError extends WindrowError {}

/** The disk is full: nothing was written, and reading goes on. */
export class StorageFullError extends StorageError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('storage.full', message, options);
  }
}

/** The claim has passed on to another owner: nothing was written. */
export class StaleClaimError extends StorageError {
  constructor(message: string) {
    super('storage.claim', message);
  }
}

/** What is stored of some samples is not what was written: a bit has flipped on its way, most likely. */
export class DamagedSamplesError extends StorageError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('storage.damaged', message, options);
  }
}

/** There is a row of this key. */
export class DuplicateKeyError extends StorageError {
  readonly table: string;

  constructor(table: string, message: string) {
    super('storage.duplicate', message);
    this.table = table;
  }
}
