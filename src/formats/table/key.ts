import { type ColumnFacts, distinctTexts, wordsOf } from './facts.js';

// Names of columns that tell what was measured rather than how much, if they hold texts or whole numbers.
const IDENTITY =
  /(?:^| )(?:id|uid|uuid|guid|mac|serial|device|sensor|meter|station|tag|node|channel|entity|host|asset)$/;
const NAMES = /(?:^| )(?:name|series|point|equipment|location|site|room|zone|building|machine|symbol)$/;

/** How many rows must share their time with another row before that means anything. */
const SHARED_ROWS_MIN = 8;
const SHARED_SHARE_MIN = 0.2;

/**
 * The column that seems to tell rows of several series apart, judged by the first rows of a table: by its name, or
 * because many rows share their time and differ in this column. Undefined if there is none.
 */
export function findKey(times: readonly ColumnFacts[], columns: readonly ColumnFacts[]): ColumnFacts | undefined {
  const named = columns.find(isNamedAsKey);
  if (named !== undefined) return named;
  const rowTimes = times[0]?.texts.map((_, row) => times.map(({ texts }) => texts[row]).join(' ')) ?? [];
  const sharing = sharingRows(rowTimes);
  if (sharing < SHARED_ROWS_MIN || sharing < SHARED_SHARE_MIN * rowTimes.length) return undefined;
  return columns.find((column) => {
    const isOfFew = 2 * distinctTexts(column).length <= column.texts.length;
    const isBeside = columns.some((other) => other !== column && other.kind === 'number');
    if (!isOfFew || !isBeside || (column.kind !== 'text' && !isWhole(column))) return false;
    return sharingRows(rowTimes.map((time, row) => `${time} ${column.texts[row]}`)) === 0;
  });
}

function isNamedAsKey(column: ColumnFacts): boolean {
  const words = wordsOf(column.name).trim();
  if (column.kind === 'text') return IDENTITY.test(words) || NAMES.test(words);
  return IDENTITY.test(words) && isWhole(column) && distinctTexts(column).length * 2 <= column.texts.length + 1;
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
