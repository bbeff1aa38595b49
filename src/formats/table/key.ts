import { type ColumnFacts, distinctTexts, wordsOf } from './facts.js';

// Names of columns that tell what was measured rather than how much, if they hold texts or whole numbers.
const IDENTITY =
  /(?:^| )(?:id|uid|uuid|guid|mac|serial|device|sensor|meter|station|tag|node|channel|entity|host|asset)$/;
const NUMBERED = /(?:^| )(?:address|\S*number|\S*nummer)$/;
const NAMES = /(?:^| )(?:name|series|point|equipment|location|site|room|zone|building|machine|symbol)$/;

/** How many rows must share their time with another row before that means anything; of rows that hold a day, two. */
const SHARED_ROWS_MIN = 8;
const SHARED_DAYS_MIN = 2;
const SHARED_SHARE_MIN = 0.2;

/**
 * The columns that seem to tell rows of several series apart, judged by the first rows of a table: one by its name, or
 * because many rows share their time and differ in this column; and a second if rows share time and key without it.
 *
 * @param areDays whether each row holds a day, in columns that are not among these.
 */
export function findKeys(
  times: readonly ColumnFacts[],
  columns: readonly ColumnFacts[],
  areDays: boolean,
): readonly ColumnFacts[] {
  const rowTimes = times[0]?.texts.map((_, row) => times.map(({ texts }) => texts[row]).join(' ')) ?? [];
  const key = columns.find(isNamedAsKey) ?? findByTimes(rowTimes, columns, areDays);
  if (key === undefined) return [];
  const rowKeys = rowTimes.map((time, row) => `${time} ${key.texts[row]}`);
  const isSecond = (column: ColumnFacts): boolean =>
    column !== key && column.kind === 'text' && tellsApart(column, rowKeys);
  const second = areShared(rowKeys, areDays) ? columns.find(isSecond) : undefined;
  return second === undefined ? [key] : [key, second];
}

function findByTimes(
  rowTimes: readonly string[],
  columns: readonly ColumnFacts[],
  areDays: boolean,
): ColumnFacts | undefined {
  if (!areShared(rowTimes, areDays)) return undefined;
  const numberCount = columns.filter(({ kind }) => kind === 'number').length;
  return columns.find((column) => {
    const isOfFew = 2 * distinctTexts(column).length <= column.texts.length;
    const isBeside = areDays || numberCount > (column.kind === 'number' ? 1 : 0);
    if (!isOfFew || !isBeside || (column.kind !== 'text' && !isWhole(column))) return false;
    return tellsApart(column, rowTimes);
  });
}

// Whether all rows that share their key differ in the column. Of thousands of columns, most end at the second row.
function tellsApart({ texts }: ColumnFacts, rowKeys: readonly string[]): boolean {
  const seen = new Set<string>();
  return rowKeys.every((key, row) => seen.add(`${key} ${texts[row]}`).size > row);
}

function areShared(rowKeys: readonly string[], areDays: boolean): boolean {
  const sharing = sharingRows(rowKeys);
  return sharing >= (areDays ? SHARED_DAYS_MIN : SHARED_ROWS_MIN) && sharing >= SHARED_SHARE_MIN * rowKeys.length;
}

function isNamedAsKey(column: ColumnFacts): boolean {
  const words = wordsOf(column.name).trim();
  const isIdentity = IDENTITY.test(words) || NUMBERED.test(words);
  if (column.kind === 'text') return isIdentity || NAMES.test(words);
  return isIdentity && isWhole(column) && distinctTexts(column).length * 2 <= column.texts.length + 1;
}

function isWhole(column: ColumnFacts): boolean {
  return column.kind === 'number' && distinctTexts(column).every((text) => /^\d{1,18}$/.test(text));
}

// How many rows have the same key as another row.
function sharingRows(keys: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum + (count > 1 ? count : 0), 0);
}
