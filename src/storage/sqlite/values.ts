import { describeValue } from '../../core/errors.js';
import { StorageError } from '../errors.js';
import type { Column, Table } from '../table.js';
import type { SqlRow, SqlValue } from './database.js';

/** A value as SQLite keeps it. */
export function encode(table: string, name: string, column: Column, value: unknown): SqlValue {
  if (value === null) {
    if (column.isNullable) return null;
    throw unfit(table, name, `a value (${column.type})`, 'null');
  }
  switch (column.type) {
    case 'text':
      if (typeof value === 'string') return encodeText(table, name, value);
      break;
    case 'integer':
      // `+ 0` makes of -0, which an integer does not have, 0.
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

// SQLite (and PostgreSQL more so) ends text at NUL, and halves of surrogate pairs have no UTF-8.
const SUSPECT = /[\0\ud800-\udfff]/;
const UNFIT = /[\0\p{Surrogate}]/u;
const BYTE_ORDER_MARK = '\ufeff';
// The decoder of node-sqlite3-wasm takes a byte order mark off text of more than 16 bytes. Text that begins with one
// is kept with six more before it: so it is always longer, loses one or none, and keeps its place in the order.
const MARKS = BYTE_ORDER_MARK.repeat(6);

function encodeText(table: string, name: string, text: string): string {
  const place = SUSPECT.test(text) ? text.search(UNFIT) : -1;
  if (place >= 0) {
    const found = text[place] === '\0' ? 'NUL (U+0000)' : 'half of a surrogate pair';
    throw unfit(table, name, 'text of whole Unicode characters other than NUL', `${found} at index ${place}`);
  }
  return text.startsWith(BYTE_ORDER_MARK) ? MARKS + text : text;
}

/**
 * Gives rows as SQLite has them the values of their columns, in place.
 *
 * @param losesMark whether the adapter takes one byte order mark off long text.
 */
export function decodeRows<Row>(table: Table<Row>, rows: SqlRow[], losesMark: boolean): Row[] {
  const { booleans, integers, texts } = columnsByType(table);
  for (const row of rows) {
    for (const name of booleans) if (row[name] !== null) setField(row, name, row[name] !== 0 && row[name] !== 0n);
    for (const name of integers) if (typeof row[name] === 'bigint') row[name] = Number(row[name]);
    for (const name of texts) {
      const text = row[name];
      if (typeof text === 'string' && text.startsWith(BYTE_ORDER_MARK)) {
        row[name] = text.slice(losesMark ? MARKS.length - 1 : MARKS.length);
      }
    }
  }
  // `as`: the statement selected the columns of this table.
  return rows as Row[];
}

function setField(row: Record<string, unknown>, name: string, value: boolean): void {
  row[name] = value;
}

interface ColumnNames {
  readonly booleans: readonly string[];
  readonly integers: readonly string[];
  readonly texts: readonly string[];
}

const namesOfTables = new WeakMap<object, ColumnNames>();

function columnsByType<Row>(table: Table<Row>): ColumnNames {
  const known = namesOfTables.get(table);
  if (known !== undefined) return known;
  const columns = Object.entries<Column>(table.columns);
  const ofType = (types: readonly string[]) =>
    columns.filter(([, { type }]) => types.includes(type)).map(([name]) => name);
  // Reals that are whole can be kept as integers.
  const names = { booleans: ofType(['boolean']), integers: ofType(['integer', 'real']), texts: ofType(['text']) };
  namesOfTables.set(table, names);
  return names;
}

function unfit(table: string, name: string, expected: string, received: string): StorageError {
  return new StorageError('storage.value', `${table}.${name}: expected ${expected}, received ${received}`);
}
