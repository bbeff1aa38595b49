import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPlan, type Report } from '../../src/index.js';
import { type OracleResult, runOracle } from '../oracle/index.js';
import { expectSame, runWithin, type Scene, sceneArbitrary, seriesOf } from './running.js';

function runOracleOver({ request, samples, options }: Scene): OracleResult {
  const inputs = samples.map(({ timeMs, value }, k) => {
    return { timeseriesId: `s${k}`, metric: 'Raw', samples: timeMs.map((t, i): [number, number] => [t, value[i]!]) };
  });
  const { timezone, from, until } = options;
  return runOracle([...request], inputs, {
    ...(timezone === undefined ? {} : { timezone }),
    ...(typeof from === 'number' ? { fromMs: from } : {}),
    ...(typeof until === 'number' ? { untilMs: until } : {}),
  });
}

/**
 * Counts as the oracle gives them: a reason without samples is absent, and unmatched samples of both inputs are added.
 */
function droppedOf({ sources, steps }: Report, request: readonly unknown[]): OracleResult['dropped'] {
  const written = (request as { operations: unknown[] }[]).flatMap(({ operations }, item) =>
    operations.map((_, step) => `/${item}/operations/${step}`),
  );
  const byPointer = new Map(steps.map((step) => [step.pointer, step.dropped]));
  return {
    sources: Object.fromEntries(
      sources.map(({ timeseriesId, metric, dropped }) => [`${timeseriesId}/${metric}`, withoutZeros(dropped)]),
    ),
    steps: written.map((pointer) => {
      const { unmatched, ...counts } = byPointer.get(pointer)!;
      return withoutZeros({ ...counts, unmatched: unmatched[0] + unmatched[1] });
    }),
  };
}

function withoutZeros(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

function expectAgreement(scene: Scene): void {
  const { request, samples, options } = scene;
  const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
  const run = runWithin(plan, seriesOf(samples), options);
  if (run === undefined) return;
  const oracle = runOracleOver(scene);
  const expected = oracle.series.map(({ samples: own, ...name }) => {
    return { ...name, timeMs: Float64Array.from(own, ([t]) => t), value: Float64Array.from(own, ([, x]) => x!) };
  });
  expectSame(run.series, expected);
  expect(droppedOf(run.report, request)).toEqual(oracle.dropped);
}

/** One step over one series. */
const sceneOf = (operation: string, parameters: object, timeMs: number[], value: number[]): Scene => ({
  request: [
    {
      metric: 'Result',
      processingType: 'batch',
      operations: [
        {
          operation,
          input: [{ timeseriesId: 's0', metric: 'Raw' }],
          output: [{ timeseriesId: 't0', metric: 'Step' }],
          parameters,
        },
      ],
    },
  ],
  samples: [{ timeMs, value }],
  options: {},
});

/** Both middle values are -0, and so is the median that replaces what lies far from it. */
const twoMinusZeros = sceneOf('Hampel', { samples: 100 }, [0, 1000, 2000, 3000, 4000, 5000], [0, 0, -0, -0, -5, -5]);

/** The first two samples are as old as the window, or older, though the window's start is rounded to one before. */
const asOldAsTheWindow = sceneOf(
  'Aggregate',
  { window: { type: 'sliding', size: 'QuarterHourly' }, function: 'Average' },
  [1, 1.1009765625, 900_001.1009765625],
  [0, 0, 0.25],
);

test('one step gives the bits, times and counts of the oracle', () => {
  fc.assert(fc.property(sceneArbitrary(1), expectAgreement), {
    numRuns: 2500,
    examples: [[twoMinusZeros], [asOldAsTheWindow]],
  });
});

test('many steps over many series give the bits, times and counts of the oracle', () => {
  fc.assert(fc.property(sceneArbitrary(7), expectAgreement), { numRuns: 1500 });
});
