// How files in the field write times and values: recognised where the file is clear about it, asked for where it is
// not.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInstant } from '../../../src/core/instant.js';
import { CsvError, createCsvReader, type ReadCsvOptions, readCsv } from '../../../src/formats/csv/index.js';
import { optionName } from '../../../src/formats/table/table-options.js';

function timesOf(texts: readonly string[], options: ReadCsvOptions = {}): string[] {
  const { series } = readCsv(`time;value\n${texts.map((text) => `${text};1\n`).join('')}`, options);
  return [...series[0]!.timeMs].map((ms) => formatInstant(ms).replace(/(:00)?\.000Z$/, ''));
}

function valuesOf(texts: readonly string[], options: ReadCsvOptions = {}): number[] {
  const rows = texts.map((text, i) => `2024-01-01T00:00:${String(i).padStart(2, '0')}Z;${text}\n`);
  return [...readCsv(`time;value\n${rows.join('')}`, options).series[0]!.value];
}

function problemOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    expect(flagsOf(error)).toEqual(flagsNamed(error.message));
    return `${error.code}: ${error.message}`;
  }
  return expect.fail('it was read');
}

/** The command's names of the options that an error has as data, and of those that a message names. */
function flagsOf({ options }: CsvError): string[] {
  return options.flatMap(({ option }) => (option === 'onBadRow' ? [] : [`--${optionName(option)}`])).sort();
}

function flagsNamed(message: string): string[] {
  return [...new Set(message.match(/--[a-z-]+/g))].sort();
}

