import { StorageError } from '../errors.js';
import type { Condition, Order, Query } from '../storage.js';
import type { Column, ColumnType, Table } from '../table.js';
import { type Bound, encode } from './values.js';

/** A statement, or a part of one: SQL with a `?` for each value bound to it. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly Bound[];
}

/** How the SQL of databases differs. */
export interface Dialect {
  /** Adds a value to those bound to a statement; returns its SQL, mostly a `?`. */
  place(value: Bound, values: Bound[]): string;
  /** The condition that a column has one of the values, of which there may be many. */
  oneOf(column: string, type: ColumnType, values: readonly Bound[]): Statement;
  /** The condition that the columns have the values at one same place in their lists: text, integers or booleans. */
  oneOfRows(lists: readonly ListedColumn[]): Statement;
  /**
   * The FROM clause for the `columns` of the rows that have the values at one same place in the lists; no two places
   * are the same, and each is looked up separately. Without it, the condition with the lists is used.
   */
  eachOf?(lists: readonly ListedColumn[], columns: string, table: string, condition: Statement): Statement;
  /** The condition that finds the rows of this FROM clause, of the column that is the row's place in its table. */
  placedIn?: { readonly column: string; rowsOf(from: Statement): Statement };
  /** Decodes the column values of the adapter's rows, possibly in place. */
  decodeRows<Row>(table: Table<Row>, rows: Record<string, unknown>[]): Row[];
}

export interface ListedColumn {
  /** Quoted. */
  readonly column: string;
  readonly type: ColumnType;
  readonly values: readonly Bound[];
}

/** The table and shard of a statement. */
export interface Target<Row> {
  readonly dialect: Dialect;
  readonly table: Table<Row>;
  readonly shard: number;
}

const NEVER: Statement = { sql: 'FALSE', values: [] };

export function quote(name: string): string {
  return name.includes('"') ? `"${name.replaceAll('"', '""')}"` : `"${name}"`;
}

export function insert<Row>(target: Target<Row>, row: Row): Statement {
  return writeRow(target, row, 'insert');
}

/** An insert that fails if the key exists, where `insert` inserts nothing. */
export function append<Row>(target: Target<Row>, row: Row): Statement {
  return writeRow(target, row, 'append');
}

export function put<Row>(target: Target<Row>, row: Row): Statement {
  return writeRow(target, row, 'put');
}

function writeRow<Row>({ dialect, table, shard }: Target<Row>, row: Row, how: Write): Statement {
  const { names, insertHead, tails, usual } = textsOf(table);
  const values: Bound[] = [shard];
  const places = names.map((name) => dialect.place(encode(table.name, name, table.columns[name], row[name]), values));
  const isUsual = places.every((place) => place === '?');
  return { sql: isUsual ? usual[how] : `${insertHead}?, ${places.join(', ')}${tails[how]}`, values };
}

/** How a row is written; the names are those of the functions above. */
type Write = 'insert' | 'append' | 'put';

/** The constant parts of a table's statements, built once, as there are thousands of statements a second. */
interface Texts<Row> {
  readonly names: readonly (keyof Row & string)[];
  readonly insertHead: string;
  /** What follows the values of a row that is written. */
  readonly tails: Readonly<Record<Write, string>>;
  /** The whole statements that write a row, where the place of each value is a `?`. */
  readonly usual: Readonly<Record<Write, string>>;
  readonly columns: string;
  readonly selectHead: string;
}

const textsOfTables = new WeakMap<object, Texts<never>>();

