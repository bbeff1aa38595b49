import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WholeBody } from '../../../src/service/http/whole-body.js';
import {
  addColumns,
  createSampleBatch,
  releaseColumns,
  seriesIndexOf,
  takeChanges,
} from '../../../src/service/timeseries/write/batch.js';

describe('memory that bodies use again', () => {
  it('holds each body as it came, whichever others come and go meanwhile', () => {
    const lengths = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(65_536, 131_072, 262_144, 300_000));
    const step = fc.record({
      body: fc.nat({ max: 2 }),
      length: lengths,
      byte: fc.nat({ max: 255 }),
      ends: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const bodies = Array.from({ length: 3 }, () => ({ whole: new WholeBody(), expected: Buffer.alloc(0) }));
        for (const { body, length, byte, ends } of steps) {
          const one = bodies[body]!;
          const part = new Uint8Array(length).fill(byte);
          one.whole.add(part);
          one.expected = Buffer.concat([one.expected, part]);
          // A caller may use the memory of a part again, too, once the body is large.
          if (one.whole.byteCount >= 131_072) part.fill(0);
          for (const { whole, expected } of bodies) {
            expect(whole.byteCount).toBe(expected.length);
            expect(Buffer.concat(whole.parts).equals(expected)).toBe(true);
          }
          if (!ends) continue;
          one.whole.release();
          bodies[body] = { whole: new WholeBody(), expected: Buffer.alloc(0) };
        }
        for (const { whole } of bodies) whole.release();
      }),
      { numRuns: 40 },
    );
  });

  it('holds the rows of each batch as they came', async () => {
    const counts = fc.constantFrom(1, 900, 1025, 9000, 16_384, 20_000);
    const step = fc.record({ batch: fc.nat({ max: 2 }), count: counts, ends: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const create = () => ({ batch: createSampleBatch(), expected: [] as number[] });
        const batches = [create(), create(), create()];
        let next = 0;
        for (const { batch: index, count, ends } of steps) {
          const one = batches[index]!;
          const numbers = Float64Array.from({ length: count }, () => next++);
          addColumns(one.batch, seriesIndexOf(one.batch, 'a', 'Raw'), numbers, numbers);
          one.expected.push(...numbers);
          if (!ends) continue;
          const { changes } = await takeChanges(one.batch);
          releaseColumns(one.batch);
          batches[index] = create();
          const expected = Float64Array.from(one.expected);
          expect(changes).toEqual([{ timeseriesId: 'a', metric: 'Raw', timeMs: expected, value: expected }]);
        }
        for (const { batch } of batches) releaseColumns(batch);
      }),
      { numRuns: 40 },
    );
  });

  it('can be released twice, and a released batch takes rows again', async () => {
    const batch = createSampleBatch();
    const numbers = Float64Array.from({ length: 5000 }, (_, i) => i);
    addColumns(batch, seriesIndexOf(batch, 'a', 'Raw'), numbers, numbers);
    releaseColumns(batch);
    releaseColumns(batch);
    const [first, second] = [createSampleBatch(), createSampleBatch()];
    for (const one of [batch, first, second]) addColumns(one, seriesIndexOf(one, 'a', 'Raw'), numbers, numbers);
    expect(new Set([batch, first, second].map(({ timeMs }) => timeMs.buffer)).size).toBe(3);
  });
});
