import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlan, runBatch, type Series } from '../../../src/index.js';
import { estimateOutputs, type StoredRange } from '../../../src/service/operations/estimate.js';
import { runWithin, sceneArbitrary } from '../../laws/running.js';
import { cleaned } from './drawn.js';
import { minutes } from './posted.js';

// The most samples that each step would make, which a dry run tells of.

function rangeOf({ timeMs }: Series): StoredRange {
  return { sampleCount: timeMs.length, firstMs: timeMs[0] ?? null, lastMs: timeMs.at(-1) ?? null };
}

describe('estimateOutputs', () => {
  it('is never less than what maps, windows and grids make of whole series', () => {
    const rooms = [minutes('a', 200, (i) => i), minutes('b', 100, (i) => i)];
    const steps = [
      ['Mul', { scalar: 2 }, 1],
      ['Add', {}, 2],
      ['Add', { align: 'hold' }, 2],
      ['Aggregate', { function: 'Sum', interval: 'QuarterHourly' }, 1],
      ['Aggregate', { function: 'Sum', interval: 'PT10S', empty: 'zero' }, 1],
      ['HoldLastValue', { interval: 'QuarterHourly' }, 1],
      ['Resample', { frequency: 'PT10S' }, 1],
      ['Shift', { function: 'ShiftByTime', shift: 'PT1H', direction: 'forward' }, 1],
      ['Aggregate', { function: 'Last', window: { type: 'sliding', size: 'PT1H', every: 'PT1M' } }, 1],
      ['Aggregate', { function: 'Last', interval: 'PT20S', timezone: 'Asia/Tokyo', empty: 'hold' }, 1],
      ['HoldLastValue', { interval: 'PT20S', timezone: 'Asia/Tokyo' }, 1],
      ['Resample', { frequency: 'PT10S', maxgap: 'PT1H' }, 1],
      ['Fill', { frequency: 'PT10S' }, 1],
      ['Downsample', { interval: 'PT3M', method: 'minmax' }, 1],
      ['Coalesce', {}, 2],
    ] as const;
    for (const [operation, parameters, count] of steps) {
      const input = rooms.slice(0, count).map(({ timeseriesId, metric }) => ({ timeseriesId, metric }));
      const output = [{ timeseriesId: 'x', metric: 'y' }];
      const plan = createPlan([
        { metric: 'y', processingType: 'stream', operations: [{ operation, input, output, parameters }] },
      ]);
      const inputs = rooms.slice(0, count);
      const made = runBatch(plan, inputs).series[0]!.timeMs.length;
      const [estimated] = estimateOutputs(plan, inputs.map(rangeOf));
      expect([operation, estimated! >= made, estimated! <= 2 * made + 2]).toEqual([operation, true, true]);
    }
  });

  it('is zero for empty series', () => {
    const plan = createPlan([
      {
        metric: 'y',
        processingType: 'stream',
        operations: [
          {
            operation: 'Abs',
            input: [{ timeseriesId: 'a', metric: 'Raw' }],
            output: [{ timeseriesId: 'x', metric: 'y' }],
          },
        ],
      },
    ]);
    expect(estimateOutputs(plan, [{ sampleCount: 0, firstMs: null, lastMs: null }])).toEqual([0]);
  });

  it('over many centuries is near to the windows that there are', () => {
    const input = [{ timeseriesId: 'a', metric: 'Raw' }];
    const output = [{ timeseriesId: 'x', metric: 'y' }];
    const parameters = { function: 'Last', interval: 'Monthly', timezone: 'Europe/Berlin', empty: 'hold' };
    const operations = [{ operation: 'Aggregate', input, output, parameters }];
    const plan = createPlan([{ metric: 'y', processingType: 'stream', operations }]);
    const [firstMs, lastMs] = [Date.UTC(1000, 0, 15), Date.UTC(9000, 0, 15)];
    const [estimated] = estimateOutputs(plan, [{ sampleCount: 2, firstMs, lastMs }]);
    expect(estimated).toBeGreaterThanOrEqual(8000 * 12 + 1);
    expect(estimated).toBeLessThan(1.01 * 8000 * 12);
  });

  it('is never less than what any step of any request makes', () => {
    fc.assert(
      fc.property(sceneArbitrary(4), ({ request, samples }) => {
        const plan = createPlan(request);
        const inputs = plan.sources.map((one) => ({ ...one, ...cleaned(samples[Number(one.timeseriesId.slice(1))]!) }));
        const run = runWithin(plan, inputs, { maxOutputSamples: 4000 });
        fc.pre(run !== undefined);
        const estimated = estimateOutputs(plan, inputs.map(rangeOf));
        const tooLow = run!.report.steps.flatMap(({ samplesOut }, index) =>
          samplesOut > estimated[index]!
            ? [{ samplesOut, estimated: estimated[index]!, step: plan.steps[index]! }]
            : [],
        );
        expect(tooLow).toEqual([]);
      }),
      { numRuns: Number(process.env.WINDROW_RUNS ?? 300) },
    );
  });
});
