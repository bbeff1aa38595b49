import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CsvReader, createCsvReader } from '../../../src/formats/csv/index.js';
import { NAMES_MAX } from '../../../src/kernels/field-layout.js';

// Files that the kernel for rows of several fields reads as a whole or in part, against the samples they were made of.

interface Sample {
  readonly timeMs: number;
  readonly id: string;
  readonly metric: string;
  /** As in the file. */
  readonly text: string;
}

/** Lengths around those of vectors and of what a table of names holds, with common beginnings. */
const name = fc
  .tuple(
    fc.constantFrom('a', 'sensor_', 'x'.repeat(15), 'y'.repeat(30), 'z'.repeat(46)),
    fc.integer({ min: 0, max: 30 }),
  )
  .map(([start, number]) => `${start}${number}`);
const number = fc.oneof(
  fc.constantFrom('', '0', '-0', '-0.0', '007', '1.10', '99999999', '123456789.12345', '-9999999999.9999', '0.1'),
  fc.tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.integer({ min: 0, max: 5 })).map(([x, digits]) => x.toFixed(digits)),
  fc.double({ min: -1e4, max: 1e4, noNaN: true }).map(String),
  fc.tuple(fc.maxSafeNat(), fc.nat({ max: 9999 })).map(([whole, rest]) => `${whole}.${rest}`),
  fc.tuple(fc.nat({ max: 99 }), fc.maxSafeNat()).map(([whole, rest]) => `-${whole}.00${rest}`),
  fc.constantFrom('1e5', '1234567890123456789', '-12345678901234567', '5.'),
);
const sample: fc.Arbitrary<Sample> = fc.record({
  timeMs: fc.integer({ min: 0, max: 3e8 }).map((ms) => 1.7e12 + ms),
  id: name,
  metric: fc.constantFrom('Raw', 'Hourly', 'm'.repeat(50)),
  text: number,
});
const samples = fc.array(sample, { minLength: 1, maxLength: 120 });
const chunkRows = fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined });
const lineEnd = fc.constantFrom('\n', '\r\n');

const isoOf = (timeMs: number): string => new Date(timeMs).toISOString();
const numberOf = (text: string): number => (text === '' ? Number.NaN : Number(text));

type Found = Map<string, [timeMs: number, value: number][]>;

function add(found: Found, key: string, timeMs: number, value: number): void {
  found.set(key, [...(found.get(key) ?? []), [timeMs, value]]);
}

function openReader(rows: number | undefined, wanted: (id: string) => boolean): { reader: CsvReader; found: Found } {
  const found: Found = new Map();
  const reader = createCsvReader(
    { fileName: 'x.csv', chunkRows: rows, wanted: ({ timeseriesId }) => wanted(timeseriesId) },
    (series) => {
      for (const { timeseriesId, metric, timeMs, value } of series) {
        timeMs.forEach((ms, row) => {
          add(found, `${timeseriesId} ${metric}`, ms, value[row]!);
        });
      }
    },
  );
  return { reader, found };
}

function longFile(rows: readonly Sample[], end: string): { text: string; expected: Found } {
  const expected: Found = new Map();
  for (const { id, metric, timeMs, text } of rows) add(expected, `${id} ${metric}`, timeMs, numberOf(text));
  const note = (row: number): string => (row % 5 === 0 ? '"said, ""so"""' : 'x'.repeat(row % 40));
  const lines = rows.map(
    ({ id, metric, timeMs, text }, row) => `${metric},${isoOf(timeMs)},${note(row)},${id},${text}`,
  );
  return { text: ['metric,timestamp,note,timeseriesId,value', ...lines, ''].join(end), expected };
}

