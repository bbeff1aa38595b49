import type { Condition, Order, Query } from '../../../src/storage/storage.js';
import type { Value } from '../../../src/storage/table.js';

// The meaning of a store's queries, over an array. It follows the text of storage.ts, not any driver.

/** Rows as `find` returns them. */
export function modelFind<Row>(rows: readonly Row[], key: readonly (keyof Row & string)[], query: Query<Row>): Row[] {
  const { where = [], anyOf, orderBy = key.map((column): Order<Row> => ({ column })), after, limit = Infinity } = query;
  return rows
    .filter((row) => where.every((condition) => holds(row, condition)))
    .filter((row) => anyOf === undefined || anyOf.some((one) => hasAll(row, one)))
    .filter((row) => after === undefined || compareRows(orderBy, valuesOf(row, orderBy), after) > 0)
    .sort((a, b) => compareRows(orderBy, valuesOf(a, orderBy), valuesOf(b, orderBy)))
    .slice(0, limit);
}

export function valuesOf<Row>(row: Row, orderBy: readonly Order<Row>[]): Value[] {
  // `as`: the fields of a row are values.
  return orderBy.map(({ column }) => row[column] as Value);
}

function holds<Row>(row: Row, [column, operator, operand]: Condition<Row>): boolean {
  const value = row[column] as Value;
  if (operator === 'in') return operand.some((one) => isSame(value, one));
  if (operator === '=') return isSame(value, operand);
  if (operator === '!=') return !isSame(value, operand);
  if (value === null || operand === null) return false;
  const order = compare(value, operand);
  return { '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[operator];
}

function hasAll<Row>(row: Row, values: Partial<Row>): boolean {
  // `as`: the fields of a row are values.
  return Object.entries(values).every(([column, value]) => isSame(row[column as keyof Row] as Value, value as Value));
}

function isSame(a: Value, b: Value): boolean {
  return a === null || b === null ? a === b : compare(a, b) === 0;
}

function compareRows<Row>(orderBy: readonly Order<Row>[], a: readonly Value[], b: readonly Value[]): number {
  for (const [i, { isDescending = false }] of orderBy.entries()) {
    const order = compareWithNull(a[i]!, b[i]!);
    if (order !== 0) return isDescending ? -order : order;
  }
  return 0;
}

function compareWithNull(a: Value, b: Value): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  return compare(a, b);
}

function compare(a: Exclude<Value, null>, b: Exclude<Value, null>): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