function textsOf<Row>(table: Table<Row>): Texts<Row> {
  // `as`: the texts of a table were built from its own columns.
  const known = textsOfTables.get(table) as Texts<Row> | undefined;
  if (known !== undefined) return known;
  // `as`: a table's columns are the fields of its rows.
  const names = Object.keys(table.columns) as (keyof Row & string)[];
  const changes = names
    .filter((name) => !table.key.includes(name))
    .map((name) => {
      return `${quote(name)} = excluded.${quote(name)}`;
    });
  const all = names.map(quote).join(', ');
  const insertHead = `INSERT INTO ${quote(table.name)} ("shard", ${all}) VALUES (`;
  const onConflict = `) ON CONFLICT ("shard", ${table.key.map(quote).join(', ')}) DO`;
  const tails = {
    insert: `${onConflict} NOTHING`,
    append: ')',
    put: changes.length === 0 ? `${onConflict} NOTHING` : `${onConflict} UPDATE SET ${changes.join(', ')}`,
  };
  const usualHead = `${insertHead}?${', ?'.repeat(names.length)}`;
  const texts: Texts<Row> = {
    names,
    columns: all,
    insertHead,
    tails,
    usual: { insert: usualHead + tails.insert, append: usualHead + tails.append, put: usualHead + tails.put },
    selectHead: `SELECT ${all} FROM ${quote(table.name)} WHERE `,
  };
  textsOfTables.set(table, texts);
  return texts;
}

export function update<Row>(
  target: Target<Row>,
  where: readonly Condition<Row>[],
  changes: Partial<Row>,
): Statement | undefined {
  const { table } = target;
  const names = columnNames(table).filter((name) => changes[name] !== undefined);
  const keyName = names.find((name) => table.key.includes(name));
  if (keyName !== undefined) {
    throw new StorageError(
      'storage.key',
      `${table.name}.${keyName}: a key cannot be changed; delete the row and insert it again`,
    );
  }
  if (names.length === 0) return undefined;
  const sets = names.map((name) => prefixed(`${quote(name)} = `, encodeColumn(target, name, changes[name])));
  const set = joined(sets, ', ');
  const condition = changedOf(target, where);
  return {
    sql: `UPDATE ${quote(table.name)} SET ${set.sql} WHERE ${condition.sql}`,
    values: [...set.values, ...condition.values],
  };
}

export function remove<Row>(target: Target<Row>, where: readonly Condition<Row>[]): Statement {
  const { sql, values } = changedOf(target, where);
  return { sql: `DELETE FROM ${quote(target.table.name)} WHERE ${sql}`, values };
}

/** The condition of the rows to change or delete; those of a list are looked up separately where reads do so. */
function changedOf<Row>(target: Target<Row>, where: readonly Condition<Row>[]): Statement {
  const { placedIn } = target.dialect;
  const found = placedIn && findEach(target, { where }, placedIn.column);
  return found === undefined ? whereOf(target, where) : placedIn!.rowsOf(found);
}

export function count<Row>(target: Target<Row>, where: readonly Condition<Row>[]): Statement {
  const { sql, values } = whereOf(target, where);
  return { sql: `SELECT count(*) AS "count" FROM ${quote(target.table.name)} WHERE ${sql}`, values };
}

export function get<Row>(target: Target<Row>, key: Partial<Row>): Statement {
  const { table } = target;
  const missing = table.key.find((name) => key[name] === undefined);
  if (missing !== undefined) {
    const names = table.key.join(', ');
    throw new StorageError('storage.key', `${table.name}: expected the whole key (${names}), received no ${missing}`);
  }
  const conditions = table.key.map((name) => [name, '=', key[name]] as unknown as Condition<Row>);
  const { sql, values } = whereOf(target, conditions);
  return { sql: `${textsOf(table).selectHead}${sql}`, values };
}

export function find<Row>(target: Target<Row>, query: Query<Row>): Statement {
  const { table } = target;
  const { where = [], anyOf, orderBy = table.key.map((column): Order<Row> => ({ column })), after, limit } = query;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new StorageError('storage.value', `${table.name}: expected a limit of 0 or more, received ${limit}`);
  }
  const order = orderBy.map((one) => orderOf(table, one)).join(', ');
  const inOrder = order === '' ? '' : ` ORDER BY ${order}`;
  // With a limit or `after`, an index in the order may find the rows.
  const found = limit === undefined && after === undefined ? findEach(target, query, '*') : undefined;
  if (found !== undefined) {
    return { sql: `SELECT ${textsOf(table).columns} FROM ${found.sql}${inOrder}`, values: found.values };
  }
  const parts = [whereOf(target, where)];
  if (anyOf !== undefined) parts.push(anyOfRows(target, anyOf));
  if (after !== undefined) parts.push(afterOf(target, orderBy, after));
  const { sql: condition, values } = joined(parts, ' AND ');
  const sql = textsOf(table).selectHead + condition + inOrder;
  return limit === undefined ? { sql, values } : { sql: `${sql} LIMIT ?`, values: [...values, limit] };
}