describe('times', () => {
  test.each([
    ['day first', ['31.12.2024 23:45', '01.01.2025 00:00'], ['2024-12-31T23:45', '2025-01-01T00:00']],
    ['day first, with slashes', ['1/2/2024 9:05', '13/2/2024 9:05:30'], ['2024-02-01T09:05', '2024-02-13T09:05:30']],
    ['month first', ['12/31/2024 11:45 PM', '1/1/2025 12:00 AM'], ['2024-12-31T23:45', '2025-01-01T00:00']],
    ['month first, and noon', ['12/31/24 12:15 p.m.'], ['2024-12-31T12:15']],
    [
      'day first, to the end of the day',
      ['13.01.2024 23:45', '13.01.2024 24:00'],
      ['2024-01-13T23:45', '2024-01-14T00:00'],
    ],
    [
      'ISO 8601, to the end of the day',
      ['2024-01-13T24:00', '2024-02-29 24:00:00Z'],
      ['2024-01-14T00:00', '2024-03-01T00:00'],
    ],
    ['digits, to the end of the day', ['20240113T240000', '20240114 24:00'], ['2024-01-14T00:00', '2024-01-15T00:00']],
    ['year first', ['2024/01/31 23:45', '2024/2/1'], ['2024-01-31T23:45', '2024-02-01T00:00']],
    ['with the month as a name', ['31-Jan-2024 23:45', 'Feb 1, 2024'], ['2024-01-31T23:45', '2024-02-01T00:00']],
    ['digits alone', ['20240131', '20240201'], ['2024-01-31T00:00', '2024-02-01T00:00']],
    ['ISO 8601 in its basic form', ['20240131T234500Z'], ['2024-01-31T23:45']],
    [
      'as PostgreSQL writes them',
      ['2024-01-01 00:00:00+00', '2024-01-01 01:30:00.5+01'],
      ['2024-01-01T00:00', '2024-01-01T00:30:00.500Z'],
    ],
    [
      'with the zone by its name',
      ['2021-02-18 21:46:23 UTC', '2021-02-18 21:46:23 +0100'],
      ['2021-02-18T21:46:23', '2021-02-18T20:46:23'],
    ],
    ['epoch seconds', ['1704067200', '1704067200.5'], ['2024-01-01T00:00', '2024-01-01T00:00:00.500Z']],
    ['epoch milliseconds', ['1704067200123'], ['2024-01-01T00:00:00.123Z']],
    ['epoch microseconds', ['1704067200123456'], ['2024-01-01T00:00:00.123456Z']],
    ['epoch nanoseconds', ['1704067200123456789'], ['2024-01-01T00:00:00.1234568Z']],
  ])('%s', (_, texts, expected) => {
    expect(timesOf(texts)).toEqual(expected);
  });

  test.each([
    ['dates with the name of the month', ['31-Jan-2024 23:45', '01-Feb-2024 00:00']],
    ['dates with the year first', ['2024/01/31 23:45', '2024/2/1']],
    ['times in epoch seconds', ['1704067200', '1704067200.5']],
    ['times in epoch milliseconds', ['1704067200123', '1704067200124']],
    ['times in epoch microseconds', ['1704067200123456', '1704067200123457']],
    ['times in epoch nanoseconds', ['1704067200123456789']],
  ])('are told in the summary as %s', (note, texts) => {
    expect(readCsv(`time,value\n${texts.map((text) => `${text},1\n`).join('')}`).summary.notes).toEqual([note]);
  });

  test('an order of day and month that no row decides is asked for, and taken from the option', () => {
    const texts = ['03/04/2024 00:00', '04/04/2024 00:00'];
    expect(problemOf(() => timesOf(texts))).toMatch(
      /^csv\.unclear: .*such as 03\/04\/2024 00:00, may begin with the day .*--time-format dmy, or mdy/,
    );
    expect(timesOf(texts, { timeFormat: 'dmy' })[0]).toBe('2024-04-03T00:00');
    expect(timesOf(texts, { timeFormat: 'mdy' })[0]).toBe('2024-03-04T00:00');
  });

  describe('years of two digits', () => {
    test.each([
      ['before the month and the day', ['24-01-01 10:00', '24-01-02 10:00'], '2024-01-01T10:00'],
      ['before, with slashes, through a year', ['23/12/30', '23/12/31', '24/01/01', '24/01/02'], '2023-12-30T00:00'],
      ['before, as no month has so many days', ['99-12-31', '99-12-31'], '1999-12-31T00:00'],
      ['after the day and the month', ['31.12.23 10:00', '01.01.24 10:00', '02.01.24 10:00'], '2023-12-31T10:00'],
      ['after the month and the day', ['12/31/24', '12/31/24'], '2024-12-31T00:00'],
    ])('%s', (_, texts, first) => {
      expect(timesOf(texts)[0]).toBe(first);
    });

    test.each([
      [['24-01-12 10:00', '24-01-12 10:15'], 'day or with the year', 'dmy, or ymd'],
      [['10/11/12'], 'day or with the month or with the year', 'dmy, or mdy, or ymd'],
      // In January and July of two years: half a year apart, or with a year between them.
      [['20-01-01', '20-07-01', '21-01-01', '21-07-01'], 'day or with the year', 'dmy, or ymd'],
    ])('where %j may begin with several, it is asked for', (texts, parts, formats) => {
      const problem = problemOf(() => timesOf(texts));
      expect(problem).toContain(`may begin with the ${parts}; say which`);
      expect(problem).toContain(`(--time-format ${formats})`);
    });

    test('the option says where they are', () => {
      expect(timesOf(['24-01-12', '24-1-13'], { timeFormat: 'ymd' })).toEqual(['2024-01-12T00:00', '2024-01-13T00:00']);
      expect(timesOf(['24-01-12'], { timeFormat: 'dmy' })).toEqual(['2012-01-24T00:00']);
      expect(problemOf(() => timesOf(['24-01-2012'], { timeFormat: 'ymd' }))).toMatch(/^csv\.time/);
    });

    test('every day of a century is read as it was written, in each order', () => {
      const pair = (number: number): string => String(number % 100).padStart(2, '0');
      const parts = fc.date({ min: new Date('1969-01-01'), max: new Date('2068-11-30'), noInvalidDate: true });
      fc.assert(
        fc.property(
          parts,
          fc.constantFrom('-', '/', '.'),
          fc.constantFrom('dmy', 'mdy', 'ymd'),
          (start, sign, order) => {
            const days = Array.from({ length: 32 }, (_, i) => new Date(start.getTime() + i * 86_400_000));
            const texts = days.map((day) => {
              const written = { d: day.getUTCDate(), m: day.getUTCMonth() + 1, y: day.getUTCFullYear() };
              return [...order].map((part) => pair(written[part as 'd' | 'm' | 'y'])).join(sign);
            });
            expect(timesOf(texts)).toEqual(days.map((day) => `${day.toISOString().slice(0, 10)}T00:00`));
          },
        ),
      );
    });
  });

  test('a late row can decide the order', () => {
    const early = Array.from({ length: 3000 }, (_, i) => `01/02/2024 ${String(i % 24).padStart(2, '0')}:00`);
    expect(timesOf([...early, '13/02/2024 00:00'])[0]).toBe('2024-02-01T00:00');
  });

  test('contradictory orders are refused', () => {
    expect(problemOf(() => timesOf(['13/02/2024', '02/13/2024']))).toMatch(/neither all day first nor all month first/);
  });

  test('a row of another form is a bad row', () => {
    expect(problemOf(() => timesOf(['31.12.2024', '30.12.2024', '12.31.2024 x', '29.12.2024']))).toMatch(
      /^csv\.time: csv, line 4, column 1 \(time\): "12\.31\.2024 x" is not of the form 31\.12\.2024 23:45$/,
    );
    expect(problemOf(() => timesOf(['12/31/2024'], { timeFormat: 'dmy' }))).toMatch(
      /is not of the form 31\.12\.2024 23:45; with the month first it is a date \(--time-format mdy\)$/,
    );
  });

  test('every sample of a night in which clocks go back keeps its time, in either order of the rows', () => {
    const nights = fc.constantFrom(
      ['Europe/Berlin', '2024-10-27T01:00Z'],
      ['Europe/Dublin', '2024-10-27T01:00Z'],
      ['America/New_York', '2024-11-03T06:00Z'],
      ['Antarctica/Troll', '2024-10-27T01:00Z'],
      ['Australia/Lord_Howe', '2024-04-06T15:00Z'],
    );
    const steps = fc.constantFrom(1, 5, 10, 15, 30, 60);
    const counts = fc.integer({ min: 180, max: 300 });
    fc.assert(
      fc.property(nights, steps, counts, fc.boolean(), ([timezone = '', change = ''], minutes, count, isFalling) => {
        // Of Lord Howe, clocks go back by half an hour: hourly times are local times of neither hour.
        fc.pre(timezone !== 'Australia/Lord_Howe' || minutes < 60);
        const zone = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' });
        const times = Array.from(
          { length: 2 * count + 1 },
          (_, i) => Date.parse(change) + (i - count) * minutes * 60_000,
        );
        const written = isFalling ? [...times].reverse() : times;
        const csv = `time,value\n${written.map((ms, i) => `${zone.format(ms)},${i}\n`).join('')}`;
        expect([...readCsv(csv, { timezone }).series[0]!.timeMs]).toEqual(written);
      }),
      { numRuns: 60 },
    );
  });

  test('an option sets the unit', () => {
    expect(timesOf(['1704067', '1704068'], { timeFormat: 'ms' })).toEqual([
      '1970-01-01T00:28:24.067Z',
      '1970-01-01T00:28:24.068Z',
    ]);
  });
});

