import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CsvReaderOptions, readCsv } from '../../../src/formats/csv/index.js';
import { openTestService, type TestService } from '../app.js';

let service: TestService;
let headers: { authorization: string };

beforeEach(async () => {
  service = await openTestService();
  headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
});

afterEach(() => service.close());

function post(url: string, payload: string | Buffer, type = 'text/csv') {
  return service.app.inject({ method: 'POST', url, payload, headers: { ...headers, 'content-type': type } });
}

const messageOf = (answer: { json(): { status: { message: string } } }) => answer.json().status.message;

/** All series of the organisation, by name: times and values. */
async function stored(): Promise<Record<string, [number, number][]>> {
  const get = (url: string) =>
    service.app.inject({
      method: 'GET',
      url,
      headers: { ...headers, accept: url.includes('samples') ? 'text/csv' : '*/*' },
    });
  const listed: { timeseriesId: string; metrics: { metric: string }[] }[] = (await get('/core/timeseries')).json().data;
  const all: Record<string, [number, number][]> = {};
  for (const { timeseriesId, metrics } of listed) {
    for (const { metric } of metrics) {
      const id = encodeURIComponent(timeseriesId);
      const { body } = await get(`/core/timeseries/${id}/samples?metric=${encodeURIComponent(metric)}`);
      const [series] = readCsv(body).series;
      all[`${timeseriesId}/${metric}`] = Array.from(series!.timeMs, (ms, i) => [ms, series!.value[i]!]);
    }
  }
  return all;
}

/** What the library reads of a file: without missing values, and of samples of one time the last. */
function readByLibrary(bytes: string | Buffer, options: Partial<CsvReaderOptions>) {
  const all: Record<string, [number, number][]> = {};
  for (const { timeseriesId, metric, timeMs, value } of readCsv(bytes, options).series) {
    const samples = new Map(Array.from(timeMs, (ms, i) => [ms, value[i]!]));
    all[`${timeseriesId}/${metric}`] = [...samples].filter(([, one]) => !Number.isNaN(one)).sort(([a], [b]) => a - b);
  }
  return all;
}

const LONG = 'when,device,state,note\n2026-01-01T00:00Z,pump,on,a\n2026-01-01T01:00Z,fan,off,b\n';
const FLOORS = [
  'timestamp,floor,t',
  ...Array.from({ length: 20 }, (_, i) => `2026-01-01T00:${10 + i}Z,${i % 2},${i}`),
].join('\n');
const HOME =
  'entity_id,state,last_changed\nsensor.a,1,2024-01-01T00:00:00Z\nsensor.b,2,2024-01-01T00:00:00Z\n' +
  'sensor.a,3,2024-01-01T01:00:00Z\nsensor.b,4,2024-01-01T01:00:00Z\n';
const FIELDS =
  '#group,false,false,true,true,false,false\n#datatype,string,long,string,string,dateTime:RFC3339,double\n' +
  '#default,_result,,,,,\n,result,table,_field,_measurement,_time,_value\n' +
  ',,0,temp,m,2024-01-01T00:00:00Z,1\n,,1,hum,m,2024-01-01T00:00:00Z,2\n';
const LATIN = Buffer.from('timestamp,Außen\n2026-01-01T00:00Z,1.5\n', 'latin1');

type Case = readonly [what: string, query: string, body: string | Buffer, options: Partial<CsvReaderOptions>];

const cases: readonly Case[] = [
  [
    'the day first',
    'timeFormat=dmy',
    'timestamp,room\n01/02/2026 10:00,1\n02/03/2026 10:00,2\n',
    { timeFormat: 'dmy' },
  ],
  ['the month first', 'timeFormat=mdy', 'timestamp,room\n01/02/2026 10:00,1\n', { timeFormat: 'mdy' }],
  ['epoch microseconds', 'timeFormat=us', 'timestamp,room\n1767225600000,1\n', { timeFormat: 'us' }],
  [
    'decimal commas',
    'decimal=comma',
    'timestamp;room\n2026-01-01 10:00;1,234\n2026-01-01 11:00;2,345\n',
    { decimal: 'comma' },
  ],
  [
    'local times',
    'timezone=Europe/Berlin',
    'timestamp,room\n2026-07-01 00:00,1\n2026-10-25 02:30,2\n2026-10-25 02:30,3\n',
    { timezone: 'Europe/Berlin' },
  ],
  [
    'two columns for the time',
    'time=Day&time=Clock',
    'Day,Clock,room\n2026-01-01,10:00,1\n2026-01-01,11:00,2\n',
    { time: ['Day', 'Clock'] },
  ],
  [
    'a column of devices and states',
    'series=device&value=state&states=on%3D1&states=off=0',
    LONG,
    { series: ['device'], value: ['state'], states: { on: 1, off: 0 } },
  ],
  ['some columns', 'value=a&value=c', 'timestamp,a,b,c\n2026-01-01,1,x,2\n', { value: ['a', 'c'] }],
  ['a column by its number', 'value=3', 'timestamp,a,b\n2026-01-01,1,2\n', { value: ['3'] }],
  [
    'a missing state',
    'states=off=0&states=unavailable=',
    'timestamp,room\n2026-01-01T00:00Z,off\n2026-01-01T01:00Z,unavailable\n',
    { states: { off: 0, unavailable: null } },
  ],
  ['lines before the header', 'skipLines=2', 'a report\nof, today\ntimestamp,room\n2026-01-01,1\n', { skipLines: 2 }],
  ['a wide table whose first column repeats', 'layout=wide', FLOORS, { layout: 'wide' }],
];

