import fc from 'fast-check';
import { type EventField, eventFieldNames, eventFields } from '../../../src/service/events/fields.js';
import type { Comparison, Literal } from '../../../src/service/events/odata/filter.js';
import type { OrderItem } from '../../../src/service/events/odata/query.js';

// Queries as data, and their text. The tests print them by the grammar of OData, independently of our parser.

export const plainFields = eventFieldNames.filter((field) => eventFields[field] !== 'object');

const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((value) => !value.includes('\0'));
const awkwardText = fc.constantFrom(
  "'",
  "''",
  "O'Hare's",
  'a&b',
  'a%27b',
  '%',
  '+',
  ' and ',
  "') or (1 eq 1",
  '#?=',
  '',
);
const instant = fc
  .integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 })
  .map((timeMs) => new Date(timeMs).toISOString());

function literals(field: EventField): fc.Arbitrary<Literal> {
  const ofType = {
    text: fc.oneof(text, awkwardText),
    number: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()).map((value) => value + 0),
    boolean: fc.boolean(),
    instant,
    object: fc.constant(null),
  };
  return fc.oneof({ weight: 5, arbitrary: ofType[eventFields[field]] }, { weight: 1, arbitrary: fc.constant(null) });
}

export const comparisons: fc.Arbitrary<Comparison> = fc
  .constantFrom(...plainFields)
  .chain((field) => literals(field).map((value) => ({ field, value })));

export const orderItems: fc.Arbitrary<OrderItem[]> = fc
  .uniqueArray(fc.constantFrom(...plainFields), { minLength: 1, maxLength: 4 })
  .chain((fields) => fc.tuple(...fields.map((field) => fc.boolean().map((isDescending) => ({ field, isDescending })))));

export function printLiteral(value: Literal): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

export function printFilter(filter: readonly Comparison[]): string {
  return filter.map(({ field, value }) => `${field} eq ${printLiteral(value)}`).join(' and ');
}

export function printOrder(orderBy: readonly OrderItem[]): string {
  return orderBy.map(({ field, isDescending }) => `${field} ${isDescending ? 'desc' : 'asc'}`).join(',');
}

/** A query string with one parameter per clause. */
export function asParameters(clauses: Readonly<Record<string, string>>): string {
  return Object.entries(clauses)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
}

/** A query string with all clauses inside OdataQueryOptions. */
export function asOptions(clauses: Readonly<Record<string, string>>): string {
  const options = Object.entries(clauses).map(([name, value]) => `${name}=${value}`);
  return `OdataQueryOptions=${encodeURIComponent(options.join('&'))}`;
}
