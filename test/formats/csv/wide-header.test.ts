import { expect, test } from 'vitest';
import type { Series } from '../../../src/core/series.js';
import { readCsv } from '../../../src/formats/csv/index.js';
import { FileReader } from '../../../src/formats/csv/read/reader.js';

const WIDE = 1500;
const names = Array.from({ length: WIDE }, (_, index) => `s${index}`);
const row = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z${',1.5'.repeat(WIDE)}\n`;
const bytes = Buffer.from(
  `timestamp,${names.join(',')}\n${Array.from({ length: 12 }, (_, minute) => row(minute)).join('')}`,
);

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

// A row of them is longer than the sample of the first rows that is examined otherwise.
const VERY_WIDE = 6000;
const wideText = (separator: string, times: readonly string[], value: string): string =>
  [
    ['time', ...Array.from({ length: VERY_WIDE }, (_, i) => `s${i}`)].join(separator),
    ...times.map((time) => [time, ...Array.from({ length: VERY_WIDE }, () => value)].join(separator)),
    '',
  ].join('\n');
const MINUTES = ['2024-01-01T00:00:00Z', '2024-01-01T00:01:00Z'];

test.each([
  ['decimal commas', wideText(';', MINUTES, '92,26'), '2024-01-01T00:01:00.000Z', 92.26],
  [
    'decimal commas, after blank lines',
    wideText(';', MINUTES, '92,26').replace('\n', '\n\n\n\n\n'),
    '2024-01-01T00:01:00.000Z',
    92.26,
  ],
  ['days first', wideText(',', ['12.01.2024 00:00', '13.01.2024 00:00'], '1'), '2024-01-13T00:00:00.000Z', 1],
  ['two digits of the year', wideText(',', ['24-01-30 00:00', '24-01-31 00:00'], '1'), '2024-01-31T00:00:00.000Z', 1],
  ['units', wideText(',', MINUTES, '21.5 °C'), '2024-01-01T00:01:00.000Z', 21.5],
])('rows longer than the usual sample are examined: %s', (_, text, time, value) => {
  const { timeMs, value: values } = readCsv(text).series.at(-1)!;
  expect([timeMs.length, new Date(timeMs[1]!).toISOString(), values[1]]).toEqual([2, time, value]);
});

test.each([
  ['a point', wideText(';', MINUTES, '1.234'), 'may be the decimal sign or group thousands'],
  ['digits', wideText(',', ['202401012345', '202401012346'], '1'), 'may be dates or epoch numbers'],
])('rows longer than the usual sample are asked about: %s', (_, text, question) => {
  expect(() => readCsv(text)).toThrow(question);
});

test('the times of days in rows are the same whether texts are read or, without a zone, added to midnight', () => {
  const clocks = Array.from({ length: 96 }, (_, i) => new Date((i + 1) * 900_000).toISOString().slice(11, 16));
  const days = ['0001-01-01', '1969-12-31', '2024-02-29', '2024-12-31', '9999-12-30'];
  const text = `date,${clocks.join(',')}\n${days.map((day) => `${day}${',1'.repeat(96)}\n`).join('')}`;
  const { series } = readCsv(text, { fileName: 'days.csv' });
  const expected = days.flatMap((day) => clocks.map((_, i) => Date.parse(`${day}T00:00:00Z`) + (i + 1) * 900_000));
  expect([...series[0]!.timeMs]).toEqual(expected);
  // A zone whose clocks are those of UTC since 1912: there, the texts are read.
  const late = text.replace(/^(?:0001|1969).*\n/gm, '');
  const zoned = readCsv(late, { fileName: 'days.csv', timezone: 'Africa/Abidjan' });
  expect([...zoned.series[0]!.timeMs]).toEqual(expected.slice(2 * 96));
});
