import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timeTicks } from '../../src/plot/time-ticks.js';
import { formatValue, valueTicks } from '../../src/plot/value-ticks.js';

describe('ticks of the value axis', () => {
  it('are a few round numbers on the axis, which covers all values', () => {
    const usual = fc.double({ min: -1e15, max: 1e15, noNaN: true });
    const value = fc.oneof(usual, fc.double({ noNaN: true, noDefaultInfinity: true }));
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [min, max] = a < b ? [a, b] : [b, a];
        const axis = valueTicks({ min, max }, 6);
        expect(axis.min).toBeLessThanOrEqual(min);
        expect(axis.max).toBeGreaterThanOrEqual(max);
        expect(axis.max).toBeGreaterThan(axis.min);
        expect([axis.min, axis.max].every(Number.isFinite)).toBe(true);
        expect(axis.ticks.length).toBeLessThanOrEqual(8);
        const near = axis.max * 1e-6 - axis.min * 1e-6;
        for (const tick of axis.ticks) {
          expect(tick.value).toBeGreaterThanOrEqual(axis.min - near);
          expect(tick.value).toBeLessThanOrEqual(axis.max + near);
        }
      }),
    );
  });

  it.each([
    [{ min: 14.2, max: 30.1 }, ['14', '16', '18', '20', '22', '24', '26', '28', '30']],
    [{ min: 2, max: 27_000 }, ['0', '5,000', '10,000', '15,000', '20,000', '25,000']],
    [{ min: -0.3, max: 0.31 }, ['−0.3', '−0.2', '−0.1', '0.0', '0.1', '0.2', '0.3']],
    [{ min: 5, max: 5 }, ['4.5', '4.6', '4.7', '4.8', '4.9', '5.0', '5.1', '5.2', '5.3', '5.4', '5.5']],
    [{ min: 0, max: 3e13 }, ['0', '5e12', '1e13', '1.5e13', '2e13', '2.5e13', '3e13']],
    [
      { min: 1.7e12, max: 1.7e12 + 3e7 },
      ['1.700000e12', '1.700005e12', '1.700010e12', '1.700015e12', '1.700020e12', '1.700025e12', '1.700030e12'],
    ],
  ])('%j', (extent, labels) => {
    expect(valueTicks(extent, 10).ticks.map(({ label }) => label)).toEqual(labels);
  });

  it('have labels that differ from one another', () => {
    const size = fc.double({ min: -15, max: 15, noNaN: true }).map((exponent) => 10 ** exponent);
    const share = fc.double({ min: -11, max: 1, noNaN: true }).map((exponent) => 10 ** exponent);
    fc.assert(
      fc.property(size, share, fc.constantFrom(-1, 1), (least, part, sign) => {
        const ends = [sign * least, sign * least * (1 + part)];
        const labels = valueTicks({ min: Math.min(...ends), max: Math.max(...ends) }, 8).ticks.map(
          ({ label }) => label,
        );
        expect(new Set(labels).size).toBe(labels.length);
      }),
    );
  });

  it('never show a negative zero', () => {
    expect(formatValue(-1e-17, 0.1)).toBe('0.0');
  });
});

describe('ticks of the time axis', () => {
  const at = (text: string): number => Date.parse(text);

  it.each([
    [
      '2024-03-01T10:00Z',
      '2024-03-01T10:00:01Z',
      5,
      'UTC',
      ['10:00:00.000 (1 Mar 2024)', '10:00:00.200', '10:00:00.400', '10:00:00.600', '10:00:00.800', '10:00:01.000'],
    ],
    [
      '2024-03-01T22:00Z',
      '2024-03-02T03:00Z',
      6,
      'UTC',
      ['22:00 (1 Mar 2024)', '23:00', '00:00 (2 Mar 2024)', '01:00', '02:00', '03:00'],
    ],
    ['2024-02-26T00:00Z', '2024-03-18T00:00Z', 4, 'UTC', ['26 Feb (2024)', '4 Mar', '11 Mar', '18 Mar']],
    ['2013-07-04T00:00Z', '2014-05-28T00:00Z', 6, 'UTC', ['Sep (2013)', 'Nov', 'Jan (2014)', 'Mar', 'May']],
    ['1999-06-01T00:00Z', '2024-01-01T00:00Z', 8, 'UTC', ['2000', '2005', '2010', '2015', '2020']],
    // Clocks go from 02:00 to 03:00, so that hour has no tick.
    ['2024-03-31T00:00Z', '2024-03-31T03:00Z', 5, 'Europe/Berlin', ['01:00 (31 Mar 2024)', '03:00', '04:00', '05:00']],
  ])('%s to %s', (from, to, count, timezone, expected) => {
    const ticks = timeTicks({ min: at(from), max: at(to) }, count, timezone);
    expect(ticks.map(({ label, context }) => (context ? `${label} (${context})` : label))).toEqual(expected);
  });

  it('are within the extent, in order, and never many', () => {
    const time = fc.integer({ min: at('1900-01-01T00:00Z'), max: at('2100-01-01T00:00Z') });
    fc.assert(
      fc.property(
        time,
        fc.integer({ min: 1, max: 1e12 }),
        fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu'),
        (min, span, zone) => {
          const ticks = timeTicks({ min, max: min + span }, 10, zone).map(({ timeMs }) => timeMs);
          expect(ticks.length).toBeLessThanOrEqual(12);
          expect(ticks.every((timeMs, i) => timeMs >= (ticks[i - 1] ?? min) && timeMs <= min + span)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
