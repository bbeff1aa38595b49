import type { Value } from '../storage/table.js';

/** The conditions of a row to have these values. */
export function equal<Column extends string>(values: Readonly<Record<Column, Value>>) {
  // Each entry is a column and its value.
  return Object.entries(values).map(([column, value]) => [column, '=', value]) as [Column, '=', Value][];
}
