import type { Dialect, ListedColumn, Statement } from '../sql/statements.js';
import type { Bound } from '../sql/values.js';
import type { ColumnType } from '../table.js';

/** PostgreSQL: lists are bound as arrays, and values arrive parsed to the types of their columns. */
export const postgres: Dialect = {
  place: (value, values) => {
    values.push(textOf(value));
    return '?';
  },
  oneOf,
  oneOfRows,
  eachOf,
  // By a row's place the server finds it without an index, and a statement sees the places of all rows at its start.
  placedIn: {
    column: 'ctid',
    rowsOf: ({ sql, values }) => ({ sql: `ctid = ANY (ARRAY(SELECT ctid FROM ${sql}))`, values }),
  },
  // `as`: the statement selected the columns of this table, and the parsers below gave them their types.
  decodeRows: <Row>(_: unknown, rows: Record<string, unknown>[]) => rows as Row[],
};

const ARRAY_TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'text',
  integer: 'int8',
  real: 'float8',
  boolean: 'bool',
  bytes: 'bytea',
};

function oneOf(column: string, type: ColumnType, values: readonly Bound[]): Statement {
  return { sql: `${column} = ANY (?::${ARRAY_TYPES[type]}[])`, values: [arrayOf(values)] };
}

function oneOfRows(lists: readonly ListedColumn[]): Statement {
  const { arrays, values } = arraysOf(lists);
  return { sql: `(${lists.map(({ column }) => column).join(', ')}) IN (SELECT * FROM unnest(${arrays}))`, values };
}

/**
 * PostgreSQL often turns a condition with a list into a scan of all rows of the organisation: before the table is
 * analysed, or to get the order. With OFFSET it plans each place separately, and with ORDER BY it picks, of two
 * indexes with the same first columns, the one that has the values.
 */
function eachOf(lists: readonly ListedColumn[], columns: string, table: string, condition: Statement): Statement {
  const { arrays, values } = arraysOf(lists);
  const names = lists.map((_, i) => `"listed${i}"`);
  const last = lists.length - 1;
  // An order by a column that equals something would be dropped.
  const matches = lists.map(({ column }, i) =>
    i < last
      ? `${column} = "list".${names[i]}`
      : `${column} >= "list".${names[i]} AND ${column} <= "list".${names[i]} ORDER BY ${column}`,
  );
  return {
    sql: `unnest(${arrays}) AS "list" (${names.join(', ')}) CROSS JOIN LATERAL
      (SELECT ${columns} FROM ${table} WHERE ${condition.sql} AND ${matches.join(' AND ')} OFFSET 0) AS "found"`,
    values: [...values, ...condition.values],
  };
}

function arraysOf(lists: readonly ListedColumn[]) {
  return {
    arrays: lists.map(({ type }) => `?::${ARRAY_TYPES[type]}[]`).join(', '),
    values: lists.map(({ values }) => arrayOf(values)),
  };
}

function arrayOf(values: readonly Bound[]): string {
  return `{${values.map(elementOf).join(',')}}`;
}

/** A value as an element of an array literal. */
function elementOf(value: Bound): string {
  if (typeof value === 'number') return String(textOf(value));
  const text = value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value);
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

// JavaScript drops the sign of -0 in text.
function textOf(value: Bound): Bound {
  return Object.is(value, -0) ? '-0' : value;
}

/**
 * How columns are parsed. Results are text, which is lossless: PostgreSQL writes the shortest decimal that restores a
 * double, and JavaScript reads it exactly.
 */
export const types = {
  getTypeParser: (oid: number): ((text: string) => unknown) => PARSERS[oid] ?? ((text) => text),
};

const [BOOL, BYTEA, INT8, INT4, OID, FLOAT8] = [16, 17, 20, 23, 26, 701];

const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [BOOL]: (text) => text === 't',
  // After `\x`. Copied, since Node's small buffers share one ArrayBuffer.
  [BYTEA]: (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex')),
  [INT8]: Number,
  [INT4]: Number,
  [OID]: Number,
  [FLOAT8]: Number,
};
