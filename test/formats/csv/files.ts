import fc from 'fast-check';
import { numberText, timeText } from './texts.js';

// Random files of every layout, with rows that are typical, odd and faulty.

/** A file before its fields are joined. */
export interface File {
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
// Some are longer than the tables of names hold, and of one length.
const long = ['a'.repeat(70), `${'a'.repeat(69)}b`, 'a'.repeat(200), `${'a'.repeat(199)}b`, 'b'.repeat(200)];
const name = fc.constantFrom('a', 'b', 'room 1', ' c', 'é', '"q""uote"', '"line\nfeed"', '', ...long);
const shapes = fc.constantFrom(
  { header: ['timestamp', 'value'], fields: [time, number] },
  { header: ['Value', 'TIME'], fields: [number, time] },
  { header: ['ts', 'a', 'unwanted', 'b c'], fields: [time, number, fc.oneof(number, name), number] },
  { header: ['timestamp', 'timeseriesId', 'metric', 'value'], fields: [time, name, name, number] },
  { header: ['val', 'note', 'TimeseriesID', 'date'], fields: [number, name, name, time] },
);
/** Files of every layout. */
export const file: fc.Arbitrary<File> = shapes.chain(({ header, fields }) =>
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

/** The text of a file, with times quoted or not. */
export function textOf({ header, rows, separator, lineEnd, hasLastEnd }: File, isTimeQuoted: boolean): string {
  const timeColumn = header.split(separator).findIndex((column) => timeNames.includes(column.toLowerCase()));
  const lines = rows.map((row) =>
    row.map((field, column) => (isTimeQuoted && column === timeColumn ? `"${field}"` : field)).join(separator),
  );
  return [header, ...lines].join(lineEnd) + (hasLastEnd ? lineEnd : '');
}
