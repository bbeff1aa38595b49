import { expect, test } from 'vitest';
import { CheckpointError, openStream, restoreStream, runBatch } from '../../src/index.js';
import { chainPlan, pairsOf, seriesOf } from './streams.js';

/** Runs over times and lengths at the limits of what doubles can tell apart: they must end. */

test('a shift beyond all known time does not stop the watermark of the steps after it', () => {
  for (const direction of ['forward', 'backward']) {
    for (const interval of ['Hourly', 'PT0.1S', 'Monthly']) {
      for (const timezone of ['UTC', 'Europe/Berlin']) {
        const plan = chainPlan(
          [
            ['Shift', { function: 'ShiftByTime', shift: 'P999999999999999999999D', direction }],
            ['Aggregate', { function: 'Sum', interval }],
          ],
          timezone,
        );
        const stream = openStream(plan);
        stream.push([seriesOf([0, 1, 2], [1, 2, 3])]);
        stream.advance(10);
        const { series, report } = stream.close();
        expect(pairsOf(series[0]!)).toEqual([]);
        expect(report.steps[0]!.dropped.outOfRange).toBe(3);
      }
    }
  }
});

test('the shortest windows stay distinct in all known years', () => {
  const plan = chainPlan([['Aggregate', { function: 'Sum', interval: 'PT0.0001S' }]]);
  for (const startMs of [-62_135_596_800_000, 1.7e12, 253_402_300_000_000]) {
    for (let k = 0; k < 200; k++) {
      const t = startMs + k * 1.03125;
      const { series } = runBatch(plan, [seriesOf([t, t + 1], [1, 2])]);
      expect([...series[0]!.value]).toEqual([1, 2]);
      expect(series[0]!.timeMs[0]).toBeLessThanOrEqual(t);
      expect(series[0]!.timeMs[0]).toBeGreaterThan(t - 0.14);
    }
  }
});

test('times in a unit other than milliseconds are refused as such, not as too many samples', () => {
  const plan = chainPlan([['HoldLastValue', { interval: 'Hourly' }]]);
  const nanoseconds = seriesOf([1.7e18, 1.7e18 + 1e15], [1, 2]);
  expect(() => runBatch(plan, [nanoseconds])).toThrow('epoch milliseconds within the years 0001 to 9999');
});

test('a stream cannot be restored from undefined', () => {
  const plan = chainPlan([['Abs', {}]]);
  expect(() => restoreStream(plan, undefined as never)).toThrow(CheckpointError);
});

test('a limit given as text is refused', () => {
  const plan = chainPlan([['Abs', {}]]);
  expect(() => openStream(plan, { maxOutputSamples: '5' as never })).toThrow('maxOutputSamples: expected a number');
});
