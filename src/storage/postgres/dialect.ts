import type { Dialect, ListedColumn, Statement } from '../sql/statements.js';
import type { Bound } from '../sql/values.js';
import type { ColumnType } from '../table.js';

/** PostgreSQL: lists are bound as arrays, and values arrive parsed to the types of their columns. */
export const postgres: Dialect = {
  place: (value) => ({ sql: '?', values: [textOf(value)] }),
  oneOf,
  eachOf,
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

/**
 * PostgreSQL often turns a condition with a list into a scan of all rows of the organisation: before the table is
 * analysed, or to get the order. With OFFSET it plans each value separately, and with ORDER BY it picks, of two
 * indexes with the same first columns, the one that has the value.
 */
function eachOf({ column, type, values }: ListedColumn, table: string, condition: Statement): Statement {
  return {
    sql: `unnest(?::${ARRAY_TYPES[type]}[]) AS "list" ("listed") CROSS JOIN LATERAL
      (SELECT * FROM ${table} WHERE ${condition.sql} AND ${column} >= "list"."listed" AND ${column} <= "list"."listed"
        ORDER BY ${column} OFFSET 0) AS "found"`,
    values: [arrayOf(values), ...condition.values],
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
