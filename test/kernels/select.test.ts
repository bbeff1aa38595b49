import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Chunk } from '../../src/core/chunk.js';
import { selectRange } from '../../src/kernels/select.js';
import { anyFinite, columnOf, expectSameBits, scratchColumn } from './columns.js';

function chunkOf(timeMs: Float64Array, value: Float64Array, count: number): Chunk {
  return { timeMs, value, count, inputTimeMs: undefined, isReadOnly: false };
}

function filled(index: number, values: readonly number[]): Float64Array {
  const column = scratchColumn(index);
  column.set(values);
  return column;
}

test('a value range keeps or counts what lies inside or outside, in WebAssembly memory and not', () => {
  fc.assert(
    fc.property(columnOf(anyFinite), anyFinite, anyFinite, fc.boolean(), (values, lower, upper, isInside) => {
      const times = values.map((_, i) => i);
      const kept = times.filter((i) => (values[i]! >= lower && values[i]! <= upper) === isInside);
      const own = (): Float64Array => new Float64Array(values.length);
      const places = [
        [filled(0, times), filled(1, values), scratchColumn(2), scratchColumn(3)],
        [Float64Array.from(times), filled(1, values), scratchColumn(2), scratchColumn(3)],
        [filled(0, times), filled(1, values), scratchColumn(2), own()],
        [Float64Array.from(times), Float64Array.from(values), own(), own()],
      ] as const;
      for (const [timeMs, value, outTimeMs, outValue] of places) {
        const out = chunkOf(outTimeMs, outValue, 0);
        selectRange(lower, upper, isInside, chunkOf(timeMs, value, values.length), out);
        expect(out.count).toBe(kept.length);
        expectSameBits(out.timeMs.subarray(0, out.count), kept);
        expectSameBits(
          out.value.subarray(0, out.count),
          kept.map((i) => values[i]!),
        );
        const counted = chunkOf(new Float64Array(0), new Float64Array(0), 0);
        selectRange(lower, upper, isInside, chunkOf(timeMs, value, values.length), counted);
        expect(counted.count).toBe(kept.length);
      }
    }),
    { numRuns: 1000 },
  );
});
