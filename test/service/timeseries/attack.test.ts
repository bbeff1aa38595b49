// Whatever a caller sends, by mistake or on purpose, the service does not fail, and its answer says what is stored.
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { BEHIND_ZEROS } from '../../../src/formats/gzip.js';
import { writeFrame } from '../../../src/service/timeseries/columns-format.js';
import { openTestService, type TestService } from '../app.js';

const START_MS = Date.UTC(2026, 0, 1);
const JSON_TYPE = 'application/json';
const LINES = 'application/x-ndjson';
const CSV = 'text/csv';
const COLUMNS = 'application/vnd.windrow.columns';

let service: TestService;
let url: string;
let headers: { authorization: string };

beforeAll(async () => {
  service = await openTestService();
  url = await service.app.listen({ port: 0 });
  headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
});

afterAll(() => service.close());

async function post(path: string, type: string, payload: string | Uint8Array, more: Record<string, string> = {}) {
  const all = { ...headers, 'content-type': type, ...more };
  return service.app.inject({
    method: 'POST',
    url: path,
    headers: all,
    payload: Readable.from(parts(Buffer.from(payload))),
  });
}

/** A body in pieces, as from a connection. */
function* parts(whole: Buffer): Generator<Buffer> {
  for (let at = 0; at < whole.length; at += PART_BYTES) yield whole.subarray(at, at + PART_BYTES);
}

const PART_BYTES = 65_536;

const get = (path: string) => service.app.inject({ url: path, headers });
const pathOf = (id: string) => `/core/timeseries/${encodeURIComponent(id)}/samples`;
const instant = (minute: number) => new Date(START_MS + minute * 60_000).toISOString();

async function valuesOf(id: string, metric = 'Raw'): Promise<number[] | undefined> {
  const answer = await get(`${pathOf(id)}?metric=${encodeURIComponent(metric)}&limit=100000`);
  return answer.statusCode === 404 ? undefined : answer.json().data.map(({ val }: { val: number }) => val);
}

