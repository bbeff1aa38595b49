import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextDouble } from '../../../src/core/next-double.js';
import { createPlan, runBatch, type Series } from '../../../src/index.js';
import { resultChange } from '../../../src/service/operations/compute/columns.js';
import { cutSlice, startPositions } from '../../../src/service/operations/compute/slice.js';
import { step } from '../../../src/service/operations/compute/step.js';
import { splitRequest } from '../../../src/service/operations/request.js';
import {
  type Checkpoint,
  checkpointToDrop,
  countValid,
  positionsFromText,
  positionsToText,
} from '../../../src/service/operations/worker/checkpoints.js';
import { between } from '../../../src/storage/samples/patch.js';
import type { Columns } from '../../../src/storage/samples/samples.js';
import { concatenate } from '../../../src/storage/samples/samples.js';
import { BASE_ORDINAL } from '../../../src/storage/tables/operations.js';
import { linesOf, sceneArbitrary } from '../../laws/running.js';

const columns: fc.Arbitrary<Columns> = fc
  .uniqueArray(fc.integer({ min: -20, max: 20 }), { maxLength: 12 })
  .chain((times) =>
    fc.tuple(
      fc.constant(times.sort((a, b) => a - b)),
      fc.array(fc.constantFrom(0, -0, 1), { minLength: times.length, maxLength: times.length }),
    ),
  )
  .map(([times, values]) => ({ timeMs: Float64Array.from(times), value: Float64Array.from(values) }));

const asLines = (of: Columns): string[] =>
  linesOf([{ timeMs: of.timeMs, value: of.value, timeseriesId: '', metric: '' }]);

describe('resultChange', () => {
  const applied = (stored: Columns, change: ReturnType<typeof resultChange>, timeOf = (timeMs: number) => timeMs) => {
    const { fromMs, untilMs } = change?.deleted ?? { fromMs: 0, untilMs: 0 };
    const left = new Map([...stored.timeMs].map((t, i) => [t, stored.value[i]!]));
    for (const t of left.keys()) if (t >= timeOf(fromMs) && t < timeOf(untilMs)) left.delete(t);
    for (const [i, t] of [...(change?.timeMs ?? [])].entries()) left.set(t, change!.value[i]!);
    const rising = [...left].sort(([a], [b]) => a - b);
    return { timeMs: Float64Array.from(rising, ([t]) => t), value: Float64Array.from(rising, ([, x]) => x) };
  };

  it('applied to what is stored gives what was computed', () => {
    fc.assert(
      fc.property(columns, columns, (stored, computed) => {
        expect(asLines(applied(stored, resultChange(stored, computed)))).toEqual(asLines(computed));
      }),
    );
  });

  it('does so too where a follower cuts times to milliseconds, as Date does', () => {
    fc.assert(
      fc.property(columns, columns, (all, computed) => {
        // As results are replaced: up to the last one that is computed.
        const stored = between(all, -Infinity, nextDouble(computed.timeMs.at(-1) ?? -Infinity));
        expect(asLines(applied(stored, resultChange(stored, computed), Math.floor))).toEqual(asLines(computed));
      }),
    );
  });

  it('is empty if both agree, and never starts or ends with a sample that is stored already', () => {
    fc.assert(
      fc.property(columns, columns, (stored, computed) => {
        expect(resultChange(stored, stored)).toBeUndefined();
        const change = resultChange(stored, computed);
        if (change === undefined || change.timeMs.length === 0) return;
        const before = new Map([...stored.timeMs].map((t, i) => [t, stored.value[i]!]));
        const isSame = (i: number): boolean => Object.is(before.get(change.timeMs[i]!), change.value[i]);
        const isAlone = stored.timeMs.length === computed.timeMs.length;
        if (isAlone && [...stored.timeMs].every((t, i) => t === computed.timeMs[i])) {
          expect([isSame(0), isSame(change.timeMs.length - 1)]).toEqual([false, false]);
        }
      }),
    );
  });
});

