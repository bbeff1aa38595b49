import fc from 'fast-check';
import { expect } from 'vitest';
import type { Columns } from '../../../src/storage/samples/samples.js';
import { areSurelyEqual } from '../../equality.js';

/** The meaning of a series: a value for each time. */
export type Model = Map<number, number>;

/** A change of one series, without its name. */
export interface Change extends Columns {
  readonly deleted?: { readonly fromMs: number; readonly untilMs: number };
}

export function applyToModel(model: Model, { timeMs, value, deleted }: Change): void {
  if (deleted !== undefined) {
    for (const time of [...model.keys()]) if (time >= deleted.fromMs && time < deleted.untilMs) model.delete(time);
  }
  timeMs.forEach((time, i) => {
    model.set(time, value[i]!);
  });
}

export function modelColumns(model: Model): Columns {
  const sorted = [...model].sort(([a], [b]) => a - b);
  return {
    timeMs: Float64Array.from(sorted, ([time]) => time),
    value: Float64Array.from(sorted, ([, value]) => value),
  };
}

/** The bits of columns, so that `toEqual` tells -0 from 0 and prints what it compares. */
export function columnsOf({ timeMs, value }: Columns) {
  return { timeMs: bits(timeMs), value: bits(value) };
}

/** Fails unless both have the same bits. Writes them out only if they differ. */
export function expectSameColumns(found: Columns, expected: Columns): void {
  const isSame = areSurelyEqual(found.timeMs, expected.timeMs) && areSurelyEqual(found.value, expected.value);
  if (!isSame) expect(columnsOf(found)).toEqual(columnsOf(expected));
}

function bits(column: Float64Array): string[] {
  return Array.from(column, (number) => (Object.is(number, -0) ? '-0' : String(number)));
}

const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -999, max: 999 }).map((tenths) => tenths / 10) },
  { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.constant(-0) },
);

/** Changes within `[0, untilMs)`: some samples in a range, some after a deletion with any bounds. */
export function changeArbitrary(untilMs: number, sampleCountMax = 12): fc.Arbitrary<Change> {
  const time = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: untilMs - 1 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 4 * untilMs }).map((quarters) => quarters / 4) },
  );
  const bound = fc.oneof(
    { weight: 8, arbitrary: time },
    { weight: 1, arbitrary: fc.constantFrom(-Infinity, Infinity) },
  );
  const deleted = fc.tuple(bound, bound).map(([a, b]) => ({ fromMs: Math.min(a, b), untilMs: Math.max(a, b) }));
  const samples = fc
    .uniqueArray(fc.tuple(time, value), { selector: ([at]) => at, maxLength: sampleCountMax })
    .map((some) => modelColumns(new Map(some)));
  return fc
    .tuple(samples, fc.option(deleted, { nil: undefined, freq: 3 }))
    .map(([columns, range]) => (range === undefined ? columns : { ...columns, deleted: range }));
}