/** The FROM clause that looks up each value of a list, or each of `anyOf`, separately. */
function findEach<Row>(target: Target<Row>, { where = [], anyOf }: Query<Row>, columns: string): Statement | undefined {
  const { dialect, table } = target;
  if (dialect.eachOf === undefined) return undefined;
  if (anyOf !== undefined) {
    const lists = listsOf(target, anyOf);
    return lists.length === 0 ? undefined : dialect.eachOf(lists, columns, quote(table.name), whereOf(target, where));
  }
  const listed = where.find(([, operator]) => operator === 'in');
  if (listed === undefined || listed[1] !== 'in' || listed[2].length === 0 || listed[2].includes(null)) {
    return undefined;
  }
  const [name, , values] = listed;
  const column = columnOf(table, name);
  // Set compares arrays by identity, not by their bytes.
  if (column.type === 'bytes') return undefined;
  const different = [...new Set(values)].map((value) => encode(table.name, name, column, value));
  const rest = where.filter((condition) => condition !== listed);
  const list = { column: quote(name), type: column.type, values: different };
  return dialect.eachOf([list], columns, quote(table.name), whereOf(target, rest));
}

function anyOfRows<Row>(target: Target<Row>, anyOf: readonly Partial<Row>[]): Statement {
  const lists = listsOf(target, anyOf);
  return lists.length === 0 ? NEVER : target.dialect.oneOfRows(lists);
}

/** The values of each column, without repeated rows; none of an empty list. */
function listsOf<Row>({ table }: Target<Row>, anyOf: readonly Partial<Row>[]): readonly ListedColumn[] {
  // `as`: a table's columns are the fields of its rows.
  const names = Object.keys(anyOf[0] ?? {}) as (keyof Row & string)[];
  const rows = new Map<string, readonly Bound[]>();
  for (const row of anyOf) {
    const values = names.map((name) => encode(table.name, name, columnOf(table, name), row[name]));
    rows.set(JSON.stringify(values), values);
  }
  const different = [...rows.values()];
  return names.map((name, index) => {
    const { type } = columnOf(table, name);
    if (type === 'real' || type === 'bytes' || different.some((values) => values[index] === null)) {
      throw new StorageError('storage.value', `${table.name}.${name}: expected no null, real number or bytes in anyOf`);
    }
    return { column: quote(name), type, values: different.map((values) => values[index]!) };
  });
}

function whereOf<Row>(target: Target<Row>, where: readonly Condition<Row>[]): Statement {
  const parts = where.map((condition) => conditionOf(target, condition));
  return joined([{ sql: '"shard" = ?', values: [target.shard] }, ...parts], ' AND ');
}

function conditionOf<Row>(target: Target<Row>, [name, operator, operand]: Condition<Row>): Statement {
  if (operator === 'in') return inOf(target, name, operand);
  const column = quote(name);
  const { isNullable } = columnOf(target.table, name);
  if (operand === null) {
    if (operator === '=') return { sql: `${column} IS NULL`, values: [] };
    return operator === '!=' ? { sql: `${column} IS NOT NULL`, values: [] } : NEVER;
  }
  const unlike = isNullable ? 'IS DISTINCT FROM' : '<>';
  return prefixed(`${column} ${operator === '!=' ? unlike : operator} `, encodeColumn(target, name, operand));
}

function inOf<Row>({ dialect, table }: Target<Row>, name: keyof Row & string, list: readonly unknown[]): Statement {
  const column = columnOf(table, name);
  const values = list.filter((value) => value !== null).map((value) => encode(table.name, name, column, value));
  const isNull: Statement[] = values.length < list.length ? [{ sql: `${quote(name)} IS NULL`, values: [] }] : [];
  const isOne: Statement[] = values.length > 0 ? [dialect.oneOf(quote(name), column.type, values)] : [];
  const parts = [...isOne, ...isNull];
  return parts.length === 0 ? NEVER : bracketed(joined(parts, ' OR '));
}