const inCharsets = [
  ['another charset', LATIN, 'windows-1252', 'windows-1252'],
  ['another name of a charset', LATIN, 'windows-1252', '"ISO-8859-1"'],
  ['UTF-16', Buffer.from('timestamp,größe\n2026-01-01,1\n', 'utf16le'), 'utf-16le', 'utf-16le'],
] as const;

describe('a CSV body of another form', () => {
  async function expectAsByLibrary(url: string, type: string, body: string | Buffer, options: Case[3]): Promise<void> {
    const answer = await post(url, body, type);
    expect([answer.statusCode, messageOf(answer)]).toEqual([200, '']);
    const expected = readByLibrary(body, options);
    expect(Object.keys(expected)).not.toHaveLength(0);
    expect(await stored()).toEqual(expected);
  }

  it.each(cases)('with %s is read as by the library', (_, query, body, options) =>
    expectAsByLibrary(`/core/samples?${query}`, 'text/csv', body, options),
  );

  it.each(inCharsets)('in %s is read as by the library', (_, body, encoding, charset) =>
    expectAsByLibrary('/core/samples', `text/csv; charset=${charset}`, body, { encoding }),
  );

  it('the only column that is asked for gives the samples of the series in the path', async () => {
    const body = 'Datum;Uhrzeit;Leistung (kW);Status\n31.01.2026;10:00;1,5;ok\n31.01.2026;11:00;2,5;ok\n';
    const url = '/core/timeseries/meter%2F1/samples?value=Leistung%20(kW)&metric=kW&timezone=Europe/Vienna';
    const answer = await post(url, body);
    expect([answer.statusCode, messageOf(answer)]).toEqual([200, '']);
    const at = Date.UTC(2026, 0, 31, 9);
    expect(await stored()).toEqual({
      'meter/1/kW': [
        [at, 1.5],
        [at + 3_600_000, 2.5],
      ],
    });
    const other = await post('/core/timeseries/other/samples?value=v', 'timestamp,timeseriesId,v\n2026-01-01,a,1\n');
    expect(other.statusCode).toBe(400);
    const two = await post('/core/timeseries/other/samples?value=a&value=b', 'timestamp,a,b\n2026-01-01,1,2\n');
    expect(two.statusCode).toBe(400);
    expect(Object.keys(await stored())).toEqual(['meter/1/kW']);
  });

  it.each([
    ['days or months first', 'timestamp,a\n01/02/2026,1\n02/03/2026,2\n', 'timeFormat=dmy or timeFormat=mdy'],
    [
      'two devices',
      `timestamp,device,t\n${'2026-01-01,a,1\n2026-01-01,b,2\n'.repeat(9)}`,
      'series=device or layout=wide',
    ],
    ['a word', 'timestamp,timeseriesId,value\n2026-01-01,a,not running\n', 'states=not%20running='],
    ['lines before its header', 'a report\nof today,x\ntimestamp,value\n2026-01-01,1\n', 'skipLines=2'],
  ])('a fault says what to add to the query: %s', async (_, body, mend) => {
    const refused = await post('/core/samples', body);
    expect(refused.statusCode).toBe(400);
    const message = messageOf(refused);
    expect(message).toContain(`; say ${mend}`);
    expect(message).not.toMatch(/--|the option/);
    const [, query] = /; say (\S+)/.exec(message)!;
    const answer = await post(`/core/timeseries/room/samples?${query}`, body);
    expect(messageOf(answer)).not.toBe(message);
  });

  it('says of the body of a path nothing that a path cannot have, and of a packed body how to send it', async () => {
    const devices = `timestamp,device,t\n${'2026-01-01,a,1\n2026-01-01,b,2\n'.repeat(9)}`;
    const ofPath = messageOf(await post('/core/timeseries/room/samples', devices));
    expect(ofPath).toContain('; say layout=wide in the query; ');
    const packed = messageOf(await post('/core/samples', gzipSync(devices)));
    expect(packed).toContain('compressed with gzip; say Content-Encoding: gzip; ');
    const other = messageOf(await post('/core/samples', Buffer.from('PAR1 and more')));
    expect(other).toContain('it is a Parquet file; ');
    for (const message of [ofPath, packed, other]) expect(message).not.toMatch(/--|name it|series=/);
  });

  it('tells its encoding as a file does, unless a charset is said', async () => {
    const body = Buffer.from('timestamp,value,timeseriesId\n2026-01-01,1,B\xfcro\n', 'latin1');
    const refused = await post('/core/samples', body, 'text/csv; charset=utf-8');
    expect([refused.statusCode, messageOf(refused)]).toEqual([
      400,
      expect.stringMatching(/is not UTF-8 text; say the charset, as in Content-Type: text\/csv; charset=windows-1252/),
    ]);
    const answer = await post('/core/samples', body);
    expect([answer.statusCode, answer.json().data.notes]).toEqual([200, [expect.stringMatching(/windows-1252/i)]]);
    expect(Object.keys(await stored())).toEqual(['Büro/Raw']);
  });

  // More rows than a chunk has, of which a piece of the body ends one and begins the next.
  it.each([
    [2001, 290],
    [3000, 200],
  ])('with %i columns loses none of %i rows', async (count, rowCount) => {
    const names = Array.from({ length: count }, (_, column) => `c${column}`);
    const rows = Array.from({ length: rowCount }, (_, row) => {
      const time = new Date(Date.UTC(2026, 0, 1) + row * 60_000).toISOString();
      return `${time},${names.map((_, column) => (row * 7 + column) % 10).join()}`;
    });
    const answer = await post('/core/samples', `timestamp,${names.join()}\n${rows.join('\n')}\n`);
    expect([answer.statusCode, answer.json().data?.samples]).toEqual([200, count * rows.length]);
    for (const column of [0, 1, 1000, count - 1]) {
      const { body } = await service.app.inject({
        url: `/core/timeseries/c${column}/samples`,
        headers: { ...headers, accept: 'text/csv' },
      });
      const [series] = readCsv(body).series;
      expect(series!.value).toEqual(Float64Array.from(rows, (_, row) => (row * 7 + column) % 10));
    }
  });

  it.each([
    ['devices', '/core/timeseries/x/samples?value=state', HOME],
    [
      'devices under another name',
      '/core/timeseries/x/samples?value=value',
      'timestamp,Series,value\n2026-01-01,a,1\n',
    ],
    [
      'metrics',
      '/core/samples?value=temp&value=hum&metric=Raw',
      'timestamp,timeseriesId,temp,hum\n2026-01-01,a,1,50\n',
    ],
    ['metrics of devices', '/core/samples?series=device&metric=kW', 'timestamp,device,temp,hum\n2026-01-01,a,1,50\n'],
    ['fields', '/core/samples?metric=Raw', FIELDS],
    ['columns', '/core/timeseries/x/samples', 'timestamp,a,b\n2026-01-01,1,2\n'],
  ])('of several %s contradicts one name in the path or the query', async (_, url, body) => {
    const answer = await post(url, body);
    expect([answer.statusCode, messageOf(answer)]).toEqual([400, expect.stringMatching(/expected .*, received /)]);
    expect(await stored()).toEqual({});
  });

  it.each([
    ['/core/samples?series=metric&metric=kW', 'timestamp,metric,value\n2026-01-01,a,1\n', 'a/kW'],
    ['/core/timeseries/q/samples?layout=wide&value=v', 'timestamp,timeseriesId,v\n2026-01-01,5,1\n', 'q/Raw'],
    ['/core/timeseries/x/samples', 'timestamp,value\n2026-01-01,1\n', 'x/Raw'],
    ['/core/timeseries/x/samples?value=b&metric=m', 'timestamp,a,b\n2026-01-01,2,1\n', 'x/m'],
    ['/core/timeseries/a/samples?metric=temp', 'timestamp,timeseriesId,metric,value\n2026-01-01,a,temp,1\n', 'a/temp'],
  ])('is named by what names its columns: %s', async (url, body, name) => {
    const answer = await post(url, body);
    expect([answer.statusCode, messageOf(answer)]).toEqual([200, '']);
    expect(await stored()).toEqual({ [name]: [[Date.UTC(2026, 0, 1), 1]] });
  });

  it('is read by many of its rows, as a file is', async () => {
    const rows = Array.from({ length: 20 }, (_, i) => `2026-01-01T00:1${i >> 1}Z,${i % 2},${i}\n`);
    const floors = await post('/core/samples', `timestamp,floor,t\n${rows.join('')}`);
    expect([floors.statusCode, messageOf(floors)]).toEqual([
      400,
      expect.stringMatching(/say series=floor or layout=wide/),
    ]);
    const body = 'timestamp,value\n2026-01-01,1\n2026-01-02,"2,345"\n';
    const open = await post('/core/timeseries/x/samples', body);
    expect([open.statusCode, messageOf(open)]).toEqual([
      400,
      expect.stringMatching(/say decimal=comma or decimal=point/),
    ]);
    const answer = await post('/core/timeseries/x/samples?decimal=point', body);
    expect(answer.statusCode).toBe(200);
    expect(Object.values(await stored())[0]!.map(([, value]) => value)).toEqual([1, 2345]);
  });

  it('leaves out rows that cannot be read, if it is told to, and tells of them', async () => {
    const rows = Array.from({ length: 60 }, (_, i) => {
      return `2026-01-01T00:${String(i).padStart(2, '0')}:00Z,${i % 2 === 0 ? i : 'x'.repeat(300)}`;
    });
    const body = `timestamp,room\n2026-01-01T01:00Z,1,2\n${rows.join('\n')}\n`;
    const refused = await post('/core/samples', body);
    expect(refused.statusCode).toBe(400);
    expect(messageOf(refused)).toMatch(/; onBadRow=skip leaves out such rows, and counts them; nothing was stored$/);
    const answer = await post('/core/samples?onBadRow=skip', body);
    const { rejected, notes, ...counts } = answer.json().data;
    const expected = readByLibrary(body, { onBadRow: 'skip' });
    expect(await stored()).toEqual(expected);
    const count = expected['room/Raw']!.length;
    expect(counts).toEqual({ samples: count, missing: 0, duplicate: 0, isRepeated: false });
    expect(rejected).toBe(61 - count);
    expect(notes).toHaveLength(20);
    expect(notes[0]).toMatch(/^line 2: .*3 fields/);
    expect(notes[1]).toMatch(/^line 4, column 2 \(room\): "x+… is not a number/);
    for (const note of notes) {
      expect(note.length).toBeLessThan(300);
      expect(note).not.toMatch(/--/);
    }
    const none = await post('/core/samples?onBadRow=skip', 'timestamp,room\n2026-01-01,x\n2026-01-02,y\n');
    expect(none.statusCode).toBe(400);
    expect(messageOf(none)).toMatch(/^none of the 2 rows can be read: line 2, column 2 \(room\): "x" is not a number/);
  });

  it.each([
    [
      'timeFormat=dym',
      'text/csv',
      400,
      'query timeFormat: expected one of dmy, mdy, ymd, s, ms, us, ns, received "dym"',
    ],
    ['time-format=dmy', 'text/csv', 400, /did you mean `timeFormat`/],
    ['timezone=Europe/Berlinn', 'text/csv', 400, /timezone: expected .*received "Europe\/Berlinn".*Europe\/Berlin/],
    ['states=on', 'text/csv', 400, 'states: expected TEXT=NUMBER, or TEXT= for a value that is missing, received "on"'],
    ['skipLines=-1', 'text/csv', 400, 'query skipLines: expected at least 0, received -1'],
    ['value=none', 'text/csv', 400, /none/],
    ['time=', 'text/csv', 400, 'query time/0: expected at least one character, received ""'],
    [
      'decimal=comma',
      'application/json',
      400,
      'query decimal: expected only with a body of text/csv, received one of application/json',
    ],
    ['', 'text/csv; charset=klingon', 415, /^Content-Type: expected charset=utf-8 or .*, received klingon$/],
    ['', 'text/csv; charset=utf-8; charset=latin1', 415, /received utf-8 and latin1$/],
  ] as const)('%s with %s is refused', async (query, type, status, message) => {
    const answer = await post(
      `/core/samples?${query}`,
      type.includes('json') ? '[]' : 'timestamp,a\n2026-01-01,1\n',
      type,
    );
    expect([answer.statusCode, messageOf(answer)]).toEqual([
      status,
      typeof message === 'string' ? message : expect.stringMatching(message),
    ]);
    expect(await stored()).toEqual({});
  });
});
