import { StorageError } from '../errors.js';
import type { Dialect, ListedColumn, Statement } from '../sql/statements.js';
import type { Bound } from '../sql/values.js';
import type { Column, ColumnType, Table } from '../table.js';

// SQLite's limit of parameters, minus some for the rest of the statement.
const PARAMETER_COUNT_MAX = 32_000;
const SHORT_LIST_LENGTH = 8;
const TWO_TO_537 = 2 ** 537;

export const sqlite: Dialect = { place, oneOf, oneOfRows, decodeRows };

/**
 * The adapter binds positive numbers below 2^-52 as 0, and -0 as 0. SQLite itself computes these from numbers that the
 * adapter binds exactly.
 */
function place(value: Bound, values: Bound[]): string {
  if (Object.is(value, -0)) return '-0.0';
  if (typeof value !== 'number' || !(value > 0 && value < Number.EPSILON)) {
    values.push(value);
    return '?';
  }
  values.push(value * TWO_TO_537 * TWO_TO_537, TWO_TO_537, TWO_TO_537);
  return '(? / ? / ?)';
}

/** Binds a list as JSON, one parameter for any length, if JSON holds its values exactly. */
function oneOf(column: string, type: ColumnType, values: readonly Bound[]): Statement {
  const isJson = type === 'text' || type === 'integer' || type === 'boolean';
  if (isJson && values.length > SHORT_LIST_LENGTH) {
    return { sql: `${column} IN (SELECT "value" FROM json_each(?))`, values: [JSON.stringify(values)] };
  }
  if (values.length > PARAMETER_COUNT_MAX) {
    const expected = `at most ${PARAMETER_COUNT_MAX} values of type ${type} in a list`;
    throw new StorageError('storage.value', `${column}: expected ${expected}, received ${values.length}`);
  }
  const bound: Bound[] = [];
  const places = values.map((value) => place(value, bound));
  return { sql: `${column} IN (${places.join(', ')})`, values: bound };
}

/** Binds the rows as JSON, one parameter for any number of them. */
function oneOfRows(lists: readonly ListedColumn[]): Statement {
  const columns = lists.map(({ column }) => column).join(', ');
  const fields = lists.map((_, i) => `"value" ->> ${i}`).join(', ');
  const rows = lists[0]!.values.map((_, at) => lists.map(({ values }) => values[at]));
  return { sql: `(${columns}) IN (SELECT ${fields} FROM json_each(?))`, values: [JSON.stringify(rows)] };
}

/** Converts the columns of SQLite's rows to their types, in place. */
export function decodeRows<Row>(table: Table<Row>, rows: Record<string, unknown>[]): Row[] {
  const names = booleansOf(table);
  if (names.length > 0) {
    for (const row of rows) {
      for (const name of names) if (row[name] !== null) row[name] = row[name] !== 0;
    }
  }
  // `as`: the statement selected the columns of this table.
  return rows as Row[];
}

const booleansOfTables = new WeakMap<object, readonly string[]>();

function booleansOf<Row>(table: Table<Row>): readonly string[] {
  const known = booleansOfTables.get(table);
  if (known !== undefined) return known;
  const columns = Object.entries<Column>(table.columns);
  const names = columns.filter(([, { type }]) => type === 'boolean').map(([name]) => name);
  booleansOfTables.set(table, names);
  return names;
}
