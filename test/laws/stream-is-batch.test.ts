import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPlan } from '../../src/index.js';
import {
  countsOf,
  type Feeding,
  feedingArbitrary,
  linesOf,
  runFed,
  runWithin,
  sceneArbitrary,
  seriesOf,
} from './running.js';
import { delayed } from './samples.js';

/** Numbers of 0 to 1: how late each sample comes, as a part of the allowed lateness. */
const delaysArbitrary = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

const latenessArbitrary = fc.constantFrom(
  ['PT0S', 0],
  ['PT1M', 60_000],
  ['PT2H', 7_200_000],
  ['P5D', 432_000_000],
) as fc.Arbitrary<readonly [string, number]>;

// Where nothing else says so, the last advance ends a run, and with it the ticks of HoldLastValue.
function isEndOpen(request: readonly unknown[], options: { until?: unknown }): boolean {
  return options.until === undefined && JSON.stringify(request).includes('HoldLastValue');
}

function withoutAdvance(feeding: Feeding): Feeding {
  const turns = feeding.turns.map(({ count, then }) => {
    return { count, then: then.endsWith('restore') ? ('restore' as const) : ('nothing' as const) };
  });
  return { ...feeding, turns };
}

test('a stream gives the bits and the counts of the batch, however it is cut, delayed, advanced and restored', () => {
  const inputs = fc.tuple(sceneArbitrary(6), feedingArbitrary, latenessArbitrary, delaysArbitrary);
  const property = fc.property(
    inputs,
    ([{ request, samples, options }, feeding, [allowedLateness, lateMs], delays]) => {
      const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
      const series = seriesOf(samples.map((own) => delayed(own, delays, lateMs)));
      const batch = runWithin(plan, series, options);
      if (batch === undefined) return;
      const fed = isEndOpen(request, options) ? withoutAdvance(feeding) : feeding;
      const stream = runFed(plan, series, { ...options, allowedLateness }, fed);
      expect(linesOf(stream.series)).toEqual(linesOf(batch.series));
      expect(countsOf(stream.report)).toEqual(countsOf(batch.report));
    },
  );
  fc.assert(property, { numRuns: 4000 });
});
