import type { Dialect, ListedColumn, Statement } from '../sql/statements.js';
import type { Bound } from '../sql/values.js';
import type { ColumnType } from '../table.js';

/** Of PostgreSQL: lists are arrays, and rows have the values of their columns as they are parsed. */
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
 * Of a condition with a list PostgreSQL often makes a look at all rows of the organisation: as long as it has not
 * counted them, or for their order. What has an OFFSET is planned for each value by itself, and of two indexes whose
 * first columns are the same the one with that order has the value.
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

/** A value in the text of an array. */
function elementOf(value: Bound): string {
  if (typeof value === 'number') return String(textOf(value));
  const text = value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value);
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

// As text JavaScript drops the sign of -0.
function textOf(value: Bound): Bound {
  return Object.is(value, -0) ? '-0' : value;
}

/**
 * How columns are read. Results come as text, which loses nothing: PostgreSQL writes the shortest decimal that gives a
 * double back, and JavaScript reads it exactly.
 */
export const types = {
  getTypeParser: (oid: number): ((text: string) => unknown) => PARSERS[oid] ?? ((text) => text),
};

const [BOOL, BYTEA, INT8, INT4, OID, FLOAT8] = [16, 17, 20, 23, 26, 701];

const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [BOOL]: (text) => text === 't',
  // After `\x`. An array of its own: small buffers of Node share theirs.
  [BYTEA]: (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex')),
  [INT8]: Number,
  [INT4]: Number,
  [OID]: Number,
  [FLOAT8]: Number,
};
