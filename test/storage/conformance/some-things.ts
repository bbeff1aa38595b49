import fc from 'fast-check';
import type { Thing } from './tables.js';

/** A thing; fields that are not given are null or plain. */
export function thing(fields: Partial<Thing>): Thing {
  const nulls = { name: null, severity: null, isOpen: null, latitude: null, endedMs: null };
  return { organisation: 'acme', id: 'a', version: 1, ...nulls, isKept: true, order: 0, ...fields };
}

// Few different values, so that rows agree in some columns, and text that UTF-16 units would order differently.
const text = fc.constantFrom('', 'a', 'a ', 'b', 'B', 'é', '\uffff', '\u{10000}', '\ufeffa', "x'y", '%');
const real = fc.constantFrom(-Infinity, -1.5, -0, 0, 5e-324, 1, 1e300, Infinity);
const integer = fc.constantFrom(Number.MIN_SAFE_INTEGER, -1, 0, 1, Number.MAX_SAFE_INTEGER);

export const someValue = {
  id: text,
  severity: fc.option(text, { freq: 3 }),
  isOpen: fc.option(fc.boolean(), { freq: 3 }),
  latitude: fc.option(real, { freq: 3 }),
  endedMs: fc.option(integer, { freq: 3 }),
  version: fc.integer({ min: 1, max: 3 }),
};

/** Rows with different keys. */
export const someThings: fc.Arbitrary<Thing[]> = fc
  .uniqueArray(fc.record(someValue), { maxLength: 25, selector: ({ id, version }) => `${version} ${id}` })
  .map((rows) => rows.map((row) => thing(row)));
