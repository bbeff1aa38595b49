import { isoClock, writtenDateKind } from './dates.js';

/** What the first values of a column are. `date`: a day without a time. `clock`: a time of day without a date. */
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
// Digits may be grouped by three: most addresses, such as 192.168.0.1, are none.
const NUMBER = /^[+-]?(?:\d+(?:[.,' \u00a0\u202f]\d{3})*(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?$/i;
// Dates never look like this.
const SHORT_NUMBER = /^-?\d{1,3}(?:\.\d+)?$/;
// As R, pandas, spreadsheets in several languages (`#N/A`, `#NV`, `#N/D`) and PostgreSQL's COPY (`\N`) write it.
const MISSING = /^(?:null|none|\\n|#?na|<na>|#?n\/a|#nv|#n\/d|[+-]?nan|[+-]?inf(?:inity)?)?$/i;

/** Whether a text stands for a missing value, in any column: nothing, null, NA, NaN, `#N/A` and the like. */
export function isMissing(text: string): boolean {
  return MISSING.test(text);
}

/** Facts of a column of texts. */
export function factsOf(name: string, texts: readonly string[]): ColumnFacts {
  return { name, kind: kindOf(texts), texts };
}

// The kind of most values, so that a bad row does not change it.
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

/** The kind of one text. */
export function kindOfText(text: string): ColumnKind {
  if (SHORT_NUMBER.test(text)) return 'number';
  if (MISSING.test(text)) return 'empty';
  if (ISO_INSTANT.test(text)) return 'instant';
  if (ISO_DATE.test(text)) return 'date';
  const dateKind = writtenDateKind(text);
  if (dateKind !== undefined) return dateKind;
  if (isoClock(text) !== undefined) return 'clock';
  return NUMBER.test(text) ? 'number' : 'text';
}

/** The distinct texts of a column, without missing values. */
export function distinctTexts({ texts }: ColumnFacts): string[] {
  return [...new Set(texts)].filter((text) => !MISSING.test(text));
}

/** A name as words in lower case: `startTime`, `START_TIME` and `Start time` become the same. */
export function wordsOf(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .toLowerCase();
}
