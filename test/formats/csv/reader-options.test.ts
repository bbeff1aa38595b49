import { expect, test } from 'vitest';
import { createCsvReader, readCsv } from '../../../src/formats/csv/index.js';

const csv = 'timestamp,value\n2024-01-01T00:00:00Z,1\n';

/** As from JavaScript, which has no types. */
function read(options: object): () => unknown {
  return () => readCsv(csv, options);
}

test.each([
  [{ series: 'sensor' }, 'series: expected an array of column names, received "sensor"'],
  [{ time: 5 }, 'time: expected an array of column names, received 5'],
  [{ value: [5] }, 'value: expected an array of column names, received an array of 1'],
  [{ layout: 'broad' }, 'layout: expected "long" or "wide" or "single" or "days", received "broad"'],
  [{ decimal: ',' }, 'decimal: expected "point" or "comma", received ","'],
  [{ timeFormat: 'YYYY' }, 'timeFormat: expected "dmy" or "mdy" or "ymd"'],
  [{ states: { on: '1' } }, 'states: expected an object of numbers and null by text, received an object'],
  [{ as: 'office' }, 'as: expected an object with timeseriesId and metric, received "office"'],
  [{ skipLines: -1 }, 'skipLines: expected a whole number of at least 0, received -1'],
  [{ onBadRow: true }, 'onBadRow: expected "fail" or "skip", received true'],
  [{ wanted: ['office'] }, 'wanted: expected a function, received an array of 1'],
  [{ fileName: null }, 'fileName: expected text, received null'],
  [{ timeZone: 'Europe/Berlin' }, 'timeZone: expected timezone, received "timeZone"'],
  [{ delimiter: ';' }, 'delimiter: expected one of the options fileName, unnamed, as, time'],
  ['office.csv', 'options: expected an object, received "office.csv"'],
])('%j is refused with what was expected', (options, message) => {
  expect(read(options as object)).toThrow(message);
  expect(read(options as object)).toThrow(expect.objectContaining({ code: 'option.value' }));
  expect(() => createCsvReader(options as never, () => {})).toThrow(message);
});

test('what is neither text nor bytes, and a missing callback, are refused', () => {
  expect(() => readCsv([1, 2] as never)).toThrow('csv: expected text or its bytes, received an array of 2');
  expect(() => createCsvReader({ fileName: 'a.csv' }, undefined as never)).toThrow('onChunk: expected a function');
});

test('chunkRows is a whole number of at least 1', () => {
  const open = (chunkRows: number) => () => createCsvReader({ fileName: 'a.csv', chunkRows }, () => {});
  for (const wrong of [0, 1.5, Number.NaN]) expect(open(wrong)).toThrow('chunkRows: expected a whole number');
  expect(open(1)).not.toThrow();
});

test('an option that is undefined counts as not given', () => {
  expect(readCsv(csv, { series: undefined, timeFormat: undefined }).summary.rows).toBe(1);
});