describe('a time of day beside a date of ISO 8601', () => {
  test.each([
    ['2024-01-31 11:45 PM', '2024-01-31T23:45'],
    ['2024-01-31 12:15 AM', '2024-01-31T00:15'],
    ['2024-01-31 9:45', '2024-01-31T09:45'],
    ['2024-01-31T9:45 am', '2024-01-31T09:45'],
  ])('is read in any form: %s', (text, expected) => {
    for (const timeFormat of [undefined, 'ymd', 'dmy'] as const) {
      expect([timeFormat, timesOf([text], { ...(timeFormat && { timeFormat }) })]).toEqual([timeFormat, [expected]]);
    }
  });

  test('is told apart where it occurs twice', () => {
    const rows = ['1:30', '2:30', '2:30', '3:30'].map((time, i) => `2024-10-27 ${time} AM,${i}\n`);
    const { series } = readCsv(`time,value\n${rows.join('')}`, { timezone: 'Europe/Berlin' });
    const hours = Array.from(series[0]!.timeMs, (ms) => (ms - Date.parse('2024-10-26T23:30Z')) / 3_600_000);
    expect(hours).toEqual([0, 1, 2, 3]);
  });
});

describe('values', () => {
  test.each([
    ['decimal commas', ['20,5', '-3', '1.234,5', ',5', ''], [20.5, -3, 1234.5, 0.5, Number.NaN]],
    ['digits in groups', ['1,234.5', '1,234,567', '12', '1.5'], [1234.5, 1234567, 12, 1.5]],
    ['decimal points', ['1.234', '0.125', '2'], [1.234, 0.125, 2]],
  ])('%s', (_, texts, expected) => {
    expect(valuesOf(texts)).toEqual(expected);
  });

  test.each([
    [['20,5', '0.125'], 'comma', /"0\.125" has a decimal point where the file has decimal commas/],
    [['20,5', '-0.500'], 'comma', /"-0\.500" has a decimal point/],
    [['1,234.5', '0,125'], undefined, /"0,125" has a decimal comma/],
  ] as const)('a group of digits does not begin with a zero: %j', (texts, decimal, message) => {
    expect(problemOf(() => valuesOf([...texts], { ...(decimal && { decimal }) }))).toMatch(message);
  });

  test('a comma that can be decimal or thousands is asked for', () => {
    const texts = ['1,234', '2'];
    expect(problemOf(() => valuesOf(texts))).toMatch(
      /^csv\.unclear: .*values such as 1,234 may be.*--decimal comma, or point/,
    );
    expect(valuesOf(texts, { decimal: 'comma' })).toEqual([1.234, 2]);
    expect(valuesOf(texts, { decimal: 'point' })).toEqual([1234, 2]);
  });

  describe('that leave it open in the first rows', () => {
    /** Numbers up to 4999, of which the first ones, which decide, are 0. */
    const numbers = Array.from({ length: 7000 }, (_, i) => Math.max(0, i - 2000));
    const lineOfThousand = 3002;
    const grouped = (sign: string) => (number: number) => String(number).replace(/(?=\d{3}$)(?<=\d)/, sign);
    const askFor = (number: string): string =>
      `csv.number: csv, line ${lineOfThousand}, column 2 (value): "${number}" has a sign that may be the decimal ` +
      'sign or group thousands; say what the decimal sign is with the option decimal (--decimal comma, or point)';
    const textOf = (separator: string, writeOf: (number: number) => string): string => {
      const rows = numbers.map((number, i) => `${1.7e9 + 60 * i}${separator}${writeOf(number)}\n`);
      return `time${separator}value\n${rows.join('')}`;
    };

    test('are not read as one or the other', () => {
      const points = textOf(';', grouped('.'));
      expect(problemOf(() => readCsv(points))).toBe(askFor('1.000'));
      for (const pieceBytes of [7, 4096, 70_000]) {
        const values: number[] = [];
        const rejected: number[] = [];
        const onReject = ({ line }: { line: number }) => rejected.push(line);
        const options = { fileName: 'x.csv', onBadRow: 'skip', onReject } as const;
        const reader = createCsvReader(options, ([one]) => values.push(...one!.value));
        const bytes = new TextEncoder().encode(points);
        for (let at = 0; at < bytes.length; at += pieceBytes) reader.push(bytes.subarray(at, at + pieceBytes));
        expect(reader.end()).toMatchObject({ rows: 3000, rejected: 4000 });
        expect(values).toEqual(numbers.slice(0, 3000));
        expect(rejected[0]).toBe(lineOfThousand);
      }
      expect([...readCsv(points, { decimal: 'comma' }).series[0]!.value]).toEqual(numbers);
    });

    test('are plain where they cannot be groups', () => {
      const text = textOf(';', (number) => (number < 1000 ? String(number) : `${number}.25`));
      expect(readCsv(text).series[0]!.value[6500]).toBe(4500.25);
    });

    test('may be groups of thousands once that is said', () => {
      const write = grouped(',');
      const commas = textOf(',', (number) => (number < 1000 ? write(number) : `"${write(number)}"`));
      expect(problemOf(() => readCsv(commas))).toBe(askFor('1,000'));
      const { series, summary } = readCsv(commas, { decimal: 'point' });
      expect([...series[0]!.value]).toEqual(numbers);
      expect(summary.notes).not.toContain('digits in groups');
    });
  });

  test('a point that can be decimal or thousands is asked for where semicolons leave the comma free', () => {
    const texts = ['1.234', '987'];
    expect(problemOf(() => valuesOf(texts))).toMatch(
      /^csv\.unclear: .*values such as 1\.234 may be.*--decimal comma, or point/,
    );
    expect(valuesOf(texts, { decimal: 'comma' })).toEqual([1234, 987]);
    expect(valuesOf(texts, { decimal: 'point' })).toEqual([1.234, 987]);
    const { series } = readCsv('time,value\n2024-01-01,1.234\n2024-01-02,987\n');
    expect([...series[0]!.value]).toEqual([1.234, 987]);
  });

  test.each([
    ['timestamp,"a;b;c"', ',', 1],
    ['timestamp,x,"a|b|c|d"', ',', 2],
    ['timestamp;"a,b,c,d"', ';', 1],
    ['timestamp;"a ""x"", y";b', ';', 2],
    ['timestamp;5" pipe;6" pipe', ';', 2],
    ['timestamp,"5"" pipe",a;b', ',', 2],
  ])('the separator is not looked for within quoted names: %s', (header, separator, valueCount) => {
    const row = ['2026-01-01', ...Array.from({ length: valueCount }, () => '1')].join(separator);
    const { series } = readCsv(`${header}\n${row}\n`, { layout: 'wide' });
    expect(series).toHaveLength(valueCount);
  });

  test('options say which texts stand for values', () => {
    const texts = ['on', 'OFF', '-9999', '3'];
    expect(valuesOf(texts, { states: { on: 1, off: 0, '-9999': null } })).toEqual([1, 0, Number.NaN, 3]);
    expect(problemOf(() => valuesOf(texts))).toMatch(/"on" is not a number; .*the option states .*\(--states on=1\)/);
  });
});

