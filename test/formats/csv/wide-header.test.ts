import { expect, test } from 'vitest';
import type { Series } from '../../../src/core/series.js';
import { FileReader } from '../../../src/formats/csv/read/reader.js';

const WIDE = 1500;
const names = Array.from({ length: WIDE }, (_, index) => `s${index}`);
const row = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z${',1.5'.repeat(WIDE)}\n`;
const bytes = Buffer.from(`timestamp,${names.join(',')}\n${row(0)}${row(1)}`);

function read(push: (reader: FileReader) => void): Series[] {
  const found: Series[] = [];
  const take = (chunk: readonly Series[]): void => {
    for (const { timeMs, value, ...names } of chunk) {
      found.push({ ...names, timeMs: timeMs.slice(), value: value.slice() });
    }
  };
  const reader = new FileReader({ fileName: 'wide.csv' }, take);
  push(reader);
  reader.end();
  return found;
}

test('a wide header read with pauses gives what it gives at once', () => {
  const atOnce = read((reader) => reader.push(bytes));
  expect(atOnce.map(({ timeseriesId }) => timeseriesId)).toEqual(names);
  let stops = 0;
  const inTurns = read((reader) => {
    for (const _ of reader.pushInTurns(bytes)) stops++;
  });
  expect(inTurns).toEqual(atOnce);
  // The pauses come after finding it, its columns, their roles, and the state for them.
  expect(stops).toBeGreaterThanOrEqual(4);
});

test('a narrow header is read without a pause', () => {
  read((reader) => expect([...reader.pushInTurns(Buffer.from('timestamp,a\n2026-01-01T00:00:00Z,1\n'))]).toEqual([]));
});
