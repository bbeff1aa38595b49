import { StorageError } from '../errors.js';
import type { Condition, Order, Query } from '../storage.js';
import type { Column, Table } from '../table.js';
import type { SqlValue } from './database.js';
import { encode } from './values.js';

/** A statement with what is bound to it. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Text with places for values, put together. */
interface Part {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

const NEVER: Part = { sql: '0', values: [] };

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function insert<Row>(table: Table<Row>, shard: number, row: Row): Statement {
  return writeRow(table, shard, row, 'DO NOTHING');
}

export function put<Row>(table: Table<Row>, shard: number, row: Row): Statement {
  const others = columnNames(table).filter((name) => !table.key.includes(name));
  const changes = others.map((name) => `${quote(name)} = excluded.${quote(name)}`);
  return writeRow(table, shard, row, changes.length === 0 ? 'DO NOTHING' : `DO UPDATE SET ${changes.join(', ')}`);
}

function writeRow<Row>(table: Table<Row>, shard: number, row: Row, onConflict: string): Statement {
  const names = columnNames(table);
  const places = joined([place(shard), ...names.map((name) => encodeColumn(table, name, row[name]))], ', ');
  const sql =
    `INSERT INTO ${quote(table.name)} ("shard", ${names.map(quote).join(', ')}) VALUES (${places.sql}) ` +
    `ON CONFLICT ("shard", ${table.key.map(quote).join(', ')}) ${onConflict}`;
  return { sql, values: places.values };
}

export function update<Row>(
  table: Table<Row>,
  shard: number,
  where: readonly Condition<Row>[],
  changes: Partial<Row>,
): Statement | undefined {
  const names = columnNames(table).filter((name) => changes[name] !== undefined);
  const keyName = names.find((name) => table.key.includes(name));
  if (keyName !== undefined) {
    throw new StorageError(
      'storage.key',
      `${table.name}.${keyName}: a key is not changed; delete the row, insert anew`,
    );
  }
  if (names.length === 0) return undefined;
  const sets = names.map((name) => prefixed(`${quote(name)} = `, encodeColumn(table, name, changes[name])));
  const set = joined(sets, ', ');
  const condition = whereOf(table, shard, where);
  return {
    sql: `UPDATE ${quote(table.name)} SET ${set.sql} WHERE ${condition.sql}`,
    values: [...set.values, ...condition.values],
  };
}

export function remove<Row>(table: Table<Row>, shard: number, where: readonly Condition<Row>[]): Statement {
  const { sql, values } = whereOf(table, shard, where);
  return { sql: `DELETE FROM ${quote(table.name)} WHERE ${sql}`, values };
}

export function count<Row>(table: Table<Row>, shard: number, where: readonly Condition<Row>[]): Statement {
  const { sql, values } = whereOf(table, shard, where);
  return { sql: `SELECT count(*) AS "count" FROM ${quote(table.name)} WHERE ${sql}`, values };
}

export function get<Row>(table: Table<Row>, shard: number, key: Partial<Row>): Statement {
  const missing = table.key.find((name) => key[name] === undefined);
  if (missing !== undefined) {
    const names = table.key.join(', ');
    throw new StorageError('storage.key', `${table.name}: expected the whole key (${names}), received no ${missing}`);
  }
  const conditions = table.key.map((name) => [name, '=', key[name]] as unknown as Condition<Row>);
  const { sql, values } = whereOf(table, shard, conditions);
  return { sql: `SELECT ${selection(table)} FROM ${quote(table.name)} WHERE ${sql}`, values };
}

export function find<Row>(table: Table<Row>, shard: number, query: Query<Row>): Statement {
  const { where = [], orderBy = table.key.map((column): Order<Row> => ({ column })), after, limit } = query;
  const parts = [whereOf(table, shard, where)];
  if (after !== undefined) parts.push(afterOf(table, orderBy, after));
  const condition = joined(parts, ' AND ');
  for (const { column } of orderBy) columnOf(table, column);
  const order = orderBy.map(({ column, isDescending = false }) => `${quote(column)}${isDescending ? ' DESC' : ''}`);
  const sql =
    `SELECT ${selection(table)} FROM ${quote(table.name)} WHERE ${condition.sql}` +
    (order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`);
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new StorageError('storage.value', `${table.name}: expected a limit of 0 or more, received ${limit}`);
  }
  if (limit === undefined) return { sql, values: condition.values };
  return { sql: `${sql} LIMIT ?`, values: [...condition.values, limit] };
}

function whereOf<Row>(table: Table<Row>, shard: number, where: readonly Condition<Row>[]): Part {
  const parts = where.map((condition) => conditionOf(table, condition));
  return joined([{ sql: '"shard" = ?', values: [shard] }, ...parts], ' AND ');
}

function conditionOf<Row>(table: Table<Row>, [name, operator, operand]: Condition<Row>): Part {
  if (operator === 'in') return inOf(table, name, operand);
  const column = quote(name);
  const { isNullable } = columnOf(table, name);
  if (operand === null) {
    if (operator === '=') return { sql: `${column} IS NULL`, values: [] };
    return operator === '!=' ? { sql: `${column} IS NOT NULL`, values: [] } : NEVER;
  }
  const unlike = isNullable ? 'IS NOT' : '<>';
  return prefixed(`${column} ${operator === '!=' ? unlike : operator} `, encodeColumn(table, name, operand));
}

function inOf<Row>(table: Table<Row>, name: keyof Row & string, list: readonly unknown[]): Part {
  const column = quote(name);
  const values = list
    .filter((value) => value !== null)
    .map((value) => encode(table.name, name, columnOf(table, name), value));
  const isNull: Part[] = values.length < list.length ? [{ sql: `${column} IS NULL`, values: [] }] : [];
  const isOne: Part[] = values.length > 0 ? [oneOf(table, name, values)] : [];
  const parts = [...isOne, ...isNull];
  return parts.length === 0 ? NEVER : bracketed(joined(parts, ' OR '));
}

// SQLite's limit of parameters, less some for the rest of the statement.
const PARAMETER_COUNT_MAX = 32_000;
const SHORT_LIST_LENGTH = 8;

/** Lists of any length: as JSON, which is one parameter, where JSON can hold the values exactly. */
function oneOf<Row>(table: Table<Row>, name: keyof Row & string, values: readonly SqlValue[]): Part {
  const column = quote(name);
  const { type } = columnOf(table, name);
  const isJson = type === 'text' || type === 'integer' || type === 'boolean';
  if (isJson && values.length > SHORT_LIST_LENGTH) {
    return { sql: `${column} IN (SELECT "value" FROM json_each(?))`, values: [JSON.stringify(values)] };
  }
  if (values.length > PARAMETER_COUNT_MAX) {
    const expected = `at most ${PARAMETER_COUNT_MAX} values of type ${type} in a list`;
    throw new StorageError('storage.value', `${table.name}.${name}: expected ${expected}, received ${values.length}`);
  }
  const places = joined(values.map(place), ', ');
  return { sql: `${column} IN (${places.sql})`, values: places.values };
}

/** Rows after a place: `c1 > v1 OR c1 = v1 AND (c2 > v2 OR …)`, each column in its own direction. */
function afterOf<Row>(table: Table<Row>, orderBy: readonly Order<Row>[], after: readonly unknown[]): Part {
  if (after.length !== orderBy.length) {
    const expected = `a value for each of the ${orderBy.length} columns of the order`;
    throw new StorageError(
      'storage.key',
      `${table.name}: expected after to have ${expected}, received ${after.length}`,
    );
  }
  const beyond = orderBy.reduceRight<Part>((rest, order, i) => {
    const value = after[i];
    const later = laterThan(table, order, value);
    const equal = conditionOf(table, [order.column, '=', value] as unknown as Condition<Row>);
    if (rest === NEVER) return later;
    const same = joined([equal, bracketed(rest)], ' AND ');
    return later === NEVER ? same : joined([later, same], ' OR ');
  }, NEVER);
  // The bound of the first column follows from the rest; said apart, it lets an index begin there.
  const [first] = orderBy;
  const bound = first === undefined ? undefined : boundOf(table, first, after[0]);
  return bound === undefined ? bracketed(beyond) : joined([bound, bracketed(beyond)], ' AND ');
}

/** Null comes before every value, and last when descending. */
function laterThan<Row>(table: Table<Row>, { column: name, isDescending = false }: Order<Row>, value: unknown): Part {
  const column = quote(name);
  if (value === null) return isDescending ? NEVER : { sql: `${column} IS NOT NULL`, values: [] };
  const bound = encodeColumn(table, name, value);
  if (!isDescending) return prefixed(`${column} > `, bound);
  const less = prefixed(`${column} < `, bound);
  if (!columnOf(table, name).isNullable) return less;
  return bracketed(joined([less, { sql: `${column} IS NULL`, values: [] }], ' OR '));
}

function boundOf<Row>(
  table: Table<Row>,
  { column: name, isDescending = false }: Order<Row>,
  value: unknown,
): Part | undefined {
  if (value === null || (isDescending && columnOf(table, name).isNullable)) return undefined;
  return prefixed(`${quote(name)} ${isDescending ? '<=' : '>='} `, encodeColumn(table, name, value));
}

function joined(parts: readonly Part[], by: string): Part {
  return { sql: parts.map(({ sql }) => sql).join(by), values: parts.flatMap(({ values }) => values) };
}

function prefixed(text: string, { sql, values }: Part): Part {
  return { sql: text + sql, values };
}

function bracketed({ sql, values }: Part): Part {
  return { sql: `(${sql})`, values };
}

function selection<Row>(table: Table<Row>): string {
  return columnNames(table).map(quote).join(', ');
}

export function columnNames<Row>(table: Table<Row>): (keyof Row & string)[] {
  // `as`: a table's columns are the fields of its rows.
  return Object.keys(table.columns) as (keyof Row & string)[];
}

function columnOf<Row>(table: Table<Row>, name: keyof Row & string): Column {
  if (!Object.hasOwn(table.columns, name)) {
    throw new StorageError('storage.key', `${table.name} has no column ${JSON.stringify(name)}`);
  }
  return table.columns[name];
}

function encodeColumn<Row>(table: Table<Row>, name: keyof Row & string, value: unknown): Part {
  return place(encode(table.name, name, columnOf(table, name), value));
}

const TWO_TO_537 = 2 ** 537;

/**
 * A place for a value. SQLite's adapter binds numbers that lie less than 2^-52 above a whole number as that one, and -0
 * as 0; these are put together by SQLite itself, from numbers that it takes as they are.
 */
function place(value: SqlValue): Part {
  if (Object.is(value, -0)) return { sql: '-0.0', values: [] };
  if (typeof value !== 'number' || !(value > 0 && value < Number.EPSILON)) return { sql: '?', values: [value] };
  return { sql: '(? / ? / ?)', values: [value * TWO_TO_537 * TWO_TO_537, TWO_TO_537, TWO_TO_537] };
}
