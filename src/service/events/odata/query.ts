import { type EventField, eventFieldNames } from '../fields.js';
import {
  badClauses,
  ClauseError,
  type ClauseIssue,
  type ClauseText,
  expectEnd,
  fail,
  readField,
  readPlainField,
  skipSpace,
  take,
} from './clause.js';
import { type Comparison, readFilter } from './filter.js';
import { type ClauseName, type ClauseTexts, readClauses } from './query-string.js';

/** A query (OData 4.0, part 2, section 5.1) with defaults filled in. */
export interface EventQuery {
  /** The most events over all pages; null for no limit. */
  readonly top: number | null;
  /** Whether the answer gives the number of matches. */
  readonly hasCount: boolean;
  /** All must hold. */
  readonly filter: readonly Comparison[];
  /** In the order of the records, whatever the order of the clause. */
  readonly select: readonly EventField[];
  /** Each field once: a second mention would have no effect. */
  readonly orderBy: readonly OrderItem[];
}

export interface OrderItem {
  readonly field: EventField;
  readonly isDescending: boolean;
}

/** Newest first, unless the query gives an order. */
const DEFAULT_ORDER: readonly OrderItem[] = Object.freeze([{ field: 'occurredAt', isDescending: true }]);

/** Reads the query string of a request as it came. @throws ServiceError 400 with every issue. */
export function readEventQuery(rawQuery: string): EventQuery {
  const { texts, issues } = readClauses(rawQuery);
  const query = Object.freeze({
    top: readClause(texts, '$top', null, readTop, issues),
    hasCount: readClause(texts, '$count', true, readCount, issues),
    filter: readClause(texts, '$filter', [], readFilter, issues),
    select: readClause(texts, '$select', eventFieldNames, readSelect, issues),
    orderBy: readClause(texts, '$orderby', DEFAULT_ORDER, readOrderBy, issues),
  });
  if (issues.length > 0) throw badClauses(issues);
  return query;
}

function readClause<Value>(
  texts: ClauseTexts,
  clause: ClauseName,
  absent: Value,
  read: (from: ClauseText) => Value,
  issues: ClauseIssue[],
): Value {
  const text = texts[clause];
  if (text === undefined) return absent;
  try {
    return read({ clause, text, position: 0 });
  } catch (error) {
    if (!(error instanceof ClauseError)) throw error;
    issues.push(error.issue);
    return absent;
  }
}

function readTop(from: ClauseText): number {
  const expected = 'a whole number, 0 or more';
  const digits = take(from, /\d+/y);
  if (digits === undefined) return fail(from, expected);
  if (from.position < from.text.length) fail(from, expected, { position: 0, received: from.text });
  const top = Number(digits);
  if (!Number.isSafeInteger(top)) fail(from, `${expected}, up to ${Number.MAX_SAFE_INTEGER}`, { position: 0 });
  return top;
}

function readCount(from: ClauseText): boolean {
  const word = take(from, /(?:true|false)$/iy);
  return word === undefined ? fail(from, 'true or false') : word.toLowerCase() === 'true';
}

function readSelect(from: ClauseText): readonly EventField[] {
  const chosen = new Set<EventField>();
  let hasAll = false;
  readList(from, () => {
    if (take(from, /\*/y) !== undefined) hasAll = true;
    else chosen.add(readField(from, 'a field of an event, or *'));
  });
  return hasAll ? eventFieldNames : Object.freeze(eventFieldNames.filter((field) => chosen.has(field)));
}

function readOrderBy(from: ClauseText): readonly OrderItem[] {
  const items = new Map<EventField, OrderItem>();
  readList(from, () => {
    const field = readPlainField(from, 'to order by');
    const isDescending = readDirection(from) === 'desc';
    if (!items.has(field)) items.set(field, Object.freeze({ field, isDescending }));
  });
  return Object.freeze([...items.values()]);
}

function readDirection(from: ClauseText): string | undefined {
  if (!skipSpace(from) || from.position >= from.text.length || from.text[from.position] === ',') return undefined;
  return take(from, /(?:asc|desc)(?![^\s,])/y) ?? fail(from, 'asc, desc or a comma');
}

function readList(from: ClauseText, readItem: () => void): void {
  do {
    skipSpace(from);
    readItem();
    skipSpace(from);
  } while (take(from, /,/y) !== undefined);
  expectEnd(from, 'a comma or the end');
}