describe('lines before the header', () => {
  const rows = 'time,value\n2024-01-01T00:00:00Z,1\n';

  test('that are comments or the separator line of Excel are skipped', () => {
    expect(readCsv(`# made by X, "v1\n#\nsep=;\n${rows.replaceAll(',', ';')}`).summary.rows).toBe(1);
  });

  test('of another kind are skipped by an option; the error counts them', () => {
    const csv = `Name,"Jane\nAccount,12\n\n${rows}`;
    expect(problemOf(() => readCsv(csv.replace('"', '')))).toMatch(
      /line 4 looks like the header: --skip-lines 3 skips/,
    );
    expect(readCsv(csv, { skipLines: 3 }).summary).toMatchObject({ layout: 'single', rows: 1 });
    expect(problemOf(() => readCsv('Logger 5\nSerial;123\n\nZeit;Wert\n31.12.2024 22:00;20,5\n'))).toMatch(
      /line 4 looks like the header: --skip-lines 3 skips/,
    );
  });

  test.each([
    ['blank', '\n\n', {}],
    ['comments', '# made by X\n', {}],
    ['skipped by the option', rows, { skipLines: 2 }],
    ['skipped by an option that counts more than there are', rows, { skipLines: 99 }],
  ])('may not be all of the file, which is not called empty: %s', (_, csv, options) => {
    expect(problemOf(() => readCsv(csv, options))).toBe(
      'csv.empty: csv: all lines are empty or left out; expected a header such as `timestamp,value` and rows below it',
    );
  });

  test('UTF-16 is read however the bytes are cut, and errors have the right line', () => {
    const bytes = (text: string) => Uint8Array.from(Buffer.from(`\ufeff${text}`, 'utf16le'));
    expect(readCsv(bytes(rows.replace('value', 'größe'))).series[0]?.timeseriesId).toBe('größe');
    expect(problemOf(() => readCsv(bytes(`${rows}noon,1\n`)))).toMatch(/line 3, column 1 \(time\): "noon"/);
  });
});

