// Small bodies that would take much memory or time are refused before they do.
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFrame } from '../../../src/service/timeseries/columns-format.js';
import { openTestService, type TestService } from '../app.js';

const JSON_TYPE = 'application/json';
const LINES = 'application/x-ndjson';
const CSV = 'text/csv';
const COLUMNS = 'application/vnd.windrow.columns';
const TIME = '2026-01-01T00:00:00Z';

let service: TestService;
let headers: { authorization: string };

const settings = { csvLineBytesMax: 100_000, csvColumnsMax: 100, bodySeriesMax: 50, queuedSamplesMax: 1000 };

beforeEach(async () => {
  service = await openTestService({ settings });
  headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
});

afterEach(() => service.close());

/** How much of a body was read, and the answer to it. */
async function post(type: string, pieces: Iterable<string | Uint8Array>, more: Record<string, string> = {}) {
  let takenBytes = 0;
  let isAnswered = false;
  // In slices, as from a connection, which ends soon after the answer; the rest is read and dropped.
  async function* counted(): AsyncGenerator<Buffer> {
    for (const piece of pieces) {
      if (isAnswered) return;
      takenBytes += piece.length;
      yield Buffer.from(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const { statusCode, ...answer } = await service.app.inject({
    method: 'POST',
    url: '/core/samples',
    headers: { ...headers, 'content-type': type, ...more },
    payload: Readable.from(counted(), { highWaterMark: 1 }),
  });
  isAnswered = true;
  return { statusCode, takenBytes, ...answer.json() };
}

function* endless(first: string, piece: string): Generator<string> {
  yield first;
  for (;;) yield piece;
}

const PIECE = 65_536;

describe('a body of CSV', () => {
  it('is refused if one of its lines does not end, in the header or below', async () => {
    for (const first of ['', 'timestamp,value\n', `timestamp,value\n${TIME},1\n`, 'timestamp,value\n"']) {
      const answer = await post(CSV, endless(first, 'x'.repeat(PIECE)));
      expect([first, answer.statusCode]).toEqual([first, 400]);
      expect(answer.takenBytes).toBeLessThan(settings.csvLineBytesMax + 5 * PIECE);
    }
    const { status } = await post(CSV, endless('timestamp,value\n', 'x'.repeat(PIECE)));
    expect(status.message).toBe('the body, line 2: has more than 100000 bytes; expected a row; nothing was stored');
  });

  it('is refused if it has too many columns, before memory is taken for them', async () => {
    const wide = (count: number) =>
      `timestamp,${Array.from({ length: count }, (_, i) => `c${i}`).join(',')}\n${TIME}${',1'.repeat(count)}\n`;
    const { statusCode, status } = await post(CSV, [wide(100)]);
    expect([statusCode, status.message]).toEqual([
      400,
      'the body, line 1: the header has 101 columns; expected at most 100; nothing was stored',
    ]);
    expect((await post(CSV, [wide(49)])).data.samples).toBe(49);
  });

  it('with many columns is read in groups of few rows, with the same result', async () => {
    await service.close();
    service = await openTestService();
    headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
    const count = 9_999;
    const names = Array.from({ length: count }, (_, i) => `c${i}`).join(',');
    const row = (r: number) => `2026-01-01T00:00:${r < 10 ? '0' : ''}${r}Z${`,${r}`.repeat(count)}\n`;
    const rows = Array.from({ length: 20 }, (_, r) => row(r));
    expect((await post(CSV, [`timestamp,${names}\n`, ...rows])).data.samples).toBe(20 * count);
    const answer = await service.app.inject({ url: '/core/timeseries/c9998/samples', headers });
    expect(answer.json().data.map(({ val }: { val: number }) => val)).toEqual(rows.map((_, r) => r));
    // Rows of more than one chunk, in one piece.
    const times = Array.from({ length: 300 }, (_, r) => new Date(1.7e12 + r).toISOString());
    const wide = `timestamp,${names.slice(0, names.indexOf(',c2500'))}\n`;
    const body = [wide, ...times.map((time, r) => `${time}${`,${r}`.repeat(2500)}\n`)].join('');
    expect((await post(CSV, [body])).data.samples).toBe(2500 * 300);
    const long = await service.app.inject({ url: '/core/timeseries/c2499/samples?startTime=2022-01-01', headers });
    const got = long.json().data.map(({ val }: { val: number }) => val);
    expect(got.slice(0, 300)).toEqual(times.map((_, r) => r));
    // Rows of more than one chunk, from which the header is told: only the last says which number is the day.
    const dates = times.map((_, r) => `${r < 299 ? '01' : '13'}/02/2022 00:0${Math.floor(r / 60)}:${10 + (r % 50)}`);
    const open = [wide, ...dates.map((time, r) => `${time}${`,${r}`.repeat(2500)}\n`)].join('');
    const { statusCode, data } = await post(CSV, [open]);
    expect([statusCode, data.samples + data.duplicate, data.notes]).toEqual([
      200,
      2500 * 300,
      ['dates with the day first'],
    ]);
  });

  it('is refused if it names ever new series', async () => {
    let id = 0;
    function* fresh(): Generator<string> {
      yield 'timestamp,timeseriesId,value\n';
      for (;;) yield Array.from({ length: 10 }, () => `${TIME},id${id++},1\n`).join('');
    }
    const { statusCode, status, takenBytes } = await post(CSV, fresh());
    expect(statusCode).toBe(400);
    expect(status.message).toContain('"id50" is one series more than the 50 that one file may have');
    expect(takenBytes).toBeLessThan(50_000);
  });
});

describe('a body without content', () => {
  it('of only blank lines is refused, in every form of lines, even if compressed', async () => {
    const blank = '\n'.repeat(PIECE);
    for (const [type, first] of [
      [CSV, ''],
      [CSV, `timestamp,value\n${TIME},1\n`],
      [CSV, `timestamp,value\n${TIME},1\n \r\n`],
      [LINES, ''],
      [LINES, `{"timeseriesId":"a","timestamp":"${TIME}","val":1}\n`],
    ] as const) {
      const plain = await post(type, endless(first, blank));
      expect([type, first, plain.statusCode, plain.takenBytes < 10 * PIECE]).toEqual([type, first, 400, true]);
      expect(plain.status.message).toMatch(/blank/);
      const packed = gzipSync(first + '\n'.repeat(2_000_000));
      expect((await post(type, [packed], { 'content-encoding': 'gzip' })).statusCode).toBe(400);
    }
  });

  it('of frames without samples is not kept in memory', async () => {
    const none = new Float64Array(0);
    const frames = Array.from({ length: 1000 }, (_, i) =>
      writeFrame({ timeseriesId: `id${i}`, metric: 'Raw', timeMs: none, value: none }),
    );
    const { statusCode, data } = await post(COLUMNS, frames);
    expect([statusCode, data.samples]).toEqual([200, 0]);
    expect((await service.app.inject({ url: '/core/timeseries', headers })).json().data).toEqual([]);
    const endless = await post(COLUMNS, Array<Uint8Array>(11).fill(Buffer.concat(frames)));
    expect([endless.statusCode, endless.status.message]).toEqual([
      413,
      'the body is too large: expected at most 10000 frames without samples',
    ]);
  });

  it('of thousands of frames in one piece lets a later body of one frame go first', async () => {
    const none = new Float64Array(0);
    const frame = writeFrame({ timeseriesId: 'a', metric: 'Raw', timeMs: none, value: none });
    const answered: number[] = [];
    const send = async (frameCount: number) => {
      const { statusCode } = await post(COLUMNS, [Buffer.concat(Array<Uint8Array>(frameCount).fill(frame))]);
      answered.push(frameCount);
      return statusCode;
    };
    expect(await Promise.all([send(8000), send(1)])).toEqual([200, 200]);
    expect(answered).toEqual([1, 8000]);
  });

  it('may unpack only to a limited multiple of its size', async () => {
    const line = `{"timeseriesId":"a","timestamp":"${TIME}","val":1}\n`;
    const packed = gzipSync(line.repeat(1_000_000));
    const { statusCode, status } = await post(LINES, [packed], { 'content-encoding': 'gzip' });
    expect([statusCode, status.message]).toEqual([
      413,
      expect.stringMatching(/^the body unpacks to more than \d+ bytes/),
    ]);
  });
});

describe('a body held in memory', () => {
  it('has at most the allowed number of series, and from a queue the allowed number of samples', async () => {
    const samples = (count: number, idOf: (i: number) => string) =>
      Array.from({ length: count }, (_, i) => ({ timeseriesId: idOf(i), timestamp: i * 1000, val: i }));
    const many = await post(JSON_TYPE, [JSON.stringify(samples(2000, (i) => `id${i}`))]);
    expect([many.statusCode, many.status.message]).toEqual([
      413,
      'the body is too large: expected at most 50 series; send it in parts',
    ]);
    const lines = samples(5000, () => 'a').map((one) => `${JSON.stringify(one)}\n`);
    const origin = { source: 'queue', partition: '0', offset: '1' };
    const queued = await post(LINES, lines, origin);
    expect([queued.statusCode, queued.status.message]).toEqual([
      413,
      expect.stringMatching(/^the body is too large: expected at most 1000 samples from a queue/),
    ]);
    const rows = `timestamp,timeseriesId,value\n${samples(1001, () => 'a')
      .map((one) => `${one.timestamp},a,1\n`)
      .join('')}`;
    const asCsv = await post(CSV, [rows], { ...origin, offset: '2' });
    expect([asCsv.statusCode, asCsv.status.message]).toEqual([413, queued.status.message]);
    expect((await post(LINES, lines)).data.samples).toBe(5000);
  });

  it('of operations has at most the allowed number of ranges and steps, checked before planning', async () => {
    const range = { lower: 1, upper: 2 };
    const step = (count: number) => ({
      operation: 'Mask',
      input: [{ timeseriesId: 'a', metric: 'Raw' }],
      output: [{ timeseriesId: 'a', metric: 'M' }],
      parameters: { valuerangelist: Array.from({ length: count }, () => range) },
    });
    const registerAll = (items: readonly (readonly object[])[]) =>
      service.app.inject({
        method: 'POST',
        url: '/operations?dryRun=true',
        headers,
        payload: items.map((operations) => ({ metric: 'M', processingType: 'stream', operations })),
      });
    const register = (operations: readonly object[]) => registerAll([operations]);
    const many = await register([step(10_001)]);
    expect([many.statusCode, many.json().status.message]).toEqual([
      400,
      'the request is too large: expected at most 10000 ranges, received more; send it in parts',
    ]);
    expect((await register([step(1000)])).statusCode).toBe(200);
    const long = await register(Array.from({ length: 1001 }, () => ({})));
    expect(long.json().status.message).toContain('expected at most 1000 steps for an item');
    const four = await registerAll(Array.from({ length: 4 }, () => Array.from({ length: 1000 }, () => step(0))));
    expect(four.json().status.message).toContain('expected at most 3000 steps');
    const none = await register(Array.from({ length: 501 }, () => ({})));
    expect(none.json().status.message).toContain('expected at most 500 steps without operation, input or output');
  });
});

describe('a number beyond a double', () => {
  it('is refused in every form of samples, with its place', async () => {
    for (const [type, body, place] of [
      [JSON_TYPE, `[{"timeseriesId":"a","timestamp":"${TIME}","val":1e400}]`, '/0/val: expected a number within'],
      [LINES, `{"timeseriesId":"a","timestamp":"${TIME}","val":1e400}`, 'line 1 /val: expected a number within'],
      [CSV, `timestamp,timeseriesId,value\n${TIME},a,1e400\n`, 'the body, line 2, column 3 (value): "1e400" is beyond'],
      [CSV, `timestamp,a,b\n${TIME},1,-1e400\n`, 'the body, line 2, column 3 (b): "-1e400" is beyond'],
    ] as const) {
      const { statusCode, status } = await post(type, [body]);
      expect([body, statusCode, status.message]).toEqual([body, 400, expect.stringContaining(place)]);
    }
  });
});

it('NDJSON that is not JSON is refused with the line, the column and what is expected there', async () => {
  const line = `{"timeseriesId":"a","timestamp":"${TIME}","val":NaN}`;
  const { statusCode, status } = await post(LINES, [`${line.replace('NaN', '1')}\n${line}\n`]);
  const received = `\`NaN\` in column ${line.indexOf('NaN') + 1}, where a value is expected`;
  expect([statusCode, status.message]).toEqual([
    400,
    expect.stringContaining(`line 2: expected a JSON object, received ${received}`),
  ]);
});

it('a byte order mark is one at the start of the body alone, wherever its bytes are cut', async () => {
  const [first, second] = ['a', 'b'].map((timeseriesId) => JSON.stringify({ timeseriesId, timestamp: TIME, val: 1 }));
  const pieces = (...parts: string[]) => [[parts.join('')], parts];
  for (const body of pieces(`\uFEFF${first}\n`, `${second}\n`)) expect((await post(LINES, body)).statusCode).toBe(200);
  const faults = [];
  for (const body of pieces(`${first}\n`, `\uFEFF${second}\n`)) faults.push(await post(LINES, body));
  expect(faults.map(({ statusCode }) => statusCode)).toEqual([400, 400]);
  const [whole, cut] = faults.map(({ status }) => status.message);
  expect(cut).toBe(whole);
  expect(whole).toContain('line 2');
});

it('a line has as many bytes, wherever it is cut', async () => {
  const long = JSON.stringify({ timeseriesId: 'ü'.repeat(33_000), timestamp: TIME, val: 1 });
  for (const body of [[`${long}\n`], [long.slice(0, 20_000), `${long.slice(20_000)}\n`]]) {
    const message = expect.stringContaining('line 1 has more than 65536 bytes');
    expect(await post(LINES, body)).toMatchObject({ statusCode: 400, status: { message } });
  }
});
