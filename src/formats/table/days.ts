import { DAY_MS } from '../../core/calendar.js';
import { isoClock } from './dates.js';
import type { ColumnFacts } from './facts.js';
import type { Fail, ValueColumn } from './roles.js';

const MINUTE_MS = 60_000;
const COUNTS = [24, 48, 96];
/** Of a day on which a local hour occurs twice. */
const LONG_COUNTS = [25, 50, 100];

/**
 * The value columns of a table whose rows each hold a day, with their times of day; undefined if this is not such a
 * table. The columns are named by times of day, or by numbers that count hours (0 to 23 or 1 to 24), half hours or
 * quarters of an hour. A value belongs to the start of its step. Fails at columns like these that no value belongs to.
 *
 * @param isSaid whether the caller says that each row holds a day.
 */
export function dayColumns(
  columns: readonly ColumnFacts[],
  rest: readonly number[],
  isSaid: boolean,
  fail: Fail,
): ValueColumn[] | undefined {
  const clocked = rest.flatMap((column) => {
    const clockMs = clockMsOf(columns[column]!.name);
    return clockMs === undefined ? [] : [{ column, name: columns[column]!.name, clockMs }];
  });
  const counted = countedColumns(columns, rest);
  if (clocked.length >= (isSaid && counted === undefined ? 1 : COUNTS[0]! - 1)) {
    failAtOtherClocks(columns, rest, clocked, fail);
    return withRepeats(clocked);
  }
  // Of a part of the day, or every few hours.
  const isUnclear = clocked.length > 1 && clocked.every(({ name }) => name.includes(':'));
  if (isUnclear && counted === undefined) return askLayout(clocked, 'say --layout days', ['days', 'wide'], fail);
  if (counted !== undefined && COUNTS.includes(counted.length)) return counted;
  if (isSaid) fail('the header has no columns for the times of a day, such as 00:00 to 23:00 or 1 to 96');
  const numbers = rest.filter((column) => ['number', 'empty'].includes(columns[column]!.kind));
  if (counted === undefined && !COUNTS.includes(numbers.length)) return undefined;
  const values = counted ?? numbers.map((column) => columns[column]!);
  return askLayout(values, 'call them 00:00, 01:00, …', ['wide'], fail);
}

function askLayout(values: readonly { readonly name: string }[], mend: string, layouts: string[], fail: Fail): never {
  const told = `a row has a date and ${values.length} values, ${values[0]!.name} to ${values.at(-1)!.name}`;
  const ifWide = 'if each column is a series of its own, say --layout wide';
  const reason = `${told}; if they are the times of a day, ${mend}; ${ifWide}`;
  return fail(reason, 'unclear', [{ option: 'layout', values: layouts }]);
}

/** Such as `2A:00` and `2B:00`, which some write for the hour that occurs twice: left out, its values would be lost. */
function failAtOtherClocks(
  columns: readonly ColumnFacts[],
  rest: readonly number[],
  clocked: readonly ValueColumn[],
  fail: Fail,
): void {
  const known = new Set(clocked.map(({ column }) => column));
  const others = rest.filter((column) => !known.has(column) && LIKE_CLOCK.test(columns[column]!.name));
  if (others.length === 0) return;
  const names = others.map((column) => JSON.stringify(columns[column]!.name)).join(' and ');
  fail(`${names} are no times of day like 00:00; call both columns of an hour that occurs twice alike`);
}

const LIKE_CLOCK = /^\d{1,2} ?[a-z*]?[:.h]\d\d ?[a-z*]?(?:$| ?[-–])/i;

// A last column named 00:00 is the end of the day, 24:00.
function withRepeats(columns: readonly (ValueColumn & { readonly clockMs: number })[]): ValueColumn[] {
  const last = columns.at(-1)!;
  if (last.clockMs !== 0 || columns[0]!.clockMs === 0) return [...columns];
  return [...columns.slice(0, -1), { ...last, clockMs: DAY_MS }];
}

function clockMsOf(name: string): number | undefined {
  // `00:00-00:15` belongs to its start.
  const [first = ''] = name.split(/ ?[-–] ?/);
  const clock = /^\d{1,2}h$/i.test(first) ? isoClock(first.replace(/h/i, ':00')) : isoClock(first);
  const [, hour, minute, second] = /^(\d\d):(\d\d):(\d\d)$/.exec(clock ?? '') ?? [];
  if (hour === undefined || Number(hour) > 24 || Number(minute) > 59) return undefined;
  return (Number(hour) * 60 + Number(minute)) * MINUTE_MS + Number(second) * 1000;
}

// Columns named by consecutive numbers with a common prefix: `1` to `24`, `H01` to `H24`.
function countedColumns(columns: readonly ColumnFacts[], rest: readonly number[]): ValueColumn[] | undefined {
  const found = rest.flatMap((column) => {
    const [, prefix, digits] = /^([A-Za-z]{0,5}[ _]?)(\d{1,2})$/.exec(columns[column]!.name) ?? [];
    return digits === undefined ? [] : [{ column, name: columns[column]!.name, prefix, number: Number(digits) }];
  });
  const [first] = found;
  if (first === undefined || first.number > 1 || ![...COUNTS, ...LONG_COUNTS].includes(found.length)) return undefined;
  const isRow = found.every(({ prefix, number }, index) => prefix === first.prefix && number === first.number + index);
  if (!isRow) return undefined;
  return found.map(({ column, name }, index) => ({ column, name, clockMs: (index * DAY_MS) / found.length }));
}