describe('columns', () => {
  const csv =
    'when,until,site,device,temp (°C),hum [%],note\n' +
    '2024-01-01,2024-01-02,a,1,20,50,x\n2024-01-02,2024-01-03,a,2,21,51,\n';

  test('are named by options, in any case or by number', () => {
    const { series, summary } = readCsv(csv, { time: ['WHEN'], series: ['site', '4'], value: ['temp (°C)'] });
    expect(series.map(({ timeseriesId, metric, value }) => [timeseriesId, metric, ...value])).toEqual([
      ['a/1', 'Raw', 20],
      ['a/2', 'Raw', 21],
    ]);
    expect(summary.notes).toEqual(['series by site, device', 'values of temp (°C)']);
  });

  test("are all metrics of the row's series if they hold numbers and --value is not given", () => {
    const { series } = readCsv(csv, { time: ['when'], series: ['device'] });
    expect(series.map(({ timeseriesId, metric }) => `${timeseriesId}/${metric}`)).toEqual([
      '1/temp (°C)',
      '1/hum [%]',
      '2/temp (°C)',
      '2/hum [%]',
    ]);
  });

  test('can be named without their unit', () => {
    const wanted = ({ timeseriesId }: { timeseriesId: string }) => timeseriesId === 'temp';
    const { series, summary } = readCsv(csv, { time: ['when'], layout: 'wide', wanted });
    expect(series.map(({ timeseriesId, value }) => [timeseriesId, ...value])).toEqual([['temp', 20, 21]]);
    expect(summary.notes).toEqual(['temp (°C) as temp']);
  });

  test('that do not exist are reported with those that do', () => {
    expect(problemOf(() => readCsv(csv, { time: ['wen'] }))).toMatch(
      /^csv\.header: .*no column "wen" for the option time \(--time\); did you mean `when`\?/,
    );
    expect(problemOf(() => readCsv(csv))).toMatch(
      /^csv\.unclear: .*the columns "when", "until" hold times; .*--time when/,
    );
  });

  test('with two roles, or named twice, are refused', () => {
    const single = 'timestamp,value\n2024-03-01T00:00:00Z,1\n2024-03-01T00:30:00Z,3\n';
    const twice = (name: string) => new RegExp(`^csv\\.header: .*the column "${name}" can only be one of time, series`);
    expect(problemOf(() => readCsv(single, { series: ['timestamp'] }))).toMatch(twice('timestamp'));
    expect(problemOf(() => readCsv(single, { value: ['timestamp'] }))).toMatch(twice('timestamp'));
    expect(problemOf(() => readCsv(single, { series: ['value'], value: ['value'] }))).toMatch(twice('value'));
    expect(problemOf(() => readCsv(single, { value: ['value', '2'] }))).toMatch(twice('value'));
    expect(problemOf(() => readCsv(single, { time: ['1', 'timestamp'] }))).toMatch(twice('timestamp'));
    expect(problemOf(() => readCsv(single, { time: ['timestamp', 'value', '1'] }))).toMatch(
      /names two columns at most/,
    );
    expect(problemOf(() => readCsv(single, { series: ['value'] }))).toMatch(
      /beside the columns of the option series \(--series\), none holds numbers; it has timestamp, value/,
    );
    const day = 'date,08:00,09:00\n2024-03-01,1,2\n';
    expect(problemOf(() => readCsv(day, { series: ['date'], layout: 'days' }))).toMatch(twice('date'));
  });

  test('that the option value names have no other role by their names', () => {
    const csv = 'timestamp,timeseriesId,metric,value\n2024-03-01T00:00:00Z,7,8,9\n';
    const [metric] = readCsv(csv, { value: ['metric'] }).series;
    expect([metric?.timeseriesId, metric?.metric, ...metric!.value]).toEqual(['7', 'Raw', 8]);
    const [id] = readCsv(csv, { value: ['timeseriesId'] }).series;
    expect([id?.timeseriesId, id?.metric, ...id!.value]).toEqual(['timeseriesId', 'Raw', 7]);
  });

  test('of times of day need one of dates', () => {
    const alone = 'time,value\n00:00,1\n00:15,2\n';
    const told = /^csv\.header: .*the column "time" holds times of day, and no column holds dates/;
    expect(problemOf(() => readCsv(alone))).toMatch(told);
    expect(problemOf(() => readCsv(alone, { time: ['time'] }))).toMatch(told);
    const dated = 'date,time,value\n2024-03-01,00:00,1\n';
    expect(problemOf(() => readCsv(dated, { time: ['time'] }))).toMatch(/^csv\.unclear: .*--time date time/);
    // Whatever they hold, these are no times by their names.
    expect(problemOf(() => readCsv('timeseriesId,value\n2024-03-01,1\n'))).toMatch(/no time column/);
  });

  test('of a single series may have any name', () => {
    const as = { timeseriesId: 'office', metric: 'Raw' };
    const { series, summary } = readCsv('time,value\n0,1\n', { as });
    expect([series[0]?.timeseriesId, summary.notes]).toEqual([
      'office',
      ['times in epoch seconds', 'csv/Raw as office/Raw'],
    ]);
    expect(problemOf(() => readCsv('time,a,b\n0,1,2\n', { as }))).toMatch(
      /several series, among them a\/Raw and b\/Raw/,
    );
    expect(readCsv('time,a,b\n0,1,2\n', { as, value: ['b'] }).series[0]?.value[0]).toBe(2);
  });
});