describe('step', () => {
  it('over any slices gives what a batch gives, from results and the last preview', () => {
    const scenes = sceneArbitrary(4, fc.integer({ min: -50, max: 50 }));
    fc.assert(
      fc.property(scenes, fc.integer({ min: 1, max: 20 }), ({ request, samples }, limit) => {
        for (const { plan } of splitRequest(createPlan(request))) {
          const sorted = plan.sources.map((source): Series => {
            const { timeMs, value } = samples[Number(source.timeseriesId.slice(1))]!;
            const rows = [...new Map([...timeMs].map((t, i) => [t, value[i]!]))].filter(([, x]) => Number.isFinite(x));
            rows.sort(([a], [b]) => a - b);
            return {
              ...source,
              timeMs: Float64Array.from(rows, ([t]) => t),
              value: Float64Array.from(rows, ([, x]) => x),
            };
          });
          const options = { maxOutputSamples: 20_000 };
          let expected: Series;
          try {
            expected = runBatch(plan, sorted, options).series.at(-1)!;
          } catch {
            continue;
          }
          const parts: Columns[] = [];
          let state: Uint8Array | undefined;
          let positions = startPositions(plan.sources.length);
          for (let isLast = false; !isLast; ) {
            const read = sorted.map(({ timeMs, value }, k) => {
              const from = timeMs.findIndex((t) => t > positions[k]!);
              const at = from < 0 ? timeMs.length : from;
              return { timeMs: timeMs.slice(at, at + limit), value: value.slice(at, at + limit) };
            });
            const slice = cutSlice(plan.sources, positions, read, limit);
            const result = step(plan, state, slice.chunks, { ...options, tail: [] });
            parts.push(result.results);
            ({ positions, isLast } = slice);
            state = result.state;
            if (isLast) parts.push(result.preview);
          }
          expect(asLines(concatenate(parts))).toEqual(asLines(expected));
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('checkpoints', () => {
  const start = { emittedMs: null, lacksUntilMs: null };
  const checkpointsOf = (...positions: number[][]): Checkpoint[] =>
    positions.map((own, ordinal) => ({
      ordinal,
      positions: own,
      ...start,
      sampleCount: 10 * ordinal,
      byteCount: 9,
    }));

  it('are kept only if they are before a change', () => {
    const checkpoints = checkpointsOf([1, 5], [2, 5], [3, 9]);
    expect(countValid(checkpoints, 0, 4)).toBe(3);
    expect(countValid(checkpoints, 0, 3)).toBe(2);
    expect(countValid(checkpoints, 1, 6)).toBe(2);
    expect(countValid(checkpoints, 1, 5)).toBe(0);
  });

  it('are thinned out more the older they are, and the last one is kept', () => {
    const sizes = { checkpointsMax: 8, checkpointBytesMax: 1e9 };
    let checkpoints: Checkpoint[] = [];
    for (let k = 1; k <= 1000; k++) {
      checkpoints.push({ ordinal: k, positions: [k], ...start, sampleCount: k, byteCount: 1 });
      const dropped = checkpointToDrop(checkpoints, sizes);
      checkpoints = checkpoints.filter((one) => one !== dropped);
      expect(checkpoints.length).toBeLessThanOrEqual(sizes.checkpointsMax);
      expect(checkpoints.at(-1)!.sampleCount).toBe(k);
    }
    // However old a change is, the checkpoint before it is older by at most a fixed share of that age.
    const ages = checkpoints.map(({ sampleCount }) => 1000 - sampleCount);
    for (const [k, age] of ages.entries()) if (k > 0) expect(ages[k - 1]!).toBeLessThanOrEqual(6 * age + 6);
  });

  it('are thinned out without the base', () => {
    const own = { positions: [0], ...start, sampleCount: 0, byteCount: 100 };
    let checkpoints: Checkpoint[] = [{ ...own, ordinal: BASE_ORDINAL }];
    for (let ordinal = 0; ordinal < 20; ordinal++) {
      checkpoints.push({ ...own, ordinal, sampleCount: ordinal + 1 });
      const dropped = checkpointToDrop(checkpoints, { checkpointsMax: 3, checkpointBytesMax: 1e9 });
      checkpoints = checkpoints.filter((one) => one !== dropped);
    }
    expect(checkpoints.length).toBe(3);
    expect(checkpoints[0]!.ordinal).toBe(BASE_ORDINAL);
    // However large: then there is only the last one beside it.
    const sizes = { checkpointsMax: 1, checkpointBytesMax: 1 };
    expect(checkpointToDrop(checkpoints, sizes)).toBe(checkpoints[1]);
    expect(checkpointToDrop([checkpoints[0]!, checkpoints[2]!], sizes)).toBeUndefined();
  });

  it('are fewer if states are large', () => {
    const checkpoints = checkpointsOf([1], [2], [3]).map((one) => ({ ...one, byteCount: 100 }));
    expect(checkpointToDrop(checkpoints, { checkpointsMax: 9, checkpointBytesMax: 299 })).toBeDefined();
    expect(checkpointToDrop(checkpoints, { checkpointsMax: 9, checkpointBytesMax: 300 })).toBeUndefined();
  });

  it('keep their positions as text', () => {
    const times = fc.array(
      fc.oneof(fc.constant(Number.NEGATIVE_INFINITY), fc.double({ noNaN: true, min: -1e14, max: 1e14 })),
    );
    fc.assert(
      fc.property(times, (positions) => {
        expect(positionsFromText(positionsToText(positions))).toEqual(positions.map((t) => t + 0));
      }),
    );
  });
});

it('nextDouble is the least double above, with nothing between', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, max: 1e300 }), (x) => {
      const next = nextDouble(x);
      expect(next).toBeGreaterThan(x);
      const middle = x + (next - x) / 2;
      expect(middle === x || middle === next).toBe(true);
    }),
  );
});
