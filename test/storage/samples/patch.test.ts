import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeLogRow, type KeyedChange, readChange, readLogHeads } from '../../../src/storage/samples/log-bytes.js';
import { patchOf } from '../../../src/storage/samples/log-row.js';
import {
  combine,
  combineAll,
  countOverlaid,
  overlay,
  type Patch,
  patchBetween,
  sliceColumns,
} from '../../../src/storage/samples/patch.js';
import { sortByTime } from '../../../src/storage/samples/sort-by-time.js';
import { expectEqual } from '../../equality.js';
import { applyToModel, changeArbitrary, columnsOf, expectSameColumns, type Model, modelColumns } from './model.js';

const changes = fc.array(changeArbitrary(40), { maxLength: 12 });
const model = changes.map((some) => {
  const filled: Model = new Map();
  for (const change of some) applyToModel(filled, change);
  return filled;
});

describe('columns', () => {
  it('are sorted by time, in order or not, and keep the last of equal times', () => {
    const disorder = fc.constantFrom(0, 2, 10, 1000);
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { maxLength: 200 }), disorder, (drawn, most) => {
        const timeMs = Float64Array.from(drawn, (number, i) => i + (most === 0 ? 0 : number % most));
        const value = Float64Array.from(drawn.keys());
        const expected: Model = new Map(drawn.map((_, i) => [timeMs[i]!, value[i]!]));
        const columns = { timeMs, value };
        expectSameColumns(sliceColumns(columns, 0, sortByTime(columns)), modelColumns(expected));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('patches of samples', () => {
  it('do together what their changes do one after another', () => {
    fc.assert(
      fc.property(model, changes, (stored, some) => {
        const expected: Model = new Map(stored);
        for (const change of some) applyToModel(expected, change);
        const patch = combineAll(some.map(patchOf));
        expectSameColumns(overlay(modelColumns(stored), patch), modelColumns(expected));
        expect(countOverlaid(modelColumns(stored).timeMs, patch)).toBe(expected.size);
      }),
      { numRuns: 1000 },
    );
  });

  it('have strictly ascending times, and ranges that neither overlap nor touch', () => {
    fc.assert(
      fc.property(changes, (some) => {
        const { timeMs, deleted } = combineAll(some.map(patchOf));
        expectEqual(
          Array.from(timeMs),
          [...new Set(timeMs)].sort((a, b) => a - b),
        );
        for (const [i, { fromMs, untilMs }] of deleted.entries()) {
          expect(fromMs).toBeLessThan(untilMs);
          if (i > 0) expect(fromMs).toBeGreaterThan(deleted[i - 1]!.untilMs);
        }
      }),
    );
  });

  it('can be combined in any grouping', () => {
    fc.assert(
      fc.property(changeArbitrary(20), changeArbitrary(20), changeArbitrary(20), (...three) => {
        const [a, b, c] = three.map(patchOf) as [Patch, Patch, Patch];
        expectEqual(plain(combine(combine(a, b), c)), plain(combine(a, combine(b, c))));
      }),
    );
  });

  it('change nothing more if applied again, so a replay does no harm', () => {
    fc.assert(
      fc.property(model, changes, (stored, some) => {
        const patch = combineAll(some.map(patchOf));
        const once = overlay(modelColumns(stored), patch);
        expectSameColumns(overlay(once, patch), once);
      }),
    );
  });

  it('can be split at any time into parts that together do the same', () => {
    fc.assert(
      fc.property(model, changes, fc.integer({ min: -5, max: 45 }), (stored, some, cutMs) => {
        const patch = combineAll(some.map(patchOf));
        const parts = [patchBetween(patch, -Infinity, cutMs), patchBetween(patch, cutMs, Infinity)];
        const columns = modelColumns(stored);
        const inParts = parts.reduce((after, part) => overlay(after, part), columns);
        expectSameColumns(inParts, overlay(columns, patch));
      }),
    );
  });
});

describe('a row of the log', () => {
  const keyed: fc.Arbitrary<KeyedChange> = fc
    .tuple(
      changeArbitrary(1000),
      fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      fc.option(fc.record({ timeseriesId: fc.string({ unit: 'grapheme' }), metric: fc.string() }), { nil: undefined }),
    )
    .map(([change, key, name]) => ({ ...change, key, ...(name === undefined ? {} : { name }) }));

  it('returns each of its changes, in whatever order they are requested', () => {
    fc.assert(
      fc.property(fc.array(keyed, { maxLength: 20 }), (some) => {
        const bytes = encodeLogRow(some);
        const heads = readLogHeads(bytes);
        expectEqual(
          Array.from(heads.keys),
          some.map(({ key }) => key),
        );
        for (let i = some.length - 1; i >= 0; i--) expect(readChange(bytes, heads, i)).toEqual(some[i]);
      }),
    );
  });

  it('of an unknown version is refused', () => {
    expect(() => readLogHeads(Uint8Array.of(9, 0))).toThrow(/later version: 9/);
  });
});

function plain(patch: Patch) {
  return { ...columnsOf(patch), deleted: patch.deleted };
}
