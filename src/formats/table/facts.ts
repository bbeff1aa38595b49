import { isoClock, isWrittenDate } from './dates.js';

/** What the first values of a column are. `date` is a day without a time, `clock` a time of day without a date. */
export type ColumnKind = 'instant' | 'date' | 'clock' | 'number' | 'text' | 'empty';

/** What is known of a column before its rows are read. */
export interface ColumnFacts {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Its first values as texts, in the order of the rows. */
  readonly texts: readonly string[];
}

const ISO_INSTANT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;
const ISO_DATE = /^\d{4}-\d\d-\d\d$/;
const NUMBER = /^[+-]?(?:\d[\d.,' \u00a0]*|[.,]\d+)(?:e[+-]?\d+)?$/i;
// No date is written so.
const SHORT_NUMBER = /^-?\d{1,3}(?:\.\d+)?$/;
const MISSING = /^(?:null|na|n\/a|[+-]?nan|[+-]?inf(?:inity)?)?$/i;

/** Facts of a column of texts. */
export function factsOf(name: string, texts: readonly string[]): ColumnFacts {
  return { name, kind: kindOf(texts), texts };
}

// The kind of most values: a bad row must not change what the others are.
function kindOf(texts: readonly string[]): ColumnKind {
  if (texts.length === 1) return kindOfText(texts[0]!);
  const counts = new Map<ColumnKind, number>();
  for (const text of texts) {
    const kind = kindOfText(text);
    if (kind !== 'empty') counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const known = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (known === 0) return 'empty';
  for (const [kind, count] of counts) if (2 * count > known) return kind;
  return 'text';
}

function kindOfText(text: string): ColumnKind {
  if (SHORT_NUMBER.test(text)) return 'number';
  if (MISSING.test(text)) return 'empty';
  if (ISO_INSTANT.test(text)) return 'instant';
  if (ISO_DATE.test(text)) return 'date';
  const written = isWrittenDate(text);
  if (written !== undefined) return written;
  if (isoClock(text) !== undefined) return 'clock';
  return NUMBER.test(text) ? 'number' : 'text';
}

/** The different texts of a column, without those that are missing. */
export function distinctTexts({ texts }: ColumnFacts): string[] {
  return [...new Set(texts.filter((text) => !MISSING.test(text)))];
}

/** A name in lower case with its words apart: `startTime`, `START_TIME` and `Start time` are alike. */
export function wordsOf(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .toLowerCase();
}
