import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInstant } from '../../../src/core/instant.js';
import { TIME_MS_END, TIME_MS_MIN } from '../../../src/core/series.js';
import { createCsvWriter, csvHeader, readCsv, writeCsv } from '../../../src/formats/csv/index.js';

const time = fc.oneof(
  fc.integer({ min: TIME_MS_MIN, max: TIME_MS_END - 1 }),
  fc.integer({ min: -1e8, max: 1e8 }),
  fc.double({ min: TIME_MS_MIN, max: TIME_MS_END - 1, noNaN: true }),
  fc.double({ min: -1e-3, max: 1e-3, noNaN: true }),
);
const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.tuple(fc.integer({ min: -1e12, max: 1e12 }), fc.integer({ min: 0, max: 9 })).map(([m, k]) => m / 10 ** k),
  fc.integer(),
  fc.constantFrom(0, -0, 1e-6, 1e-7, 5e-324, 1e21, 999999999.999999, 2 ** 53, -1e9),
);
const samples = fc.array(fc.tuple(time, value), { maxLength: 20 });

const seriesOf = (timeseriesId: string, metric: string, rows: [number, number][]) => ({
  timeseriesId,
  metric,
  timeMs: Float64Array.from(rows, ([timeMs]) => timeMs),
  value: Float64Array.from(rows, ([, number]) => number),
});

describe('the CSV writer', () => {
  test('a row has the instant, the names and the number in their plain forms', () => {
    fc.assert(
      fc.property(samples, (rows) => {
        const lines = rows.map(
          ([timeMs, number]) => `${formatInstant(timeMs)},a,Raw,${Object.is(number, -0) ? '-0' : number}\n`,
        );
        expect(writeCsv([seriesOf('a', 'Raw', rows)])).toBe(csvHeader + lines.join(''));
      }),
      { numRuns: 2000 },
    );
  });

  test('its output reads back to the same bits, even with quotes and line ends in names', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '"', ',', '\n', '\r', ' ', ';'), minLength: 1 });
    fc.assert(
      fc.property(name, name, samples, (id, metric, rows) => {
        fc.pre(rows.length > 0);
        const series = seriesOf(
          id,
          metric,
          rows.map(([timeMs, number]) => [timeMs + 0, number]),
        );
        expect(readCsv(writeCsv([series])).series).toEqual([series]);
      }),
      { numRuns: 2000 },
    );
  });

  test('passes on whole rows, with the header first and once', () => {
    const pieces: string[] = [];
    const writer = createCsvWriter((bytes) => pieces.push(new TextDecoder().decode(bytes)));
    const rows = Array.from({ length: 2000 }, (_, i): [number, number] => [i * 1000, i / 8]);
    const all = [seriesOf('a', 'Raw', rows), seriesOf('b'.repeat(20_000), 'm', [[0, 1]])];
    for (const series of all) writer.write(series);
    writer.flush();
    expect(pieces.every((piece) => piece.endsWith('\n'))).toBe(true);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join('')).toBe(writeCsv(all));
  });

  test('one series alone is refused by name', () => {
    // @ts-expect-error: as a program in JavaScript may call it.
    expect(() => writeCsv(seriesOf('a', 'Raw', [[0, 1.5]]))).toThrow('series: expected an array of series');
  });

  test('columns of a disposed run, or of unequal length, are refused', () => {
    const series = seriesOf('a', 'Raw', [[0, 1.5]]);
    const uneven = 'columns of equal length, received 2 times and 1 values';
    expect(() => writeCsv([{ ...series, timeMs: Float64Array.of(0, 1) }])).toThrow(uneven);
    for (const column of [series.timeMs, series.value]) structuredClone(column, { transfer: [column.buffer] });
    expect(() => writeCsv([series])).toThrow('detached ones: transferred, or of a disposed run');
  });

  test.each([Number.NaN, TIME_MS_END, Number.POSITIVE_INFINITY])(
    'the time %d, which no reader takes, is refused',
    (t) => {
      expect(() => writeCsv([seriesOf('a', 'Raw', [[t, 1.5]])])).toThrow(`received ${t} at index 0`);
    },
  );

  test('no series give just the header', () => {
    expect(writeCsv([])).toBe(csvHeader);
  });

  test('without a header, it writes only rows', () => {
    const pieces: string[] = [];
    const writer = createCsvWriter((bytes) => pieces.push(new TextDecoder().decode(bytes)), { hasHeader: false });
    writer.write(seriesOf('a', 'Raw', [[0, 1.5]]));
    writer.flush();
    expect(pieces).toEqual(['1970-01-01T00:00:00.000Z,a,Raw,1.5\n']);
  });
});
