import { type ClauseText, fail, shorten, take } from './clause-text.js';
import { type EventField, eventFields, type FieldType } from './fields.js';
import { readOccurredAt } from './occurred-at.js';

/** A value that a field is compared with. */
export type Literal = string | number | boolean | null;

const EXPECTED: Readonly<Record<FieldType, string>> = Object.freeze({
  text: "text in single quotes ('' is a quote within), or null",
  number: 'a number such as 1, -2.5 or 1e3, or null',
  boolean: 'true, false or null',
  instant: "an ISO 8601 instant such as '2024-01-31T12:00:00Z', or null",
  object: 'nothing',
});

// OData 4.0 ABNF: digits stand on both sides of a point; `true`, `false` and the `e` of an exponent are of either
// case, `null`, `NaN` and `INF` are not. A literal ends where no letter, digit or point follows.
const STRING = /'(?:[^']|'')*'/y;
const NUMBER = /[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.:-])/y;
const INSTANT = /\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?(?![\w.:-])/iy;
const BOOLEAN = /(?:true|false)(?![\w.:-])/iy;
const NULL = /null(?![\w.:-])/y;

/** Reads a literal that `field` can be equal to; instants come out in the form that they are stored in. */
export function readLiteral(from: ClauseText, field: EventField): Literal {
  if (take(from, NULL) !== undefined) return null;
  const type = eventFields[field];
  const expected = `${EXPECTED[type]}, for ${field}`;
  if (type === 'number') return readNumber(from, expected);
  if (type === 'boolean') return readBoolean(from, expected);
  if (type === 'instant') return readInstantLiteral(from, expected);
  return readString(from, expected);
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
    return fail(from, expected, isInfinite ? { suggestion: 'events hold finite numbers alone' } : {});
  }
  const value = Number(number);
  if (!Number.isFinite(value)) fail(from, 'a number within the range of a double', { position });
  // -0 is equal to 0, and a key in JSON would lose its sign.
  return value === 0 ? 0 : value;
}

function readBoolean(from: ClauseText, expected: string): boolean {
  const word = take(from, BOOLEAN);
  return word === undefined ? fail(from, expected) : word.toLowerCase() === 'true';
}

// Bare, as OData writes instants, or quoted, as the field is a string in the interface.
function readInstantLiteral(from: ClauseText, expected: string): string {
  const { position } = from;
  const text = from.text[position] === "'" ? readString(from, expected) : take(from, INSTANT);
  if (text === undefined) return fail(from, expected);
  const reading = readOccurredAt(text.toUpperCase());
  if ('problem' in reading)
    return fail(from, expected, { position, received: `${shorten(text)}, which ${reading.problem}` });
  return reading.occurredAt;
}
