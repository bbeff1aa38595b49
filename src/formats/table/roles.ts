import type { OptionHint } from '../../core/errors.js';

/**
 * How the columns of a table make series. *long*: each row names its series. *wide*: every column but the time is a
 * series of that name with the metric `Raw`. *single*: a time and a value, of one series named after the file. *days*:
 * each row holds a day, each column a time of day.
 */
export const tableLayouts = ['long', 'wide', 'single', 'days'] as const;
export type TableLayout = (typeof tableLayouts)[number];

/** What the caller says about the columns, each given by its name in any case or else by its number from 1. */
export interface RoleOptions {
  /** The column of times, or one of dates and one of times of day. */
  readonly time?: readonly string[] | undefined;
  readonly value?: readonly string[] | undefined;
  /** The columns that name the series of a row. */
  readonly series?: readonly string[] | undefined;
  readonly layout?: TableLayout | undefined;
  /** Numbers that texts stand for; null for a missing value. */
  readonly states?: Readonly<Record<string, number | null>> | undefined;
  /** Whether columns of texts that nothing asks for are left out of a table, and mentioned in the notes. */
  readonly areTextsLeft?: boolean | undefined;
  /** Called with the names of the columns, before it is told what they are for. */
  readonly onColumns?: (names: readonly string[]) => void;
  /** Whether the caller wants a column of this name as a series of its own. */
  readonly isAskedFor?: (name: string) => boolean;
}

/** A column of values. */
export interface ValueColumn {
  readonly column: number;
  /** The column's name: the id in the wide layout, the metric in a long layout with several value columns. */
  readonly name: string;
  /** In the layout *days*: the time of day of the value, in milliseconds since midnight. */
  readonly clockMs?: number;
}

/** What the columns are for, by their indices. */
export interface Roles {
  readonly layout: TableLayout;
  readonly timeColumn: number;
  /** The column of times of day, if `timeColumn` has only dates; else −1. */
  readonly clockColumn: number;
  /** The columns that name the series. If there are several, the id joins their texts, each after its prefix. */
  readonly ids: readonly { readonly column: number; readonly prefix: string }[];
  readonly metricColumn: number;
  readonly values: readonly ValueColumn[];
  /** What was concluded from names and values beyond the usual, for the summary of a run. */
  readonly notes: readonly string[];
  /** Which columns are left out of a long table; apart, as such a table is nothing unusual. */
  readonly unusedNotes: readonly string[];
}

/** What is wrong with a table: its columns, among which there may be no time, or an option must say more. */
export type Fault = 'columns' | 'no time' | 'unclear';

/**
 * Rejects a table.
 *
 * @param options the options that the reason names.
 */
export type Fail = (reason: string, fault?: Fault, options?: readonly OptionHint[]) => never;
