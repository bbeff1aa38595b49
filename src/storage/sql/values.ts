import { describeValue } from '../../core/errors.js';
import { StorageError } from '../errors.js';
import type { Column } from '../table.js';

/** A value as bound to a statement; a boolean is 1 or 0. */
export type Bound = string | number | Uint8Array | null;

/** Checks a column's value and encodes it for binding. */
export function encode(table: string, name: string, column: Column, value: unknown): Bound {
  if (value === null) {
    if (column.isNullable) return null;
    throw unfit(table, name, `a value (${column.type})`, 'null');
  }
  switch (column.type) {
    case 'text':
      if (typeof value === 'string') return encodeText(table, name, value);
      break;
    case 'integer':
      // `+ 0` turns -0, which an integer column does not have, into 0.
      if (Number.isSafeInteger(value)) return Number(value) + 0;
      break;
    case 'real':
      if (typeof value === 'number' && !Number.isNaN(value)) return value;
      break;
    case 'boolean':
      if (typeof value === 'boolean') return value ? 1 : 0;
      break;
    case 'bytes':
      if (value instanceof Uint8Array) return value;
      break;
  }
  throw unfit(table, name, EXPECTED[column.type], describeValue(value));
}

const EXPECTED = {
  text: 'text',
  integer: 'a whole number within ±(2^53 - 1)',
  real: 'a number other than NaN',
  boolean: 'true or false',
  bytes: 'a Uint8Array',
} as const;

// Databases end text at NUL, and lone surrogates have no UTF-8.
const SUSPECT = /[\0\ud800-\udfff]/;
const UNFIT = /[\0\p{Surrogate}]/u;

function encodeText(table: string, name: string, text: string): string {
  const place = SUSPECT.test(text) ? text.search(UNFIT) : -1;
  if (place >= 0) {
    const found = text[place] === '\0' ? 'NUL (U+0000)' : 'a lone surrogate';
    throw unfit(table, name, 'text without NUL and lone surrogates', `${found} at index ${place}`);
  }
  return text;
}

function unfit(table: string, name: string, expected: string, received: string): StorageError {
  return new StorageError('storage.value', `${table}.${name}: expected ${expected}, received ${received}`);
}