function wideFile(rows: readonly Sample[], columns: number, end: string): { text: string; expected: Found } {
  const expected: Found = new Map();
  const lines = rows.map(({ timeMs }, row) => {
    const fields = Array.from({ length: columns }, (_, column) => rows[(row + 7 * column) % rows.length]!.text);
    for (const [column, text] of fields.entries()) add(expected, `s${column} Raw`, timeMs, numberOf(text));
    return [isoOf(timeMs), ...fields].join(',');
  });
  const header = ['timestamp', ...Array.from({ length: columns }, (_, column) => `s${column}`)].join(',');
  return { text: [header, ...lines, ''].join(end), expected };
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('rows of several fields', () => {
  test('of the long layout give the samples in the file, of those series that are wanted', () => {
    const check = (rows: Sample[], chunk: number | undefined, end: string, unwanted: string): void => {
      const { text, expected } = longFile(rows, end);
      const { reader, found } = openReader(chunk, (id) => id !== unwanted);
      // What is known of names after the first part is used for the second.
      const bytes = bytesOf(text);
      reader.push(bytes.subarray(0, bytes.length >> 1));
      reader.push(bytes.subarray(bytes.length >> 1));
      const { rows: rowCount, missing, series } = reader.end();
      for (const key of [...expected.keys()]) if (key.startsWith(`${unwanted} `)) expected.delete(key);
      expect(found).toEqual(expected);
      expect(rowCount).toBe(rows.length);
      expect(missing).toBe([...expected.values()].flat().filter(([, value]) => Number.isNaN(value)).length);
      expect(series.reduce((sum, one) => sum + one.samples, 0)).toBe(rows.length);
    };
    fc.assert(fc.property(samples, chunkRows, lineEnd, name, check), { numRuns: 1000 });
  });

  test('of the wide layout give the samples in the file', () => {
    const check = (rows: Sample[], columns: number, chunk: number | undefined, end: string): void => {
      const { text, expected } = wideFile(rows, columns, end);
      const { reader, found } = openReader(chunk, () => true);
      reader.push(bytesOf(text));
      const { missing } = reader.end();
      expect(found).toEqual(expected);
      expect(missing).toBe([...expected.values()].flat().filter(([, value]) => Number.isNaN(value)).length);
    };
    const columns = fc.integer({ min: 2, max: 12 });
    fc.assert(fc.property(samples, columns, chunkRows, lineEnd, check), { numRuns: 1000 });
  });

  test('are read by several readers in turn', () => {
    const check = (files: Sample[][], parts: number): void => {
      const readings = files.map((rows, index) => {
        const file = index % 2 === 0 ? longFile(rows, '\n') : wideFile(rows, 3 + index, '\n');
        return { ...file, bytes: bytesOf(file.text), ...openReader(undefined, () => true) };
      });
      for (let part = 0; part < parts; part++) {
        for (const { reader, bytes } of readings) {
          const at = (share: number): number => Math.floor((bytes.length * share) / parts);
          reader.push(bytes.subarray(at(part), at(part + 1)));
        }
      }
      for (const { reader, found, expected } of readings) {
        reader.end();
        expect(found).toEqual(expected);
      }
    };
    const files = fc.array(samples, { minLength: 2, maxLength: 4 });
    fc.assert(fc.property(files, fc.integer({ min: 1, max: 9 }), check), { numRuns: 300 });
  });

  test('may name more series than a table of names holds', () => {
    const rows = Array.from({ length: 3 * NAMES_MAX }, (_, row): Sample => {
      return { timeMs: 1.7e12 + row, id: `id${row % (NAMES_MAX + 500)}`, metric: 'Raw', text: `${row}` };
    });
    const { text, expected } = longFile(rows, '\n');
    const { reader, found } = openReader(undefined, () => true);
    reader.push(bytesOf(text));
    reader.end();
    expect(found).toEqual(expected);
  });

  test('may have more columns than the kernel takes', () => {
    const rows = [1, 2, 3].map((row): Sample => ({ timeMs: 1.7e12 + row, id: '', metric: '', text: `${row}.5` }));
    const { text, expected } = wideFile(rows, 1500, '\n');
    const { reader, found } = openReader(undefined, () => true);
    reader.push(bytesOf(text));
    reader.end();
    expect(found).toEqual(expected);
  });
});
