import { type EventField, eventFields, type FieldType, readOccurredAt } from '../fields.js';
import { type ClauseText, expectEnd, fail, readPlainField, shorten, skipSpace, take } from './clause.js';

export interface Comparison {
  readonly field: EventField;
  readonly value: Literal;
}

/** More than people write, and fewer than an SQL statement can hold. */
const COMPARISONS_MAX = 100;
const DEPTH_MAX = 100;

/** Reads comparisons joined by `and`. All must hold, so brackets change nothing. */
export function readFilter(from: ClauseText): readonly Comparison[] {
  const comparisons: Comparison[] = [];
  skipSpace(from);
  readAll(from, comparisons, 0);
  expectEnd(from, '`and` or the end');
  return Object.freeze(comparisons);
}

function readAll(from: ClauseText, comparisons: Comparison[], depth: number): void {
  readTerm(from, comparisons, depth);
  for (;;) {
    const { position } = from;
    const hasSpace = skipSpace(from);
    if (from.position >= from.text.length || from.text[from.position] === ')') return;
    if (!hasSpace || take(from, /and(?=[ \t])/y) === undefined) {
      const operator = /^(?:or|not|AND|And)\b/.exec(from.text.slice(from.position))?.[0];
      const suggestion = operator === undefined ? undefined : 'only `and` joins comparisons';
      fail(from, '`and` between spaces, or the end', {
        position: hasSpace ? from.position : position,
        suggestion,
      });
    }
    skipSpace(from);
    readTerm(from, comparisons, depth);
  }
}

function readTerm(from: ClauseText, comparisons: Comparison[], depth: number): void {
  const { position } = from;
  if (take(from, /\(/y) === undefined) {
    if (comparisons.length === COMPARISONS_MAX) fail(from, `at most ${COMPARISONS_MAX} comparisons`);
    comparisons.push(readComparison(from));
    return;
  }
  if (depth === DEPTH_MAX) fail(from, `at most ${DEPTH_MAX} nested brackets`, { position });
  skipSpace(from);
  readAll(from, comparisons, depth + 1);
  skipSpace(from);
  if (take(from, /\)/y) === undefined) fail(from, '`and` or a closing bracket');
}

function readComparison(from: ClauseText): Comparison {
  const field = readPlainField(from, 'to compare');
  const { position } = from;
  const hasSpace = skipSpace(from);
  if (!hasSpace || take(from, /eq(?![^ \t])/y) === undefined) {
    const operator = /^(?:EQ|Eq|=+|ne|gt|ge|lt|le|in|has)(?![\w])/.exec(from.text.slice(from.position))?.[0];
    const suggestion = operator === undefined ? undefined : 'only `eq` compares fields';
    fail(from, '`eq` between spaces', { position: hasSpace ? from.position : position, suggestion });
  }
  if (!skipSpace(from)) fail(from, 'a space and a value');
  return Object.freeze({ field, value: readLiteral(from, field) });
}

export type Literal = string | number | boolean | null;

const EXPECTED: Readonly<Record<FieldType, string>> = Object.freeze({
  text: "text in single quotes (a quote within is ''), or null",
  number: "a number such as 1, -2.5 or '1e3', or null",
  boolean: "true, false, 'true', 'false' or null",
  instant: "an ISO 8601 instant such as '2024-01-31T12:00:00Z', or null",
  object: 'nothing',
});

// OData 4.0 ABNF: a decimal point needs digits on both sides; `true`, `false` and the `e` of an exponent ignore case,
// `null`, `NaN` and `INF` do not. No letter, digit or point may follow a literal.
const STRING = /'(?:[^']|'')*'/y;
const NUMBER = /[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.:-])/y;
const INSTANT = /\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?(?![\w.:-])/iy;
const BOOLEAN = /(?:true|false)(?![\w.:-])/iy;
const NULL = /null(?![\w.:-])/y;

/** Reads a literal of the field's type; an instant is returned in its stored form. */
function readLiteral(from: ClauseText, field: EventField): Literal {
  if (take(from, NULL) !== undefined) return null;
  const type = eventFields[field];
  const expected = `${EXPECTED[type]}, for ${field}`;
  if (type === 'number' || type === 'boolean') return readPlainOrQuoted(from, type, expected);
  if (type === 'instant') return readInstantLiteral(from, expected);
  return readString(from, expected);
}

// Bare, as in OData, or quoted, as the interface (4.4) quotes every value: `field eq 'value'`.
function readPlainOrQuoted(from: ClauseText, type: 'number' | 'boolean', expected: string): number | boolean {
  const isQuoted = take(from, /'/y) !== undefined;
  const value = type === 'number' ? readNumber(from, expected) : readBoolean(from, expected);
  if (isQuoted && take(from, /'/y) === undefined) fail(from, 'a single quote that ends the value');
  return value;
}

function readString(from: ClauseText, expected: string): string {
  const { position, text } = from;
  if (text[position] !== "'") {
    const isWord = /[^\s'()]/.test(text[position] ?? ' ');
    return fail(from, expected, isWord ? { suggestion: 'put text in single quotes' } : {});
  }
  const quoted = take(from, STRING);
  if (quoted === undefined) {
    return fail(from, 'a single quote that ends the text', { position: text.length, received: 'the end' });
  }
  const value = quoted.slice(1, -1).replaceAll("''", "'");
  if (value.includes('\0')) fail(from, 'text without a NUL character', { position: position + quoted.indexOf('\0') });
  return value;
}

function readNumber(from: ClauseText, expected: string): number {
  const { position } = from;
  const number = take(from, NUMBER);
  if (number === undefined) {
    const isInfinite = /^[+-]?(?:INF|NaN)/.test(from.text.slice(position, position + 4));
    return fail(from, expected, isInfinite ? { suggestion: 'events hold only finite numbers' } : {});
  }
  const value = Number(number);
  if (!Number.isFinite(value)) fail(from, 'a number within the range of a double', { position });
  // -0 equals 0, but JSON, which the key is made of, has no -0.
  return value === 0 ? 0 : value;
}

function readBoolean(from: ClauseText, expected: string): boolean {
  const word = take(from, BOOLEAN);
  return word === undefined ? fail(from, expected) : word.toLowerCase() === 'true';
}

// A date and time, a space, and the digits of an offset.
const LOST_PLUS = /'?(\d{4}-\d\d-\d\d[T ][\d:.]+ \d\d(?::?\d\d)?)(?![\w.:-])/iy;

// Bare, as in OData, or quoted, as the interface says the field is a string.
function readInstantLiteral(from: ClauseText, expected: string): string {
  const { position } = from;
  LOST_PLUS.lastIndex = position;
  const received = LOST_PLUS.exec(from.text)?.[1];
  if (received !== undefined) {
    const suggestion = 'a + in a query is written %2B';
    fail(from, expected, { received: shorten(received), suggestion });
  }
  const text = from.text[position] === "'" ? readString(from, expected) : take(from, INSTANT);
  if (text === undefined) return fail(from, expected);
  const reading = readOccurredAt(text.toUpperCase());
  if ('problem' in reading)
    return fail(from, expected, { position, received: `${shorten(text)}, which ${reading.problem}` });
  return reading.occurredAt;
}
