import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { CsvError, createCsvReader, type RejectedRow, readCsv } from '../../../src/formats/csv/index.js';

const FIRST_MS = Date.UTC(2024, 0, 1);

// Series as plain arrays.
function seriesOf(csv: string | Uint8Array, options: Parameters<typeof readCsv>[1] = {}) {
  return readCsv(csv, options).series.map(({ timeseriesId, metric, timeMs, value }) => ({
    name: `${timeseriesId}/${metric}`,
    timeMs: [...timeMs],
    value: [...value],
  }));
}

describe('the header decides the layout', () => {
  test('long: rows name their series, with columns in any order, with or without a metric', () => {
    const one = { name: 'a/Temperature', timeMs: [FIRST_MS], value: [1.5] };
    expect(seriesOf('timestamp,timeseriesId,metric,value\n2024-01-01,a,Temperature,1.5\n')).toEqual([one]);
    expect(seriesOf('VAL;"Metric";TimeSeriesID;Time\r\n1.5;Temperature;a;2024-01-01\r\n')).toEqual([one]);
    expect(seriesOf('ts\ttimeseriesId\tval\n2024-01-01\ta\t1.5')).toEqual([{ ...one, name: 'a/Raw' }]);
  });

  test('long: an unknown column is ignored', () => {
    const csv = 'timestamp,note,timeseriesId,value\n2024-01-01,"a, b",x,1\n2024-01-02,,x,2\n';
    expect(seriesOf(csv)).toEqual([{ name: 'x/Raw', timeMs: [FIRST_MS, FIRST_MS + 864e5], value: [1, 2] }]);
  });

  test('wide: every column except the time is a series', () => {
    expect(seriesOf('a;timestamp;b c\n1;2024-01-01;2\n;2024-01-02;NaN\n')).toEqual([
      { name: 'a/Raw', timeMs: [FIRST_MS, FIRST_MS + 864e5], value: [1, Number.NaN] },
      { name: 'b c/Raw', timeMs: [FIRST_MS, FIRST_MS + 864e5], value: [2, Number.NaN] },
    ]);
  });

  test('single: the series is named after the file, without its folder, .csv and .gz', () => {
    const names = ['office.csv', '/data/office.csv.gz', 'C:\\data\\office.CSV', './office'];
    for (const fileName of names) expect(seriesOf('timestamp,value\n0,1\n', { fileName })[0]?.name).toBe('office/Raw');
  });

  test('a byte order mark, blank lines, CRLF, spaces and a missing last line end change nothing', () => {
    const plain = seriesOf('timestamp,value\n2024-01-01,1\n2024-01-02,2\n');
    expect(seriesOf('\ufefftimestamp,value\r\n\r\n2024-01-01 , 1\r\n  \r\n2024-01-02,2')).toEqual(plain);
    expect(seriesOf('\n\n"timestamp", "value"\n"2024-01-01","1"\n\n2024-01-02, 2 \n\n')).toEqual(plain);
  });
});