function orderOf<Row>(table: Table<Row>, { column: name, isDescending = false }: Order<Row>): string {
  const nulls = columnOf(table, name).isNullable ? ` NULLS ${isDescending ? 'LAST' : 'FIRST'}` : '';
  return `${quote(name)}${isDescending ? ' DESC' : ''}${nulls}`;
}

/** Rows after a place: `c1 > v1 OR c1 = v1 AND (c2 > v2 OR …)`, each column in its own direction. */
function afterOf<Row>(target: Target<Row>, orderBy: readonly Order<Row>[], after: readonly unknown[]): Statement {
  if (after.length !== orderBy.length) {
    const expected = `a value for each of the ${orderBy.length} columns of the order`;
    throw new StorageError(
      'storage.key',
      `${target.table.name}: expected after to have ${expected}, received ${after.length}`,
    );
  }
  const beyond = orderBy.reduceRight<Statement>((rest, order, i) => {
    const value = after[i];
    const later = laterThan(target, order, value);
    const equal = conditionOf(target, [order.column, '=', value] as unknown as Condition<Row>);
    if (rest === NEVER) return later;
    const same = joined([equal, bracketed(rest)], ' AND ');
    return later === NEVER ? same : joined([later, same], ' OR ');
  }, NEVER);
  // The first column's bound follows from the rest, but as a separate condition it lets an index start there.
  const [first] = orderBy;
  const bound = first === undefined ? undefined : boundOf(target, first, after[0]);
  return bound === undefined ? bracketed(beyond) : joined([bound, bracketed(beyond)], ' AND ');
}

function laterThan<Row>(
  target: Target<Row>,
  { column: name, isDescending = false }: Order<Row>,
  value: unknown,
): Statement {
  const column = quote(name);
  if (value === null) return isDescending ? NEVER : { sql: `${column} IS NOT NULL`, values: [] };
  const bound = encodeColumn(target, name, value);
  if (!isDescending) return prefixed(`${column} > `, bound);
  const less = prefixed(`${column} < `, bound);
  if (!columnOf(target.table, name).isNullable) return less;
  return bracketed(joined([less, { sql: `${column} IS NULL`, values: [] }], ' OR '));
}

function boundOf<Row>(
  target: Target<Row>,
  { column: name, isDescending = false }: Order<Row>,
  value: unknown,
): Statement | undefined {
  if (value === null || (isDescending && columnOf(target.table, name).isNullable)) return undefined;
  return prefixed(`${quote(name)} ${isDescending ? '<=' : '>='} `, encodeColumn(target, name, value));
}

function joined(parts: readonly Statement[], by: string): Statement {
  let sql = '';
  const bound: Bound[] = [];
  for (const [i, part] of parts.entries()) {
    sql += i === 0 ? part.sql : by + part.sql;
    for (const value of part.values) bound.push(value);
  }
  return { sql, values: bound };
}

function prefixed(text: string, { sql, values }: Statement): Statement {
  return { sql: text + sql, values };
}

function bracketed({ sql, values }: Statement): Statement {
  return { sql: `(${sql})`, values };
}

export function columnNames<Row>(table: Table<Row>): readonly (keyof Row & string)[] {
  return textsOf(table).names;
}

function columnOf<Row>(table: Table<Row>, name: keyof Row & string): Column {
  if (!Object.hasOwn(table.columns, name)) {
    throw new StorageError('storage.key', `${table.name} has no column ${JSON.stringify(name)}`);
  }
  return table.columns[name];
}

function encodeColumn<Row>({ dialect, table }: Target<Row>, name: keyof Row & string, value: unknown): Statement {
  const values: Bound[] = [];
  const sql = dialect.place(encode(table.name, name, columnOf(table, name), value), values);
  return { sql, values };
}
