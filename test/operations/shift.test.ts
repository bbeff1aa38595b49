import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resultOf, runStep } from '../laws/steps.js';

const input = {
  timeseriesId: 'in',
  metric: 'Raw',
  timeMs: Float64Array.of(Date.UTC(2024, 1, 1), Date.UTC(2024, 6, 15, 7, 30)),
  value: Float64Array.of(1, 2),
};

describe('a shift far beyond the known years drops and counts its samples', () => {
  const zones = [undefined, 'Europe/Berlin', 'Pacific/Apia'];
  const windows = ['QuarterHourly', 'Daily', 'Weekly', 'Monthly', 'Yearly'];
  const cases = zones.flatMap((timezone) => windows.map((window) => [window, timezone] as const));

  test.each(cases)('%s in %s', (window, timezone) => {
    for (const shift of [1e9, Number.MAX_SAFE_INTEGER]) {
      for (const direction of ['forward', 'backward']) {
        const parameters = { function: 'ShiftByWindow', shift, direction, window };
        const { series, report } = runStep('Shift', parameters, [input], timezone === undefined ? {} : { timezone });
        expect(series[0]!.timeMs.length).toBe(0);
        expect(report.steps[0]!.dropped).toMatchObject({ outOfRange: 2, duplicate: 0 });
      }
    }
  });

  test('by a duration', () => {
    const parameters = { function: 'ShiftByTime', shift: 'P99999999999W', direction: 'backward' };
    expect(runStep('Shift', parameters, [input]).report.steps[0]!.dropped.outOfRange).toBe(2);
  });
});

test('a shift in a batch has its own values and leaves the input unchanged', () => {
  const timeMs = Float64Array.from({ length: 20_000 }, (_, i) => i * 1000);
  const value = Float64Array.from(timeMs, (t) => Math.sin(t));
  const before = value.slice();
  const parameters = { function: 'ShiftByTime', shift: 'PT1H', direction: 'forward' };
  const [result] = runStep('Shift', parameters, [{ timeseriesId: 'in', metric: 'Raw', timeMs, value }]).series;
  expect(result!.value).toStrictEqual(before);
  expect(result!.value.buffer).not.toBe(value.buffer);
  expect(result!.timeMs).toStrictEqual(timeMs.map((t) => t + 3_600_000));
  expect(value).toStrictEqual(before);
});

test('a sample on a border moves to a border, also with windows of a fraction of a millisecond', () => {
  const length = fc.oneof(
    fc.integer({ min: 100_000, max: 5_000_000 }),
    fc.integer({ min: 100_000, max: 5_000_000_000 }),
  );
  const index = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -20_000, max: 20_000 }));
  const shift = fc.oneof(fc.nat(9), fc.nat(20_000));
  const moves = fc.record({ lengthNs: length, index, shift, direction: fc.constantFrom('forward', 'backward') });
  fc.assert(
    fc.property(moves, ({ lengthNs, index, shift, direction }) => {
      const borderMs = (at: number) => Number(`${at * lengthNs}e-6`) + 0;
      const series = { ...input, timeMs: Float64Array.of(borderMs(index)), value: Float64Array.of(1) };
      const parameters = { function: 'ShiftByWindow', shift, direction, window: `PT${(lengthNs / 1e9).toFixed(9)}S` };
      const movedMs = borderMs(direction === 'forward' ? index + shift : index - shift);
      expect(resultOf('Shift', parameters, [series])).toStrictEqual([[movedMs, 1]]);
    }),
  );
});
