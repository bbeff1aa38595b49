import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPlan, loadSeries, type Plan, pipeline, type Report, runBatch } from '../../src/index.js';
import { operationsByName } from '../../src/operations/index.js';
import { feedingArbitrary, runFed, runWithin, sceneArbitrary, seriesOf } from '../laws/running.js';
import { chainPlan, seriesOf as oneSeries } from './streams.js';

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

/** The samples that no count accounts for, if any. */
function lossesOf(plan: Plan, report: Report, samplesGiven: readonly number[]): string[] {
  const losses: string[] = [];
  const hold = (isSo: boolean, what: string): void => {
    if (!isSo) losses.push(what);
  };
  for (const { timeseriesId, samplesIn, samplesOut, dropped } of report.sources) {
    hold(samplesIn === samplesGiven[Number(timeseriesId.slice(1))], `${timeseriesId}: not all samples came in`);
    hold(samplesIn === samplesOut + total(Object.values(dropped)), `${timeseriesId}: a sample was lost`);
  }
  for (const [at, { operation, samplesIn, samplesOut, dropped, pointer }] of report.steps.entries()) {
    const inputs = plan.steps[at]!.inputs.map(({ from, index }) =>
      from === 'source' ? report.sources[index]!.samplesOut : report.steps[index]!.samplesOut,
    );
    hold(samplesIn === total(inputs), `${pointer}: what came in is not what was given`);
    const { nonFinite, outOfRange, duplicate, unmatched } = dropped;
    const { align = 'inner', function: name } = plan.steps[at]!.parameters;
    const shape = name === 'BoundsLimitAnomaly' ? 'filter' : operationsByName.get(operation)!.shape;
    if (shape === 'map' && inputs.length === 1)
      hold(samplesIn === samplesOut + nonFinite, `${pointer}: a map lost a sample`);
    if (shape === 'filter')
      hold(samplesIn >= samplesOut && nonFinite + outOfRange + duplicate === 0, `${pointer}: a filter drops`);
    if (operation === 'Shift')
      hold(samplesIn === samplesOut + outOfRange + duplicate, `${pointer}: Shift lost a sample`);
    // Only joins are checked: grids, and choices among several inputs, make values where no sample has a partner.
    if (inputs.length !== 2 || shape !== 'map') continue;
    const pairs = samplesOut + nonFinite;
    if (align === 'inner') hold(samplesIn === 2 * pairs + total(unmatched), `${pointer}: a join lost a sample`);
    if (align === 'asof')
      hold(inputs[0] === pairs + unmatched[0] && unmatched[1] <= inputs[1]!, `${pointer}: asof lost a sample`);
    const times = pairs + total(unmatched);
    const isOuter = align === 'hold' || align === 'linear';
    if (isOuter) hold(times >= Math.max(...inputs) && times <= total(inputs), `${pointer}: ${align} lost a time`);
  }
  return losses;
}

test('every sample that does not come out is counted, in batch and stream', () => {
  const property = fc.property(sceneArbitrary(6), feedingArbitrary, ({ request, samples, options }, feeding) => {
    const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
    const sources = seriesOf(samples);
    const given = sources.map(({ timeMs }) => timeMs.length);
    const batch = runWithin(plan, sources, options);
    if (batch === undefined) return;
    expect(lossesOf(plan, batch.report, given)).toEqual([]);
    const turns = feeding.turns.map(({ count }) => ({ count, after: 'restore' as const }));
    expect(lossesOf(plan, runFed(plan, sources, options, { ...feeding, turns }).report, given)).toEqual([]);
    const published = plan.items.map(({ step }) => batch.report.steps[step]!.samplesOut);
    expect(batch.series.map(({ timeMs }) => timeMs.length)).toEqual(published);
    expect(batch.report.unused).toBe(total(given) - total(batch.report.sources.map(({ samplesIn }) => samplesIn)));
  });
  fc.assert(property, { numRuns: 600 });
});

test('each reason for dropping a sample has a count', () => {
  const plan = chainPlan([
    ['Div', { scalar: 5e-324 }],
    ['Shift', { function: 'ShiftByTime', shift: 'P1D', direction: 'forward' }],
    ['Aggregate', { function: 'Variance', interval: 'PT1M' }],
  ]);
  const last = 253_402_300_799_999;
  const times = [5, 5, 10, 60_000, 60_001, 120_000, last, 9, 7];
  const values = [1, 0, 0, 0, 0, 0, 0, Number.NaN, Number.POSITIVE_INFINITY];
  const run = runWithin(
    plan,
    [oneSeries([...times, -1], [...values, 3]), oneSeries([1, 2], [1, 1], 'no one reads me')],
    { from: 0 },
  );
  const none = { nonFinite: 0, outOfRange: 0, unmatched: [0, 0], duplicate: 0, insufficient: 0 };
  expect(run?.report).toMatchObject({
    unused: 2,
    sources: [{ samplesIn: 10, samplesOut: 6, dropped: { missing: 2, outOfRun: 1, duplicate: 1, late: 0 } }],
    steps: [
      { samplesIn: 6, samplesOut: 6, dropped: none },
      { samplesIn: 6, samplesOut: 5, dropped: { ...none, outOfRange: 1 } },
      { samplesIn: 5, samplesOut: 2, dropped: { ...none, insufficient: 1 } },
    ],
  });
});

test('a filter over many samples keeps the right ones, whatever step follows', () => {
  const count = 150_001;
  const timeMs = Float64Array.from({ length: count }, (_, i) => i);
  const value = Float64Array.from({ length: count }, (_, i) => (Math.imul(i, 2_654_435_761) >>> 16) / 1000);
  const given = [{ timeseriesId: 'a', metric: 'Raw', timeMs, value }];
  const middle = { valuerangelist: [{ lower: 10, upper: 30 }] };
  const late = { timerangelist: [{ starttime: new Date(100_000) }] };
  const isMiddle = (i: number): boolean => value[i]! >= 10 && value[i]! <= 30;
  const cases = [
    { plan: pipeline('a').where(middle), isKept: isMiddle, factor: 1 },
    { plan: pipeline('a').mask(middle), isKept: (i: number) => !isMiddle(i), factor: 1 },
    { plan: pipeline('a').where(late), isKept: (i: number) => i >= 100_000, factor: 1 },
    { plan: pipeline('a').mask(late).where(middle), isKept: (i: number) => i < 100_000 && isMiddle(i), factor: 1 },
    { plan: pipeline('a').where(middle).mul(2), isKept: isMiddle, factor: 2 },
  ];
  for (const { plan, isKept, factor } of cases) {
    const kept = [...timeMs.filter(isKept)];
    for (const series of [given, loadSeries(given)]) {
      const { series: results, report } = runBatch(createPlan([plan.as('B')]), series);
      expect([...results[0]!.timeMs]).toEqual(kept);
      expect([...results[0]!.value]).toEqual(kept.map((i) => factor * value[i]!));
      expect(report.steps.at(-1)!.samplesOut).toBe(kept.length);
    }
  }
});
