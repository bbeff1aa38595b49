// Annotated files with several tables, as InfluxDB exports them.
import { expect, test } from 'vitest';
import { type ReadCsvOptions, readCsv } from '../../../src/formats/csv/index.js';

const TYPES = '#datatype,dateTime:RFC3339,double,double';
const first = [TYPES, '_time,temp,hum', '2024-01-01T00:00:00Z,20,50', ''];
const table = (header: string, ...rows: string[]): string => [...first, TYPES, header, ...rows, ''].join('\n');
const valuesIn = (text: string, options: ReadCsvOptions = {}) =>
  readCsv(text, { fileName: 'export.csv', ...options }).series.map(({ timeseriesId, value }) => [
    timeseriesId,
    ...value,
  ]);

test('a later table with the columns of the first goes on with its series', () => {
  expect(valuesIn(table('_time,temp,hum', '2024-01-02T00:00:00Z,21,51'))).toEqual([
    ['temp', 20, 21],
    ['hum', 50, 51],
  ]);
});

test('the values for empty fields are those of each table', () => {
  const withDefault = (hum: string, minute: number) =>
    [TYPES, `#default,,${hum}`, '_time,temp,hum', `2024-01-01T00:0${minute}:00Z,2${minute},`, ''].join('\n');
  expect(valuesIn(withDefault('50', 0) + withDefault('51', 1))).toEqual([
    ['temp', 20, 21],
    ['hum', 50, 51],
  ]);
});

const REFUSAL = 'begins a table with other columns than the first; expected the same, or a file of its own';

test.each(['_time,hum,temp', '_time,temp', '_time,temp,hum,co2'])(
  'a later table of other columns, which do not name its series, is refused: %s',
  (header) => {
    const columns = header.split(',').length - 1;
    expect(() => valuesIn(table(header, `2024-01-02T00:00:00Z${',1'.repeat(columns)}`))).toThrow(
      `export.csv, line 6: ${REFUSAL}`,
    );
  },
);

test('a later table in another layout is refused', () => {
  const long = ['#datatype,dateTime:RFC3339,double,string', '_time,_value,_field', '2024-01-01T00:00:00Z,1,f', ''];
  const wide = [TYPES, '_time,temp,hum', '2024-01-02T00:00:00Z,51,21', ''];
  expect(() => valuesIn([...long, ...wide].join('\n'))).toThrow(REFUSAL);
});