describe('the content of a file is counted', () => {
  test('missing values are NaN, and series that nobody asked for are only counted', () => {
    const csv = 'timestamp,timeseriesId,value\n0,a,\n1,b,null\n2,a,3\n3,c,inf\n';
    const { series, summary } = readCsv(csv, { wanted: ({ timeseriesId }) => timeseriesId !== 'b' });
    expect(series.map(({ timeseriesId, value }) => [timeseriesId, ...value])).toEqual([
      ['a', Number.NaN, 3],
      ['c', Number.NaN],
    ]);
    expect(summary).toEqual({
      layout: 'long',
      rows: 4,
      rejected: 0,
      missing: 2,
      series: [
        { timeseriesId: 'a', metric: 'Raw', samples: 2 },
        { timeseriesId: 'b', metric: 'Raw', samples: 1 },
        { timeseriesId: 'c', metric: 'Raw', samples: 1 },
      ],
      notes: ['times in epoch seconds'],
    });
  });

  test('a wide column that nobody asked for may hold text', () => {
    const csv = 'timestamp,quality,a\n2024-01-01T00:00:00Z,good,1\n2024-01-01T00:00:01Z,"b,d",2\n';
    const { series, summary } = readCsv(csv, { wanted: ({ timeseriesId }) => timeseriesId === 'a' });
    expect(series.map(({ value }) => [...value])).toEqual([[1, 2]]);
    expect(summary.series.map(({ timeseriesId }) => timeseriesId)).toEqual(['quality', 'a']);
  });

  test.each([
    ['days of a spreadsheet', 'time,value\n45292,1\n45293,2\n'],
    ['years', 'time,value\n2023,1\n2024,2\n'],
    ['a decimal comma', 'Datum;Wert\n31.12.2024 10:00;1,5\n31.12.2024 11:00;2,5\n'],
    ['a point that is unclear', 'time;value\n2024-01-01T00:00;1.234\n2024-01-01T01:00;2.345\n'],
    ['days first', 'Date,Value\n13/12/2024 10:00,1.5\n14/12/2024 11:00,2.5\n'],
    ['devices', 'time,device,value\n2024-01-01T00:00,7,1.5\n2024-01-01T00:00,8,2.5\n2024-01-01T01:00,7,3.5\n'],
  ])('a flush before the first whole row decides nothing: %s', (_, csv) => {
    const read = (flushAt: number | undefined): unknown => {
      const values: number[] = [];
      try {
        const reader = createCsvReader({ fileName: 'x.csv' }, (series) => {
          for (const { timeMs, value } of series) values.push(...timeMs, ...value);
        });
        const bytes = new TextEncoder().encode(csv);
        reader.push(bytes.subarray(0, flushAt ?? 0));
        if (flushAt !== undefined) reader.flush();
        reader.push(bytes.subarray(flushAt ?? 0));
        return [values, reader.end()];
      } catch (error) {
        return String(error);
      }
    };
    const plain = read(undefined);
    const firstRowEnd = csv.indexOf('\n', csv.indexOf('\n') + 1);
    for (let at = 0; at <= firstRowEnd; at++) expect([at, read(at)]).toEqual([at, plain]);
  });

  test('a wide table is not told from its first row, as later ones may say that a column names the series', () => {
    const rows = Array.from(
      { length: 12 },
      (_, i) => `2024-01-01T0${Math.floor(i / 3)}:00:00Z,${20 + i / 10},${i % 3}\n`,
    );
    const text = `timestamp,temp,floor\n${rows.join('')}`;
    const reader = createCsvReader({ fileName: 'x.csv' }, () => {});
    const message = /the column "floor" \(0, 1, 2\) seems to say which series/;
    expect(() => {
      for (const byte of new TextEncoder().encode(text)) reader.push(Uint8Array.of(byte));
      reader.end();
    }).toThrow(message);
    expect(() => readCsv(text)).toThrow(message);
  });

  test('a flush, or a cut, within the first bytes of UTF-16 changes neither what is read nor what is said', () => {
    const bytes = Uint8Array.from(Buffer.from('timestamp,value\n2024-01-01T00:00:00Z,1\n', 'utf16le'));
    const read = (at: number, encoding?: 'utf-16le'): unknown => {
      try {
        const reader = createCsvReader({ fileName: 'x.csv', ...(encoding && { encoding }) }, () => {});
        reader.push(bytes.subarray(0, at));
        reader.flush();
        reader.push(bytes.subarray(at));
        return reader.end().rows;
      } catch (error) {
        return String(error);
      }
    };
    for (let at = 0; at < 6; at++) {
      expect([at, read(at, 'utf-16le')]).toEqual([at, 1]);
      expect([at, read(at)]).toEqual([at, expect.stringContaining('--encoding utf-16le')]);
    }
  });

  test('a chunk has at most chunkRows rows, and flush delivers what is there', () => {
    const lengths: number[] = [];
    const reader = createCsvReader({ fileName: 'x', chunkRows: 3 }, ([one]) => lengths.push(one?.timeMs.length ?? 0));
    reader.push(new TextEncoder().encode(`timestamp,value\n${'0,1\n'.repeat(8)}`));
    expect([lengths, reader.columns()]).toEqual([
      [3, 3],
      ['timestamp', 'value'],
    ]);
    reader.flush();
    expect([lengths, reader.end().rows]).toEqual([[3, 3, 2], 8]);
  });
});

describe('times', () => {
  test('epoch numbers below 1e11 are seconds, others milliseconds', () => {
    const csv = 'timestamp,value\n1704067200,0\n1704067200.5,0\n1704067200000,0\n-1,0\n99999999999,0\n100000000000,0\n';
    expect(seriesOf(csv)[0]?.timeMs).toEqual([FIRST_MS, FIRST_MS + 500, FIRST_MS, -1000, 99999999999000, 1e11]);
  });

  test('a time without an offset is local to the timezone', () => {
    const csv = 'timestamp,value\n2024-07-01T00:00:00,0\n2024-07-01T00:00:00Z,0\n2024-07-01T00:00:00+02:00,0\n';
    const utcMs = Date.UTC(2024, 6, 1);
    expect(seriesOf(csv, { timezone: 'Europe/Berlin' })[0]?.timeMs).toEqual([utcMs - 72e5, utcMs, utcMs - 72e5]);
  });
});