const junk = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.json(),
  fc.constantFrom(
    '',
    '\n',
    '[',
    '[]',
    '{}',
    '[{}]',
    '[[]]',
    'null',
    '[null]',
    '[{"val":',
    '{"timeseriesId":1}',
    '\uFEFF[]',
  ),
);
const fields = fc.record(
  {
    timeseriesId: fc.oneof(fc.constantFrom('a', 'b', '', 'x'.repeat(300), '__proto__', 'constructor'), fc.jsonValue()),
    metric: fc.oneof(fc.constantFrom('Raw', '', '\u0000'), fc.jsonValue()),
    timestamp: fc.oneof(fc.constantFrom('2026-01-01', '0', 'now', '9999-12-31T23:59:59.999Z', '-1e99'), fc.jsonValue()),
    val: fc.oneof(fc.double(), fc.jsonValue()),
    other: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const rows = fc.array(fields, { maxLength: 4 });
const csv = fc
  .array(
    fc.array(fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('timestamp', 'value', 'timeseriesId', '"', '1')), {
      maxLength: 4,
    }),
    {
      maxLength: 5,
    },
  )
  .map((lines) => lines.map((cells) => cells.join(',')).join('\n'));
const bytes = fc.uint8Array({ maxLength: 80 });
const frame = fc
  .tuple(fc.string({ maxLength: 5 }), fc.array(fc.double(), { maxLength: 3 }), bytes, fc.nat(120))
  .map(([timeseriesId, times, tail, cut]) => {
    const timeMs = Float64Array.from(times);
    const whole = Buffer.from(writeFrame({ timeseriesId, metric: 'Raw', timeMs, value: timeMs }));
    return Buffer.concat([whole, tail]).subarray(0, cut);
  });
const bodies = fc.oneof(
  fc.tuple(fc.constantFrom(JSON_TYPE, LINES, CSV, COLUMNS), fc.oneof(junk, bytes)),
  fc.tuple(
    fc.constant(JSON_TYPE),
    rows.map((all) => JSON.stringify(all)),
  ),
  fc.tuple(
    fc.constant(LINES),
    rows.map((all) => all.map((one) => JSON.stringify(one)).join('\r\n')),
  ),
  fc.tuple(fc.constant(CSV), csv),
  fc.tuple(fc.constant(COLUMNS), frame),
);

describe('anything sent as samples', () => {
  it('is answered with 200 or with what is wrong, never with a fault of the service', async () => {
    const paths = [
      '/core/samples',
      '/core/samples?metric=Raw',
      '/core/timeseries/a/samples',
      '/core/timeseries/a/samples?metric=M',
    ];
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(bodies, fc.constantFrom(...paths), fc.boolean(), async ([type, body], path, isPacked) => {
        const payload = isPacked ? gzipSync(body) : body;
        const answer = await post(path, type, payload, isPacked ? { 'content-encoding': 'gzip' } : {});
        statuses.add(answer.statusCode);
        expect([200, 400].includes(answer.statusCode), `${answer.statusCode} ${answer.body}`).toBe(true);
        expect(answer.json().status.message === '').toBe(answer.statusCode === 200);
      }),
      { numRuns: 1500 },
    );
    expect(statuses).toEqual(new Set([200, 400]));
    expect(service.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });

  it('is stored under the name in the path, whatever its characters, in every form', async () => {
    const name = fc
      .oneof(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
        fc.constantFrom(
          'a/b',
          'a%2Fb',
          '100%',
          'room.1.csv',
          'C:\\x',
          'a,b',
          'ü',
          '日本',
          '🌡',
          'a b',
          "'",
          '"',
          '#?&+',
          '-',
          'the body',
        ),
        fc.constant('n'.repeat(256)),
      )
      // Other tests have written series named a and b; clients take . and .. out of a path.
      .filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text) && text.length <= 256 && !['a', 'b', '.', '..'].includes(text));
    await fc.assert(
      fc.asyncProperty(name, fc.integer({ min: -1000, max: 1000 }), async (id, val) => {
        const time = { timestamp: instant(0) };
        const one = Float64Array.of(START_MS);
        const forms: [string, string | Uint8Array][] = [
          [JSON_TYPE, JSON.stringify([{ ...time, val }])],
          [JSON_TYPE, JSON.stringify([{ ...time, val, timeseriesId: id, metric: 'Raw' }])],
          [LINES, JSON.stringify({ ...time, val })],
          [CSV, `timestamp,value\n${time.timestamp},${val}\n`],
          [COLUMNS, writeFrame({ timeseriesId: id, metric: 'Raw', timeMs: one, value: Float64Array.of(val) })],
        ];
        // Random bodies of the test before may have written a series with this name.
        await service.app.inject({ method: 'DELETE', url: `${pathOf(id)}?all=true`, headers });
        for (const [type, body] of forms) {
          const answer = await post(pathOf(id), type, body);
          expect([id, type, answer.statusCode], answer.body).toEqual([id, type, 200]);
          expect(await valuesOf(id)).toEqual([val]);
          const { statusCode } = await service.app.inject({ method: 'DELETE', url: `${pathOf(id)}?all=true`, headers });
          expect(statusCode).toBe(200);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('that contradicts the path or the query is 400 in every form, and nothing is stored', async () => {
    const forms = (timeseriesId: string, metric: string): [string, string | Uint8Array][] => {
      const sample = { timeseriesId, metric, timestamp: instant(0), val: 1 };
      const columns = { timeseriesId, metric, timeMs: Float64Array.of(START_MS), value: Float64Array.of(1) };
      return [
        [JSON_TYPE, JSON.stringify([sample])],
        [LINES, JSON.stringify(sample)],
        [CSV, `timestamp,timeseriesId,metric,value\n${sample.timestamp},${timeseriesId},${metric},1\n`],
        [COLUMNS, writeFrame(columns)],
      ];
    };
    for (const [path, id, metric] of [
      ['/core/timeseries/here/samples', 'elsewhere', 'Raw'],
      ['/core/timeseries/here/samples?metric=One', 'here', 'Other'],
      ['/core/samples?metric=One', 'here', 'Other'],
      ['/core/samples?metric=One', 'here', 'Raw'],
    ] as const) {
      for (const [type, body] of forms(id, metric)) {
        const answer = await post(path, type, body);
        expect([path, type, answer.statusCode], answer.body).toEqual([path, type, 400]);
        expect(answer.json().status.message).toMatch(/, as the path or query says, received /);
      }
      expect(await valuesOf(id, metric)).toBeUndefined();
    }
    for (const [type, body] of forms('here', 'One')) {
      const answer = await post('/core/timeseries/here/samples?metric=One', type, body);
      expect([type, answer.statusCode], answer.body).toEqual([type, 200]);
    }
  });

  it('has times as ISO 8601, epoch seconds or milliseconds, for the same instant', async () => {
    const seconds = START_MS / 1000;
    for (const [i, timestamp] of [
      '2026-01-01',
      '2026-01-01T01:00:00+01:00',
      seconds,
      START_MS,
      String(START_MS),
    ].entries()) {
      const answer = await post(
        `/core/timeseries/times${i}/samples`,
        JSON_TYPE,
        JSON.stringify([{ timestamp, val: 1 }]),
      );
      expect([timestamp, answer.statusCode], answer.body).toEqual([timestamp, 200]);
      expect((await get(`/core/timeseries/times${i}/samples`)).json().data[0].timestamp).toBe(instant(0));
    }
  });

  it('may be compressed: several members in a row are all read; damaged or truncated ones are 400', async () => {
    const line = (minute: number) => `${JSON.stringify({ timestamp: instant(minute), val: minute })}\n`;
    const gzip = { 'content-encoding': 'gzip' };
    const members = Buffer.concat([gzipSync(line(0)), gzipSync(line(1) + line(2))]);
    expect((await post(pathOf('packed'), LINES, members, gzip)).json().data.samples).toBe(3);
    expect(await valuesOf('packed')).toEqual([0, 1, 2]);
    const whole = gzipSync(Array.from({ length: 1000 }, (_, i) => line(i)).join(''));
    for (const length of [1, 10, 50, whole.length - 9, whole.length - 1]) {
      const answer = await post(pathOf('cut'), LINES, whole.subarray(0, length), gzip);
      expect([length, answer.statusCode], answer.body).toEqual([length, 400]);
      expect(answer.json().status.message).toMatch(/^the body is not whole gzip: /);
    }
    const damaged = Buffer.from(whole);
    damaged[whole.length - 6]! ^= 0xff;
    expect((await post(pathOf('cut'), LINES, damaged, gzip)).statusCode).toBe(400);
    expect(await valuesOf('cut')).toBeUndefined();
  });

  it.each([LINES, JSON_TYPE])('compressed (%s), may end with zeros; with more behind them it is 400', async (type) => {
    const one = JSON.stringify({ timestamp: instant(0), val: 1 });
    const [first, second] = type === LINES ? [`${one}\n`, `${one}\n`] : [`[${one}]`, ' '];
    const zeros = Buffer.alloc(100_000);
    const send = async (...pieces: readonly Uint8Array[]) => {
      const all = { ...headers, 'content-type': type, 'content-encoding': 'gzip' };
      const payload = Readable.from(pieces, { objectMode: false });
      const answer = await service.app.inject({ method: 'POST', url: pathOf('zeros'), headers: all, payload });
      return [answer.statusCode, answer.json().data.samples ?? answer.json().status.message];
    };
    const [a, b] = [gzipSync(first!), gzipSync(second!)];
    const joined = Buffer.concat([a, zeros]);
    for (const pieces of [[joined], [a, zeros], [joined, zeros]]) expect(await send(...pieces)).toEqual([200, 1]);
    for (const pieces of [[a, zeros, b], [Buffer.concat([joined, b])], [joined, b], [joined, zeros, Buffer.of(0, 1)]]) {
      expect(await send(...pieces)).toEqual([
        400,
        expect.stringContaining(`the body is not whole gzip: ${BEHIND_ZEROS}`),
      ]);
    }
  });
});

describe('a fault far into a streamed body', () => {
  const COUNT = 120_000;
  const good = (minute: number) => `${instant(minute)},${minute}`;

  it('CSV: the answer has the line and how many samples before it are stored; the rest is not', async () => {
    const lines = Array.from({ length: COUNT }, (_, i) => good(i));
    lines[COUNT - 10] = 'yesterday,1';
    const answer = await post(pathOf('far-csv'), CSV, `timestamp,value\n${lines.join('\n')}\n`);
    expect(answer.statusCode).toBe(400);
    const { status, data } = answer.json();
    expect(status.message).toMatch(new RegExp(`^the body, line ${COUNT - 8}, column 1 \\(timestamp\\): "yesterday" `));
    expect(status.message).toContain(`; ${data.samplesStored} samples before it are stored; sending all again is safe`);
    expect([data.line, data.samplesStored > 40_000]).toEqual([COUNT - 8, true]);
    const counted = await get('/core/timeseries?timeseriesId=far-csv');
    expect(counted.json().data[0].metrics[0].sampleCount).toBe(data.samplesStored);
  });

  it.each([
    ['another', 'elsewhere', 'expected "far-name", as the path or query says, received "elsewhere"'],
    [
      'a too long',
      'x'.repeat(300),
      'expected a text of 1 to 256 characters, none of them a control character, received',
    ],
  ])('CSV: likewise for %s timeseriesId', async (_, name, said) => {
    const lines = Array.from({ length: COUNT }, (_, i) => `${instant(i)},far-name,${i}`);
    lines[COUNT - 10] = `${instant(0)},${name},1`;
    const answer = await post(pathOf('far-name'), CSV, `timestamp,timeseriesId,value\n${lines.join('\n')}\n`);
    const { status, data } = answer.json();
    expect([answer.statusCode, data.line]).toEqual([400, COUNT - 8]);
    expect(status.message).toContain(`the body, line ${COUNT - 8}: timeseriesId: ${said}`);
    expect(status.message).toContain(`; ${data.samplesStored} samples before it are stored`);
  });

  it('a wide CSV: a wrong timeseriesId is told to be in the header', async () => {
    const { statusCode, body } = await post(pathOf('here'), CSV, `timestamp,there\n${instant(0)},1\n`);
    expect([statusCode, body]).toEqual([
      400,
      expect.stringContaining('the body, in its header: timeseriesId: expected \\"here\\", as the path or query says'),
    ]);
  });

  it('columns: the answer has the frame, and only the names that are wrong', async () => {
    const [timeMs, value] = [Float64Array.of(START_MS), Float64Array.of(1)];
    const frame = (head: object) => writeFrame({ timeMs, value, ...head } as Parameters<typeof writeFrame>[0]);
    const good = frame({ timeseriesId: 'far-frame', metric: 'Raw' });
    const valid = 'expected a text of 1 to 256 characters, none of them a control character, received';
    for (const [head, said] of [
      [{ timeseriesId: 'a' }, `frame 2 has no valid metric: ${valid} nothing;`],
      [{ timeseriesId: '', metric: 'Raw' }, `frame 2 has no valid timeseriesId: ${valid} "";`],
      [{ metric: 5 }, `frame 2 has no valid timeseriesId: ${valid} nothing; no valid metric: ${valid} 5;`],
      [{ timeseriesId: 'far-frame', metric: 'Other' }, 'frame 2: metric: expected "Raw", as the path or query says'],
    ] as const) {
      const answer = await post(`${pathOf('far-frame')}?metric=Raw`, COLUMNS, Buffer.concat([good, frame(head)]));
      const { status, data } = answer.json();
      expect([answer.statusCode, data.frame, `${status.message};`]).toEqual([400, 2, expect.stringContaining(said)]);
    }
  });

  it('lines: the same, for faults in rows, encoding and compression', async () => {
    const lines = Array.from({ length: COUNT }, (_, i) => JSON.stringify({ timestamp: instant(i), val: i }));
    const linesWith = (bad: string) => lines.map((line, i) => (i === COUNT - 10 ? bad : line)).join('\n');
    const bad = linesWith('{"timestamp":"yesterday","val":1}');
    const notUtf8 = Buffer.from(linesWith('{"timestamp":"XX","val":1}'));
    notUtf8[notUtf8.indexOf('XX')] = 0xff;
    const packed = gzipSync(lines.join('\n'));
    for (const [id, body, place, more] of [
      ['far-row', bad, `line ${COUNT - 9} /timestamp: `, {}],
      ['far-encoding', notUtf8, `line ${COUNT - 9} is not UTF-8`, {}],
      [
        'far-packing',
        packed.subarray(0, packed.length - 20),
        'the body is not whole gzip',
        { 'content-encoding': 'gzip' },
      ],
    ] as const) {
      const answer = await post(pathOf(id), LINES, body, more);
      const { status, data } = answer.json();
      expect([id, answer.statusCode, status.message]).toEqual([
        id,
        400,
        expect.stringContaining(`; ${data.samplesStored} samples before it are stored`),
      ]);
      expect(status.message.slice(0, place.length)).toBe(place);
      const counted = await get(`/core/timeseries?timeseriesId=${id}`);
      expect([id, counted.json().data[0].metrics[0].sampleCount]).toEqual([id, data.samplesStored]);
    }
  });

  it('the body of a queue is stored whole or not at all', async () => {
    const lines = Array.from({ length: COUNT }, (_, i) => good(i));
    lines[COUNT - 1] = 'yesterday,1';
    const origin = { source: 'queue', partition: '0', offset: '5' };
    const answer = await post(pathOf('queue'), CSV, `timestamp,value\n${lines.join('\n')}\n`, origin);
    expect([answer.statusCode, answer.json().status.message]).toEqual([
      400,
      expect.stringMatching(/; nothing was stored$/),
    ]);
    expect(await valuesOf('queue')).toBeUndefined();
  });
});

describe('over a socket', () => {
  const authorization = () => `authorization: ${headers.authorization}\r\n`;
  const head = (path: string, type: string, more: string) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\n${authorization()}content-type: ${type}\r\n${more}\r\n`;

  /** Sends the pieces one by one; returns what is received until either side is done. */
  function exchange(pieces: Iterable<string | Uint8Array>, then?: 'abort' | 'end'): Promise<string> {
    return new Promise((resolve) => {
      let answer = '';
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      const end = (): void => {
        socket.destroy();
        resolve(answer);
      };
      socket.on('data', (data) => {
        answer += data;
        if (/\r\n\r\n.*\}$/s.test(answer)) end();
      });
      socket.on('error', end);
      socket.on('close', end);
      const iterator = pieces[Symbol.iterator]();
      const send = (): void => {
        const { value, done } = iterator.next();
        if (done) {
          if (then === 'abort') socket.end(end);
          if (then === 'end') socket.end();
          return;
        }
        if (socket.writable) socket.write(value, () => setImmediate(send));
      };
      socket.on('connect', send);
    });
  }

  /** Sends requests on one connection, each once the one before it is answered. */
  async function conversation(requests: readonly (readonly (string | Uint8Array)[])[]): Promise<string[]> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let text = '';
    socket.on('data', (data) => {
      text += data;
    });
    const answers: string[] = [];
    for (const pieces of requests) {
      text = '';
      for (const piece of pieces) socket.write(piece);
      await expect.poll(() => /\r\n\r\n.*\}$/s.test(text)).toBe(true);
      answers.push(text);
    }
    return answers;
  }

  const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

  it('a fault at the start of an endless body is answered while the body still arrives', async () => {
    const line = `${JSON.stringify({ timestamp: instant(0), val: 1 })}\n`;
    function* endless(first: string, rest: string): Generator<string> {
      yield head(pathOf('endless'), first.startsWith('{') ? LINES : CSV, 'transfer-encoding: chunked\r\n');
      yield chunk(first);
      for (;;) yield chunk(rest);
    }
    const many = await exchange(endless(`{"val":\n`, `{"val":\n`.repeat(1000)));
    expect(many).toMatch(/^HTTP\/1.1 400 .*line 1: expected a JSON object.*and \d+ more; nothing was stored/s);
    const long = await exchange(endless(line, 'x'.repeat(10_000)));
    expect(long).toMatch(/^HTTP\/1.1 400 .*line 2 has more than 65536 bytes/s);
    const csvFault = await exchange(endless('timestamp,value\nyesterday,1\n', `${instant(0)},1\n`));
    expect(csvFault).toMatch(/^HTTP\/1.1 400 .*the body, line 2, column 1 \(timestamp\)/s);
  });

  it('the rest of a refused body is not taken for the next request of the connection', async () => {
    const bad = `{"val":\n${' '.repeat(500_000)}\n`;
    const length = (body: string) => `content-length: ${Buffer.byteLength(body)}\r\n`;
    const packed = gzipSync('\n'.repeat(2_000_000));
    const first = [head(pathOf('rest'), LINES, length(bad)), bad];
    const second = [
      head(pathOf('rest'), LINES, `content-encoding: gzip\r\ncontent-length: ${packed.length}\r\n`),
      packed,
    ];
    const good = JSON.stringify({ timestamp: instant(0), val: 1 });
    const last = [head(pathOf('rest'), LINES, `${length(good)}connection: close\r\n`), good];
    const answers = await conversation([first, second, last]);
    expect(answers.map((answer) => answer.slice(0, 12))).toEqual(['HTTP/1.1 400', 'HTTP/1.1 400', 'HTTP/1.1 200']);
  });

  it('a body that breaks off stores nothing as JSON, and is not a fault of the service', async () => {
    const before = service.logLines.length;
    for (const [id, type, body] of [
      ['broken-json', JSON_TYPE, `[{"timestamp":"${instant(0)}","val":1},`],
      ['broken-lines', LINES, `{"timestamp":"${instant(0)}","val":1}\n`],
      ['broken-csv', CSV, `timestamp,value\n${instant(0)},1\n`],
    ] as const) {
      await exchange([head(pathOf(id), type, 'content-length: 100000\r\n'), body], 'abort');
      const answered = () => service.logLines.slice(before).map((line) => JSON.parse(line));
      await expect.poll(() => answered().some((line) => String(line.path).includes(id))).toBe(true);
      expect(await valuesOf(id)).toBeUndefined();
    }
    const levels = service.logLines.slice(before).map((line) => JSON.parse(line).level);
    expect(Math.max(...levels)).toBeLessThan(50);
  });

  it('input that is not HTTP, and oversized headers, are answered in our envelope', async () => {
    const nonsense = await exchange(['HELLO\r\n\r\n']);
    expect(nonsense).toMatch(/^HTTP\/1.1 400 .*"message":"this is no HTTP request","code":"400"/s);
    const large = await exchange([head(`/core/samples?metric=${'x'.repeat(20_000)}`, CSV, 'content-length: 0\r\n')]);
    expect(large).toMatch(/^HTTP\/1.1 431 .*16 KiB.*"code":"431"/s);
  });

  it('what is not HTTP gets its answer behind those that are due, on a connection in use, too', async () => {
    const good = JSON.stringify({ timestamp: instant(0), val: 1 });
    const first = head(pathOf('ahead'), LINES, `content-length: ${good.length}\r\n`) + good;
    const nonsense = 'HELLO\r\n\r\n';
    const large = `GET /core/samples?metric=${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`;
    const broken = `${head(pathOf('broken'), CSV, 'transfer-encoding: chunked\r\n')}zz\r\n`;
    for (const [second, status] of [
      [nonsense, '400'],
      [large, '431'],
      [broken, '400'],
    ] as const) {
      const statuses = ['HTTP/1.1 200', `HTTP/1.1 ${status}`];
      expect((await conversation([[first], [second]])).map((answer) => answer.slice(0, 12))).toEqual(statuses);
      // In one packet.
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.write(first + first + second);
      expect((await text(socket)).match(/HTTP\/1.1 \d+/g)).toEqual([statuses[0], ...statuses]);
    }
    expect(await valuesOf('ahead')).toEqual([1]);
  });

  it('a header that decides the meaning is found behind thousands of others', async () => {
    const begin = `GET /core/timeseries HTTP/1.1\r\nhost: a\r\n${authorization()}${'a:\r\n'.repeat(3000)}`;
    expect(await exchange([`${begin}host: b\r\n\r\n`])).toMatch(/^HTTP\/1.1 400 .*header host: expected once/s);
    expect(await exchange([`${begin}transfer-encoding: gzip, chunked\r\n\r\n`])).toMatch(/^HTTP\/1.1 501 /);
  });

  it.each([
    ['/core/timeseries/b\u00fcro/samples', 'the URL is malformed: '],
    ["/core/events?$filter=name eq 'x'", 'the first line of the request is malformed: '],
  ])('a URL that is not percent-encoded is told: %s', async (url, message) => {
    const answer = await exchange([`GET ${url} HTTP/1.1\r\nhost: x\r\n\r\n`]);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(answer.slice(answer.indexOf('{'))).status.message).toContain(message);
    expect(answer).toContain('%20');
  });

  it.each([
    ['a body that ends early', 'content-length: 10\r\n\r\nabc', 'the request ended early: '],
    ['headers that end early', 'content-length: 10\r\n', 'the request ended early: '],
    ['two lengths', 'content-length: 1\r\ncontent-length: 2\r\n\r\na', 'the length of the body is unclear: '],
    ['a length that is none', 'content-length: x\r\n\r\na', 'the length of the body is unclear: '],
    [
      'a length and chunks',
      'content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      'the length of the body is unclear: ',
    ],
    [
      'chunks and a length',
      'transfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      'the length of the body is unclear: ',
    ],
    ['a chunk without a length', 'transfer-encoding: chunked\r\n\r\nzz\r\n', 'a chunk of the body is malformed: '],
    [
      'a chunk that is too long',
      'transfer-encoding: chunked\r\n\r\n3\r\nabcdef\r\n',
      'a chunk of the body is malformed: ',
    ],
    ['a header without a colon', 'no colon\r\n\r\n', 'a header is malformed: '],
  ])('%s: the answer says what is wrong', async (_, more, said) => {
    const begin = `POST /core/samples HTTP/1.1\r\nhost: x\r\n${authorization()}content-type: ${CSV}\r\n`;
    const answer = await exchange([`${begin}${more}`], 'end');
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain(`"message":"${said}`);
  });

  it('RFC 9112, 6.1: a transfer coding other than chunked is refused, and the connection ended', async () => {
    const chunks = '3\r\nabc\r\n0\r\n\r\n';
    const of = (coding: string) => exchange([head(pathOf('coded'), LINES, `transfer-encoding: ${coding}\r\n`), chunks]);
    for (const coding of ['gzip, chunked', 'GZIP,Chunked']) {
      const answer = await of(coding);
      expect(answer).toMatch(/^HTTP\/1.1 501 Not Implemented.*connection: close.*"code":"501"/s);
      expect(answer).toContain(`header Transfer-Encoding: expected chunked or none, received \\"${coding}\\"`);
    }
    expect(await of('Chunked')).toMatch(/^HTTP\/1.1 400 .*line 1/s);
  });

  it('an expectation other than 100-continue is refused in our envelope', async () => {
    const asked = 'GET /health/live?a=b HTTP/1.1\r\nhost: a\r\nx-correlation-id: odd\r\nexpect: something-odd\r\n\r\n';
    const answer = await exchange([asked]);
    expect(answer).toMatch(/^HTTP\/1.1 417 .*x-correlation-id: odd.*content-type: application\/json.*"code":"417"/s);
    expect(answer).toContain('header Expect: expected 100-continue or none, received \\"something-odd\\"');
    expect(JSON.parse(service.logLines.at(-1)!)).toMatchObject({
      correlationId: 'odd',
      method: 'GET',
      path: '/health/live',
      statusCode: 417,
      msg: 'answered',
    });
  });

  it('a path with a NUL, in a folder of pages, is refused in words', async () => {
    const { statusCode, body } = await get('/docs/static/%00');
    expect([statusCode, JSON.parse(body).status.message]).toEqual([
      400,
      'the path /docs/static/%00 has a character that no page has in its name, such as %00',
    ]);
  });

  it('RFC 9112, 3.2.2: of a target in absolute form the host counts, not that of the header', async () => {
    const of = (target: string) => exchange([`GET ${target} HTTP/1.1\r\nhost: evil.example\r\n\r\n`]);
    for (const [begin, host] of [
      ['http://ts.example.com:8090', 'ts.example.com:8090'],
      ['HTTPS://zoe@ts.example.com', 'ts.example.com'],
      ['', 'evil.example'],
    ]) {
      const answer = await of(`${begin}/.well-known/oauth-authorization-server`);
      expect(answer).toMatch(/^HTTP\/1.1 200 /);
      expect(answer).toContain(`"token_endpoint":"http://${host}/`);
    }
    expect(await of('http://ts.example.com?a=1')).toContain('there is no GET /;');
    const none = await exchange(['GET http://ts.example.com/health/live HTTP/1.1\r\n\r\n']);
    expect(none).toMatch(/^HTTP\/1.1 400 .*header Host: expected once, received nothing/s);
  });

  it('a header that decides the meaning may occur only once, as a proxy may use the other one', async () => {
    const begin = `GET /core/timeseries HTTP/1.1\r\n${authorization()}`;
    const two = await exchange([`${begin}host: a\r\nHOST: b\r\n\r\n`]);
    expect(two).toMatch(/^HTTP\/1.1 400 .*header HOST: expected once, received twice/s);
    const none = await exchange([`${begin}\r\n`]);
    expect(none).toMatch(/^HTTP\/1.1 400 .*header Host: expected once, received nothing/s);
    // HTTP/1.0 has no Host header.
    expect(await exchange([`${begin.replace('1.1', '1.0')}\r\n`])).toMatch(/^HTTP\/1.1 200 /);
    for (const name of ['Source', 'offset', 'Content-Type', 'continuationToken', 'ErCollectionId']) {
      const twice = await exchange([`${begin}host: a\r\n${name.toLowerCase()}: 1\r\n${name}: 2\r\n\r\n`]);
      expect(twice).toContain(`header ${name}: expected once, received twice`);
    }
  });

  it('if a reader stops reading, the store is not read further than its connection takes', async () => {
    const COUNT = 1_000_000;
    const timeMs = Float64Array.from({ length: COUNT }, (_, i) => START_MS + i * 1000);
    const value = Float64Array.from({ length: COUNT }, (_, i) => i * 1.25);
    await post('/core/samples', COLUMNS, writeFrame({ timeseriesId: 'long', metric: 'Raw', timeMs, value }));
    const { samplesRead } = service.service.context.metrics;
    const read = async () => (await samplesRead.get()).values[0]?.value ?? 0;
    const before = await read();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`GET ${pathOf('long')} HTTP/1.1\r\nhost: x\r\naccept: text/csv\r\n${authorization()}\r\n`);
    socket.pause();
    onTestFinished(() => void socket.destroy());
    await expect.poll(async () => (await read()) - before).toBeGreaterThan(0);
    // It stands still: the same value twice, with time for much more in between.
    let last = -1;
    await expect
      .poll(
        async () => {
          const is = await read();
          const stands = is === last;
          last = is;
          return stands;
        },
        { interval: 300 },
      )
      .toBe(true);
    expect(last - before).toBeLessThan(COUNT / 2);
    let received = 0;
    socket.on('data', (data) => {
      received += data.length;
    });
    socket.resume();
    await expect.poll(async () => (await read()) - before).toBe(COUNT);
    expect(received).toBeGreaterThan(0);
  });
});

describe('deletes between pages', () => {
  it('deleted samples are on no later page, and no others are missing', async () => {
    const rows = Array.from({ length: 50 }, (_, i) => ({ timeseriesId: 'paged', timestamp: instant(i), val: i }));
    await post('/core/samples', JSON_TYPE, JSON.stringify(rows));
    const read: number[] = [];
    let token: string | null = '';
    while (token !== null) {
      const more: Record<string, string> = token === '' ? {} : { continuationtoken: token };
      const answer = await service.app.inject({ url: `${pathOf('paged')}?limit=10`, headers: { ...headers, ...more } });
      read.push(...answer.json().data.map(({ val }: { val: number }) => val));
      token = answer.json().paging.continuationToken;
      // The position in the token is deleted.
      const range = `startTime=${instant(5)}&endTime=${instant(25)}`;
      await service.app.inject({ method: 'DELETE', url: `${pathOf('paged')}?${range}`, headers });
    }
    const expected = Array.from({ length: 50 }, (_, i) => i).filter((i) => i < 10 || i >= 25);
    expect(read).toEqual(expected);
  });
});
