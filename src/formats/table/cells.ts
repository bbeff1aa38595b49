import { describeValue } from '../../core/errors.js';
import { formatInstant } from '../../core/instant.js';
import { TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import type { Dialect } from './dialect.js';
import { type CellFault, numberFault, type TimeReading } from './read-text.js';

// Cells with types, of JSON, Parquet and Arrow.

/** A column of some rows; undefined if nobody reads it. */
export type Cells = ArrayLike<unknown> | undefined;

/** A time that was read. */
export type CellTime = Extract<TimeReading, { timeMs: number }>;

/** The time of a cell, or why it has none. */
export function timeOfCell(cell: unknown, clock: string, readTime: (text: string) => TimeReading): TimeReading {
  if (cell instanceof Date) return { timeMs: cell.getTime(), isNearChange: false };
  const isText = typeof cell === 'string' || typeof cell === 'number' || typeof cell === 'bigint';
  return isText ? readTime(`${String(cell).trim()}${clock}`) : { problem: 'is no time; every row needs one' };
}

/** What `timeOfCell` gives for whole milliseconds, without their text; undefined for anything else. */
export function wholeMsOf(cell: unknown): CellTime | undefined {
  const isWhole = typeof cell === 'number' && Number.isInteger(cell) && cell >= TIME_MS_MIN && cell < TIME_MS_END;
  // A time of −0 is 0.
  return isWhole ? { timeMs: cell + 0, isNearChange: false } : undefined;
}

/** The day of a typed time, to which a time of day belongs. */
export function dayOfCell(cell: unknown): unknown {
  const text = typeof cell === 'number' ? formatInstant(cell) : cell;
  return typeof text === 'string' ? text.slice(0, text.indexOf('T')) : text;
}

/** Why a cell is not a number. */
export function faultOf(cell: unknown, dialect: Dialect): CellFault {
  if (typeof cell === 'object') return { reason: 'is not a number; expected one number a field' };
  return numberFault(String(cell), dialect);
}

/** A cell as text; '' for an empty one. What an object would make of itself is none of its text. */
export function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  return typeof cell === 'object' && !(cell instanceof Date) ? describeValue(cell) : String(cell);
}