describe('a file that cannot be read', () => {
  const big = 'a'.repeat(70_000);
  const cases: [title: string, csv: string | Uint8Array, code: string, message: RegExp][] = [
    ['empty', '', 'csv.empty', /x\.csv: the file is empty; expected a header/],
    ['blank', '\ufeff\n \r\n', 'csv.empty', /empty/],
    ['zipped', gzipSync('timestamp,value\n'), 'csv.binary', /gzip; name it \.gz/],
    ['Parquet', new TextEncoder().encode('PAR1'), 'csv.binary', /Parquet file; name it \.parquet/],
    ['with a NUL', 'time\0stamp,value\n', 'csv.binary', /byte 5 is NUL/],
    ['in a code page', Uint8Array.of(0x74, 0x73, 0x2c, 0xe8, 0x0a), 'csv.unclear', /not UTF-8.*--encoding/],
    [
      'without a time',
      'when,value\n',
      'csv.header',
      /line 1: .*it has when, value; one column must be called timestamp/,
    ],
    ['without a header', '2024-01-01,5\n', 'csv.header', /looks like data: put a header/],
    [
      'without a header, in the long layout',
      '2024-01-01T00:00:00Z,room,Raw,5\n',
      'csv.header',
      /line 1: expected a header.*, received 2024-01-01T00:00:00Z, room, Raw, 5, which looks like data: .*`timestamp/,
    ],
    [
      'without a header, above rows of times',
      '2024-01-01T00:00:00Z,5\n2024-01-01T01:00:00Z,6\n2024-01-01T02:00:00Z,7\n',
      'csv.header',
      /looks like data: put a header such as `timestamp,value` before it/,
    ],
    [
      'with times in its header',
      'room,2024-01-01T00:00:00Z,2024-01-01T01:00:00Z\na,1,2\n',
      'csv.header',
      /columns are times, with a series in each row; turn the table/,
    ],
    ['with two columns of one name', 'ts,a,a\n', 'csv.header', /columns 2 and 3 are both named a; rename one/],
    [
      'with two columns of values',
      'ts,timeseriesId,value,value\n',
      'csv.header',
      /columns 3 and 4 are both named value/,
    ],
    [
      'with two columns of times',
      'timestamp,value,timestamp\n',
      'csv.header',
      /columns 1 and 3 are both named timestamp/,
    ],
    ['with two header lines', 'time,a,a\n,x,y\n2024-03-01,1,2\n', 'csv.header', /a header must be one line; join/],
    ['with nothing but a column without a name', 'ts,\n', 'csv.header', /no column but the time/],
    [
      'with lines as of an old Mac',
      'ts,value\r1,1\r2,2\r',
      'csv.header',
      /line 1: lines end with CR alone; expected LF or CRLF/,
    ],
    ['with one such line', 'ts,value\r\n1,1\r2,2\r\n', 'csv.row', /line 2: .* has 3 fields/],
    ['with ids but no value', 'ts,timeseriesId,x\n', 'csv.header', /no column value or val/],
    ['with the time alone', 'ts\n', 'csv.header', /no column but the time/],
    ['with a short row', 'ts,value\n1,1\n2\n', 'csv.row', /x\.csv, line 3: "2" has one field where the header has 2/],
    ['with a decimal comma', 'ts;value\n1;1,5\n1;1.5\n', 'csv.number', /column 2 \(value\): "1,5" has a decimal comma/],
    ['with an open quote', 'ts,value\n1,"1\n2,2\n', 'csv.row', /line 2: .*never closed/],
    ['with a quote open for long', `ts,value\n1,"1\n${big}\n`, 'csv.row', /line 2: .*never closed/],
    [
      'with zeros to no end',
      `ts,value\n1,1\n${'\0'.repeat(2 ** 26 + 1)}`,
      'csv.row',
      /line 3: has more than 67108864 b/,
    ],
    ['with text after a quote', 'ts,value\n1,"1"2\n', 'csv.row', /after a closing quote/],
    ['with a bad time', 'ts,value\n\n"\n"\n', 'csv.row', /line 3/],
    ['with 31 April', 'ts,value\n2024-04-31,1\n', 'csv.time', /line 2, column 1 \(ts\): "2024-04-31" has the day 31/],
    ['with an hour 24', 'ts,value\n2024-04-30T24:01:00Z,1\n', 'csv.time', /has the hour 24/],
    ['without a time in a row', 'ts,value\n,1\n', 'csv.time', /is no time; every row needs one/],
    [
      'with a time that clocks skip',
      'ts,value\n2024-03-31T02:30:00,1\n',
      'csv.time',
      /does not exist in Europe\/Berlin/,
    ],
    ['with hex', 'ts,value\n1,0x10\n', 'csv.number', /"0x10" is not a number/],
    ['with a truth', 'ts,value\n1,true\n', 'csv.number', /"true" is not a number/],
    ['with a row of no series', 'ts,timeseriesId,value\n1,,1\n', 'csv.row', /needs a timeseriesId/],
  ];
  test.each(cases)('%s: says what is wrong, where, and how to fix it', (_, csv, code, message) => {
    try {
      readCsv(csv, { fileName: 'x.csv', timezone: 'Europe/Berlin' });
    } catch (error) {
      expect(error).toBeInstanceOf(CsvError);
      expect((error as CsvError).code).toBe(code);
      expect((error as CsvError).message).toMatch(message);
      return;
    }
    expect.fail('the file was read');
  });

  test("an unknown zone is the caller's error", () => {
    expect(() => readCsv('ts,value\n', { timezone: 'Mars/Olympus' })).toThrow(/timezone: expected an IANA time zone/);
  });
});

describe('skipping', () => {
  test('every bad row is counted and passed to onReject, with its physical line; the others are read', () => {
    const rejected: RejectedRow[] = [];
    const csv = [
      'timestamp,timeseriesId,value',
      '2024-01-01T00:00:00Z,"a\nb",1',
      'noon,a,2',
      '',
      '2024-01-01T00:00:01Z,a,12abc',
      '2024-01-01T00:00:02Z,a',
      '2024-01-01T00:00:03Z,"a,4',
      '2024-01-01T00:00:04Z,a,5',
    ].join('\r\n');
    const { series, summary } = readCsv(csv, {
      fileName: 'x.csv',
      onBadRow: 'skip',
      onReject: (row) => rejected.push(row),
    });
    expect(series.map(({ timeseriesId, value }) => [timeseriesId, ...value])).toEqual([
      ['a\nb', 1],
      ['a', 5],
    ]);
    expect([summary.rows, summary.rejected]).toEqual([2, 4]);
    expect(rejected.map(({ line, column, text, row }) => [line, column?.number, text, row])).toEqual([
      [4, 1, 'noon', 'noon,a,2'],
      [6, 3, '12abc', '2024-01-01T00:00:01Z,a,12abc'],
      [7, undefined, '2024-01-01T00:00:02Z,a', '2024-01-01T00:00:02Z,a'],
      [8, undefined, '2024-01-01T00:00:03Z,"a,4', '2024-01-01T00:00:03Z,"a,4'],
    ]);
  });
});

describe('a reader that cannot go on', () => {
  const encoder = new TextEncoder();
  const open = () => {
    const values: number[] = [];
    const reader = createCsvReader({ fileName: 'x.csv' }, (all) => {
      for (const { value } of all) values.push(...value);
    });
    return { reader, values };
  };

  test('takes nothing more after an error: rows would be missing', () => {
    const { reader } = open();
    const bytes = encoder.encode('time,value\n2024-01-01,1\noops,3\n2024-01-04,4\n');
    expect(() => {
      reader.push(bytes);
      reader.end();
    }).toThrow(CsvError);
    for (const use of [() => reader.push(encoder.encode('2024-01-06,6\n')), () => reader.flush(), () => reader.end()]) {
      expect(use).toThrow(
        expect.objectContaining({
          code: 'stream.closed',
          message: 'the reader has failed before, in the middle of its rows; create another',
          cause: expect.any(CsvError),
        }),
      );
    }
  });

  test('takes nothing more after the end of its file', () => {
    const { reader, values } = open();
    reader.push(encoder.encode('time,value\n2024-01-01,1\n'));
    expect(reader.end()).toMatchObject({ rows: 1 });
    expect(() => reader.push(encoder.encode('2024-01-02,2\n'))).toThrow('the reader has ended its file');
    expect(() => reader.end()).toThrow('the reader has ended its file');
    expect(reader.series()).toMatchObject([{ samples: 1 }]);
    expect(values).toEqual([1]);
  });

  test('says how a text is pushed', () => {
    // @ts-expect-error: as a program in JavaScript may call it.
    expect(() => open().reader.push('time,value\n')).toThrow(
      'a Uint8Array (of a text, new TextEncoder().encode(text))',
    );
  });
});
