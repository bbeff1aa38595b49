import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCsvReader, type RejectedRow } from '../../../src/formats/csv/index.js';
import { numberText, timeText } from './texts.js';

// A row whose time stands in quotes is left to the general path as a whole, so a file read with and without
// these quotes compares the two paths.

interface File {
  readonly header: string;
  readonly rows: readonly string[][];
  readonly separator: string;
  readonly lineEnd: string;
  readonly hasLastEnd: boolean;
}

const usualTime = fc.integer({ min: 0, max: 2e5 }).map((second) => new Date(17e11 + second * 1000).toISOString());
const usualNumber = fc.integer({ min: -1e6, max: 1e6 }).map((number) => String(number / 1000));
const time = fc.oneof({ weight: 5, arbitrary: usualTime }, { weight: 1, arbitrary: timeText });
const number = fc.oneof({ weight: 5, arbitrary: usualNumber }, { weight: 1, arbitrary: numberText });
const name = fc.constantFrom('a', 'b', 'room 1', ' c', 'é', '"q""uote"', '"line\nfeed"', '', 'a'.repeat(70));
const shapes = fc.constantFrom(
  { header: ['timestamp', 'value'], fields: [time, number] },
  { header: ['Value', 'TIME'], fields: [number, time] },
  { header: ['ts', 'a', 'unwanted', 'b c'], fields: [time, number, fc.oneof(number, name), number] },
  { header: ['timestamp', 'timeseriesId', 'metric', 'value'], fields: [time, name, name, number] },
  { header: ['val', 'note', 'TimeseriesID', 'date'], fields: [number, name, name, time] },
);
const file: fc.Arbitrary<File> = shapes.chain(({ header, fields }) =>
  fc
    .record({
      rows: fc.array(fc.tuple(...(fields as readonly fc.Arbitrary<string>[])), { maxLength: 30 }),
      separator: fc.constantFrom(',', ';', '\t'),
      lineEnd: fc.constantFrom('\n', '\r\n'),
      hasLastEnd: fc.boolean(),
      header: fc.constant(''),
      names: fc.constant(header),
    })
    .map(({ names, ...rest }) => ({ ...rest, header: names.join(rest.separator) })),
);

const timeNames = ['timestamp', 'time', 'ts', 'date'];

function textOf({ header, rows, separator, lineEnd, hasLastEnd }: File, isTimeQuoted: boolean): string {
  const timeColumn = header.split(separator).findIndex((column) => timeNames.includes(column.toLowerCase()));
  const lines = rows.map((row) =>
    row.map((field, column) => (isTimeQuoted && column === timeColumn ? `"${field}"` : field)).join(separator),
  );
  return [header, ...lines].join(lineEnd) + (hasLastEnd ? lineEnd : '');
}

interface Outcome {
  readonly samples: Map<string, number[]>;
  readonly rejected: Omit<RejectedRow, 'row'>[];
  readonly summary: unknown;
}

function read(text: string, cuts: readonly number[], chunkRows: number, timezone: string): Outcome {
  const bytes = new TextEncoder().encode(text);
  const samples = new Map<string, number[]>();
  const rejected: Omit<RejectedRow, 'row'>[] = [];
  const wanted = ({ timeseriesId }: { timeseriesId: string }): boolean => timeseriesId !== 'unwanted';
  // Quotes around the time are what the two files differ in.
  const onReject = ({ row: _, text, ...rest }: RejectedRow): unknown =>
    rejected.push({ ...rest, text: text.replaceAll('"', '') });
  const reader = createCsvReader(
    { fileName: 'x.csv', chunkRows, timezone, onBadRow: 'skip', onReject, wanted },
    (all) => {
      for (const { timeseriesId, metric, timeMs, value } of all) {
        const key = JSON.stringify([timeseriesId, metric]);
        const list = samples.get(key) ?? [];
        samples.set(key, list);
        timeMs.forEach((ms, row) => {
          list.push(ms, value[row]!);
        });
      }
    },
  );
  let from = 0;
  for (const cut of [...cuts.map((part) => Math.floor(part * bytes.length)).sort((a, b) => a - b), bytes.length]) {
    reader.push(bytes.slice(from, cut));
    from = cut;
  }
  return { samples, rejected, summary: reader.end() };
}

const cutting = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York');

describe('the fast and the general path', () => {
  test('give the same samples, counts and rejected rows, bit for bit, for every file', () => {
    const check = (one: File, chunkRows: number, timezone: string): void => {
      const general = read(textOf(one, true), [], chunkRows, timezone);
      expect(read(textOf(one, false), [], chunkRows, timezone)).toEqual(general);
    };
    fc.assert(fc.property(file, fc.integer({ min: 1, max: 40 }), zone, check), { numRuns: 5000 });
  });

  test('give the same wherever the bytes are cut', () => {
    const check = (one: File, cuts: number[], chunkRows: number): void => {
      const text = textOf(one, false);
      expect(read(text, cuts, chunkRows, 'UTC')).toEqual(read(text, [], 8192, 'UTC'));
    };
    fc.assert(fc.property(file, cutting, fc.integer({ min: 1, max: 40 }), check), { numRuns: 5000 });
  });

  test('give the same a byte at a time', () => {
    const check = (one: File): void => {
      const text = textOf(one, false);
      const everywhere = Array.from({ length: text.length }, (_, index) => index / text.length);
      expect(read(text, everywhere, 8192, 'UTC')).toEqual(read(text, [], 8192, 'UTC'));
    };
    fc.assert(fc.property(file, check), { numRuns: 300 });
  });
});
