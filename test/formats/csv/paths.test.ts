import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CsvReader, createCsvReader, type RejectedRow } from '../../../src/formats/csv/index.js';
import { type File, file, textOf } from './files.js';

// A row with a quoted time goes to the general path as a whole, so reading a file with and without these quotes
// compares the two paths.

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
  // The two files differ in the quotes around times.
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
  try {
    push(reader, bytes, cuts);
    return { samples, rejected, summary: reader.end() };
  } catch (error) {
    // A file may be unclear, but then so in both forms.
    return { samples, rejected, summary: String(error) };
  }
}

function push(reader: CsvReader, bytes: Uint8Array, cuts: readonly number[]): void {
  let from = 0;
  for (const cut of [...cuts.map((part) => Math.floor(part * bytes.length)).sort((a, b) => a - b), bytes.length]) {
    reader.push(bytes.slice(from, cut));
    from = cut;
  }
}

const cutting = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York');

describe('the fast and the general path', () => {
  test('give the same samples, counts and rejected rows, bit for bit, for every file', () => {
    const check = (one: File, chunkRows: number, timezone: string): void => {
      const general = read(textOf(one, true), [], chunkRows, timezone);
      expect(read(textOf(one, false), [], chunkRows, timezone)).toEqual(general);
    };
    fc.assert(fc.property(file, fc.integer({ min: 1, max: 40 }), zone, check), { numRuns: 3000 });
  });

  test('give the same wherever the bytes are cut', () => {
    const check = (one: File, cuts: number[], chunkRows: number): void => {
      const text = textOf(one, false);
      expect(read(text, cuts, chunkRows, 'UTC')).toEqual(read(text, [], 8192, 'UTC'));
    };
    fc.assert(fc.property(file, cutting, fc.integer({ min: 1, max: 40 }), check), { numRuns: 3000 });
  });

  test('give the same one byte at a time', () => {
    const check = (one: File): void => {
      const text = textOf(one, false);
      const everywhere = Array.from({ length: text.length }, (_, index) => index / text.length);
      expect(read(text, everywhere, 8192, 'UTC')).toEqual(read(text, [], 8192, 'UTC'));
    };
    fc.assert(fc.property(file, check), { numRuns: 300 });
  });
});