describe('units and error values', () => {
  test('a unit that a whole column has is ignored, and reported', () => {
    const { series, summary } = readCsv('time,a,b\n2024-01-01,21.4 °C,12%\n2024-01-02,,13%\n2024-01-03,-1.5 °C,null\n');
    expect(series.map(({ value }) => [...value])).toEqual([
      [21.4, Number.NaN, -1.5],
      [12, 13, Number.NaN],
    ]);
    expect(summary.notes).toEqual(['values of a in °C', 'values of b in %']);
  });

  test('different units in a column are refused: no value is read in another unit than its column has', () => {
    expect(problemOf(() => readCsv('time,a\n2024-01-01,1.25 GiB\n2024-01-02,980 MiB\n'))).toMatch(
      /^csv\.number: .*line 2.*where all values of the column have the same one/,
    );
    const days = Array.from({ length: 5000 }, (_, day) => formatInstant(day * 86_400_000));
    const late = `time,a\n${days.map((time, day) => `${time},1.5 ${day < 4999 ? 'GiB' : 'MiB'}\n`).join('')}`;
    expect(problemOf(() => readCsv(late))).toMatch(/^csv\.number: .*line 5001.*with the unit GiB/);
    expect(problemOf(() => readCsv(late.replace('1.5 MiB', '1.5')))).toMatch(/line 5001.*with the unit GiB/);
  });

  test.each([
    ['hours', ['2024022823', '2024022900'], 's'],
    ['minutes', ['202402282300', '202402290000'], 'ms'],
    ['seconds', ['20240228230000', '20240229000000'], 'ms'],
  ])('dates and times of day as digits alone are asked for, as they may be epoch numbers: %s', (_, texts, unit) => {
    const options = `(--time-format ymd, or ${unit})`;
    expect(problemOf(() => timesOf(texts))).toMatch(/^csv\.unclear: .*such as 20240228\d+, may be dates or epoch/);
    expect(problemOf(() => timesOf(texts))).toContain(options);
    expect(timesOf(texts, { timeFormat: 'ymd' })).toEqual(['2024-02-28T23:00', '2024-02-29T00:00']);
  });

  test('digits that are not all dates and times of day are epoch numbers', () => {
    expect(timesOf(['1901010124', '1901010125'])).toEqual(['2030-03-29T10:22:04', '2030-03-29T10:22:05']);
  });

  test('spreadsheet day numbers are asked for, even if the first has no fraction', () => {
    const rows = 'time,value\n45323,1\n45323.0104166667,2\n';
    expect(problemOf(() => readCsv(rows))).toMatch(/^csv\.unclear: .*such as 45323\.0104166667.*--time-format s/);
    expect([...readCsv(rows, { timeFormat: 's' }).series[0]!.timeMs]).toEqual([45_323_000, 45_323_010.4166667]);
  });

  test.each([
    [
      'whole days',
      ['45292', '45293', '45294'],
      /such as 45292, may be days as a spreadsheet counts them .*--time-format s/,
    ],
    ['years', ['2022', '2023', '2024'], /such as 2022, may be years \(write 2022-01-01\) .*--time-format s/],
  ])('%s are not taken for seconds after 1970, unless the caller says so', (_name, times, problem) => {
    const rows = `date,value\n${times.map((time, n) => `${time},${n}\n`).join('')}`;
    expect(problemOf(() => readCsv(rows))).toMatch(problem);
    const seconds = readCsv(rows, { timeFormat: 's' }).series[0]!.timeMs;
    expect([...seconds]).toEqual(times.map((time) => Number(time) * 1000));
  });

  test('seconds that count from the start of a measurement need no option', () => {
    const rows = `time,value\n${Array.from({ length: 50 }, (_, n) => `${60 * n},${n}\n`).join('')}`;
    expect([...readCsv(rows).series[0]!.timeMs]).toEqual(Array.from({ length: 50 }, (_, n) => 60_000 * n));
  });

  test.each(['Meter', 'sensor', 'id'])('the only column of values may be called %s', (name) => {
    const readings = [5, 5, 6, 6, 6, 7];
    const rows = readings.map((value, hour) => `2024-01-01T0${hour}:00:00Z,${value}\n`);
    const [series] = readCsv(`timestamp,${name}\n${rows.join('')}`).series;
    expect([series!.timeseriesId, [...series!.value]]).toEqual([name, readings]);
  });

  test.each(['', 'null', 'None', 'NA', 'N/A', '#N/A', '#NV', '#N/D', '<NA>', 'NaN', '-inf', '\\N'])(
    '%j is a missing value',
    (text) => {
      const { series } = readCsv(`time,value\n2024-01-01,1\n2024-01-02,${text}\n`);
      expect([...series[0]!.value]).toEqual([1, Number.NaN]);
    },
  );

  test('a spreadsheet error needs the option that says what it means', () => {
    const rows = 'time;value\n2024-01-01;#DIV/0!\n';
    expect(problemOf(() => readCsv(rows))).toMatch(/the option states .*--states "#div\/0!="/);
    expect([...readCsv(rows, { states: { '#DIV/0!': null } }).series[0]!.value]).toEqual([Number.NaN]);
  });

  test('unnamed index levels do not merge several series into one', () => {
    const rows = ',,temp\nx,2024-01-01 00:00:00,0\nx,2024-01-01 00:15:00,1\ny,2024-01-01 00:00:00,2\n';
    expect(problemOf(() => readCsv(rows))).toMatch(/^csv\.unclear: .*column 1, without a name, \(x, y\).*--series 1/);
    expect(readCsv(rows, { series: ['1'] }).series.map(({ timeseriesId }) => timeseriesId)).toEqual(['x', 'y']);
  });

  test.each([
    ['an index of row numbers', ',time,a\n0,2024-01-01,1\n1,2024-01-02,2\n', 'column 1'],
    ['one of labels', ',time,a\nfirst,2024-01-01,1\nsecond,2024-01-02,2\n', 'column 1'],
    ['a comma at the end of each line', 'time,a,\n2024-01-01,1,\n2024-01-02,2,\n', 'column 3'],
    ['values below spaces', 'time, ,a,"\u00a0"\n2024-01-01,5,1,6\n2024-01-02,5,2,6\n', 'column 2, 4'],
    ['values below what nobody sees', 'time,\u200b,\ufeff,a\n2024-01-01,5,6,1\n2024-01-02,5,6,2\n', 'column 2, 3'],
  ])('a column without a name is left out, which is told: %s', (_, rows, columns) => {
    const { series, summary } = readCsv(rows);
    expect(series.map(({ timeseriesId, value }) => [timeseriesId, value[0]])).toEqual([['a', 1]]);
    expect(summary.notes).toEqual([`${columns} without a name left out`]);
  });

  test('an option names a column without a name by its number', () => {
    const { series, summary } = readCsv('time,a,\n2024-01-01,1,5\n', { value: ['a', '3'] });
    expect(series.map(({ timeseriesId, value }) => [timeseriesId, value[0]])).toEqual([
      ['a', 1],
      ['column 3', 5],
    ]);
    expect(summary.notes).toEqual([]);
  });

  test.each([
    ['with an id', 'timestamp,timeseriesId,value,quality,unit\n2024-01-01,x,1,good,kW\n', {}, ['quality', 'unit']],
    ['of InfluxDB', ',result,table,_time,_value,_field,room\n,,0,2024-01-01T00:00:00Z,1,t,x\n', {}, []],
    ['of a device', 'time,device,a,place\n2024-01-01,x,1,roof\n', { series: ['device'] }, ['place']],
    ['of a device without a name', 'time,device,a,\n2024-01-01,x,1,roof\n', { series: ['device'] }, []],
    ['with a named value', 'time,device,a,place\n2024-01-01,x,1,roof\n', { series: ['device'], value: ['a'] }, []],
  ])('the columns that a long table leaves out are told of: %s', (_, rows, options, names) => {
    const { series, summary } = readCsv(rows, options);
    expect(series.map(({ value }) => [...value])).toEqual([[1]]);
    const told = summary.notes.filter((note) => note.startsWith('columns left out'));
    expect(told).toEqual(names.length === 0 ? [] : [`columns left out: ${names.join(', ')}`]);
  });

  test('a live table with columns that are left out is read from its first row on', () => {
    const reader = createCsvReader({ fileName: 'live.csv' }, () => {});
    reader.push(new TextEncoder().encode('timestamp,timeseriesId,value,quality\n2024-01-01,x,1,good\n2024-01-02,'));
    expect(reader.series()).toEqual([{ timeseriesId: 'x', metric: 'Raw', samples: 1 }]);
  });

  test('of several columns of values of each device, one without a name is told of, too', () => {
    const rows = 'time,device,a,\n2024-01-01,x,1,5\n2024-01-02,x,2,6\n';
    const { series, summary } = readCsv(rows, { series: ['device'] });
    expect(series.map(({ metric }) => metric)).toEqual(['Raw']);
    expect(summary.notes).toEqual(['column 4 without a name left out', 'series by device', 'values of a']);
  });
});
