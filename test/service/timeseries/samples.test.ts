import { gzipSync } from 'node:zlib';
import type { InjectOptions } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readCsv } from '../../../src/formats/csv/index.js';
import { FrameReader, writeFrame } from '../../../src/service/timeseries/columns-format.js';
import type { SampleStore } from '../../../src/storage/samples/store.js';
import { shardOf } from '../../../src/storage/shard.js';
import type { Transaction } from '../../../src/storage/storage.js';
import { sampleLog, segments } from '../../../src/storage/tables/samples.js';
import { compactNow } from '../../storage/samples/compact-now.js';
import { openTestService, type TestService } from '../app.js';

const START_MS = Date.UTC(2026, 0, 1);

let service: TestService;
let headers: { authorization: string };

beforeEach(async () => {
  service = await openTestService();
  const client = await service.addClient({ organisation: 'acme' });
  headers = await service.bearer(client);
});

afterEach(() => service.close());

function send(method: 'GET' | 'POST' | 'DELETE', url: string, options: Omit<InjectOptions, 'method' | 'url'> = {}) {
  return service.app.inject({ method, url, ...options, headers: { ...headers, ...options.headers } });
}

const post = (url: string, contentType: string, payload: string | Buffer, more: Record<string, string> = {}) =>
  send('POST', url, { payload, headers: { 'content-type': contentType, ...more } });

const sample = (timeseriesId: string, minute: number, val: number | null, metric = 'Raw') => ({
  timeseriesId,
  metric,
  timestamp: new Date(START_MS + minute * 60_000).toISOString(),
  val,
});

/** Does work on the shard of `acme` in a transaction. */
function ofShard<Result>(work: (tx: Transaction, samples: SampleStore) => Promise<Result>): Promise<Result> {
  const { storage, samples } = service.service.context;
  return storage.transaction(shardOf('acme'), (tx) => work(tx, samples));
}

async function csvOf(url: string): Promise<string> {
  return (await send('GET', url, { headers: { accept: 'text/csv' } })).body;
}

describe('samples', () => {
  it('what is written is read back, and counted', async () => {
    const written = [
      sample('a', 0, 1.5),
      sample('b', 0, -2),
      sample('a', 1, null),
      sample('a', 2, 3),
      sample('a', 2, 4),
    ];
    const answer = await post('/core/samples', 'application/json', JSON.stringify(written));
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      status: { message: '', code: '200' },
      data: { samples: 3, missing: 1, duplicate: 1, isRepeated: false },
    });
    const read = await send('GET', '/core/samples?timeseries_ids=b,a');
    expect(read.json()).toEqual({
      status: { message: '', code: '200' },
      data: [sample('b', 0, -2), sample('a', 0, 1.5), sample('a', 2, 4)],
      paging: { continuationToken: null },
    });
  });

  it.each(['application/json', 'application/x-ndjson'])(
    'with bytes that are not UTF-8 go to no other series, whatever was sent before (%s)',
    async (type) => {
      const bodyOf = (...names: (string | number[])[]) => {
        const lines = names.map((name, second) => {
          const bytes = typeof name === 'string' ? Buffer.from(name) : Buffer.from(name);
          const rest = `","timestamp":"2026-01-01T00:00:0${second}Z","val":${second}}`;
          return Buffer.concat([Buffer.from('{"timeseriesId":"a'), bytes, Buffer.from(rest)]);
        });
        const between = type === 'application/json' ? ',' : '\n';
        const joined = lines.flatMap((line, i) => (i === 0 ? [line] : [Buffer.from(between), line]));
        const body = Buffer.concat(joined);
        return between === ',' ? Buffer.concat([Buffer.from('['), body, Buffer.from(']')]) : body;
      };
      const status = async (...names: (string | number[])[]) => {
        const { statusCode, body } = await post('/core/samples', type, bodyOf(...names));
        if (statusCode !== 200) expect(body).toContain('not UTF-8');
        return statusCode;
      };
      for (let round = 0; round < 3; round++) {
        expect(await status([0xff])).toBe(400);
        expect(await status('\uFFFD')).toBe(200);
        expect(await status([0xe9])).toBe(400);
        expect(await status('\uFFFD', [0xe9])).toBe(400);
      }
      const listed = (await send('GET', '/core/timeseries')).json().data;
      expect(listed.map(({ timeseriesId }: { timeseriesId: string }) => timeseriesId)).toEqual(['a\uFFFD']);
      const [first] = listed;
      expect(first.metrics[0].sampleCount).toBe(1);
    },
  );

  it('of a time of −0 are of 0, in every form', async () => {
    const frame = (name: string) =>
      Buffer.from(
        writeFrame({ timeseriesId: name, metric: 'Raw', timeMs: Float64Array.of(-0), value: Float64Array.of(7) }),
      );
    const bodies: [string, string, string | Buffer][] = [
      ['columns', 'application/vnd.windrow.columns', frame('columns')],
      ['json', 'application/json', '[{"timeseriesId":"json","timestamp":"-0","val":7}]'],
      ['number', 'application/json', '[{"timeseriesId":"number","timestamp":-0,"val":7}]'],
      ['csv', 'text/csv', 'timestamp,timeseriesId,value\n-0,csv,7\n'],
    ];
    for (const [name, type, body] of bodies) {
      expect((await post('/core/samples', type, body)).statusCode).toBe(200);
      const accept = { headers: { accept: 'application/vnd.windrow.columns' } };
      const { rawPayload } = await send('GET', `/core/timeseries/${name}/samples`, accept);
      const [found] = [...new FrameReader().push(rawPayload)];
      expect([name, found!.timeMs]).toEqual([name, Float64Array.of(0)]);
    }
  });

  it('of large bodies at the same time are stored for each, and one with a fault leaves nothing', async () => {
    const bodyOf = (id: string) => Array.from({ length: 3000 }, (_, i) => sample(id, i, i + id.charCodeAt(0) / 128));
    const write = (samples: readonly object[]) => post('/core/samples', 'application/json', JSON.stringify(samples));
    // The second ones are read into the memory of the first.
    for (const ids of [
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ]) {
      const bad = write([...bodyOf('z'), { ...sample('z', 0, 1), timestamp: 'soon' }]);
      const answers = await Promise.all([...ids.map((id) => write(bodyOf(id))), bad]);
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 400]);
      for (const id of ids) {
        const read = readCsv(await csvOf(`/core/timeseries/${id}/samples`)).series[0]!;
        expect(read.value).toEqual(Float64Array.from(bodyOf(id), ({ val }) => val!));
      }
    }
    expect((await send('GET', '/core/timeseries/z/samples')).statusCode).toBe(404);
  });

  it('a long frame is stored in parts: of equal times the last counts, and a fault says what is stored', async () => {
    const COUNT = 300_000;
    // Backwards, each time twice: the parts overlap, and none is sorted.
    const timeMs = Float64Array.from({ length: COUNT }, (_, i) => START_MS + 1000 * Math.floor((COUNT - i - 1) / 2));
    const value = Float64Array.from({ length: COUNT }, (_, i) => i);
    const frame = { timeseriesId: 'long', metric: 'Raw', timeMs, value };
    const stored = await post('/core/samples', 'application/vnd.windrow.columns', Buffer.from(writeFrame(frame)));
    expect(stored.json()).toMatchObject({ data: { samples: COUNT / 2, duplicate: COUNT / 2, missing: 0 } });
    const read = readCsv(await csvOf('/core/timeseries/long/samples')).series[0]!;
    const backwards = (_: unknown, i: number) => COUNT - 2 * i - 1;
    expect(read.value).toEqual(Float64Array.from({ length: COUNT / 2 }, backwards));
    timeMs[200_000] = Number.NaN;
    const faulty = Buffer.from(writeFrame({ ...frame, timeseriesId: 'faulty' }));
    const refused = await post('/core/samples', 'application/vnd.windrow.columns', faulty);
    expect([refused.statusCode, refused.json().status.message]).toEqual([
      400,
      expect.stringMatching(/^"faulty", sample 200000: expected epoch milliseconds .*, received NaN; \d+ samples/),
    ]);
    const left = readCsv(await csvOf('/core/timeseries/faulty/samples')).series[0]!;
    expect(left.timeMs.length).toBe(refused.json().data.samplesStored);
  });

  it('every form of a body stores the same samples, compressed or not', async () => {
    const minutes = [0, 1, 2, 3];
    const json = (id: string) => minutes.map((minute) => sample(id, minute, minute / 4));
    const csv = minutes.map((minute) => `${sample('', minute, 0).timestamp},${minute / 4}`).join('\n');
    const frame = (timeseriesId: string) =>
      Buffer.from(
        writeFrame({
          timeseriesId,
          metric: 'Raw',
          timeMs: Float64Array.from(minutes, (minute) => START_MS + minute * 60_000),
          value: Float64Array.from(minutes, (minute) => minute / 4),
        }),
      );
    const bodies: [string, string, string | Buffer][] = [
      ['json', 'application/json', JSON.stringify(json('json'))],
      [
        'lines',
        'application/x-ndjson',
        json('lines')
          .map((one) => JSON.stringify(one))
          .join('\n'),
      ],
      ['csv', 'text/csv; charset=utf-8', `timestamp,value\n${csv}\n`],
      ['frame', 'application/vnd.windrow.columns', frame('frame')],
    ];
    for (const [id, type, body] of bodies) {
      const plain = await post(`/core/timeseries/${id}/samples`, type, body);
      expect([id, plain.statusCode, plain.json().data?.samples]).toEqual([id, 200, 4]);
    }
    for (const [id, type, body] of bodies) {
      const packed = await post(`/core/timeseries/${id}/samples?metric=Raw`, type, gzipSync(body), {
        'content-encoding': 'gzip',
      });
      expect([id, packed.statusCode, packed.json().data?.samples]).toEqual([id, 200, 4]);
    }
    const texts = await Promise.all(bodies.map(([id]) => csvOf(`/core/timeseries/${id}/samples`)));
    expect(new Set(texts.map((text, index) => text.replaceAll(bodies[index]![0], '*'))).size).toBe(1);
  });

  it('a sample at an existing time is replaced, so sending again changes nothing', async () => {
    const body = JSON.stringify([sample('a', 0, 1), sample('a', 1, 2)]);
    for (let times = 0; times < 3; times++) await post('/core/samples', 'application/json', body);
    await post('/core/samples', 'application/json', JSON.stringify([sample('a', 1, 7)]));
    expect(readCsv(await csvOf('/core/timeseries/a/samples')).series[0]!.value).toEqual(Float64Array.of(1, 7));
  });

  it('an offset of a queue is accepted once', async () => {
    const more = { source: 'mqtt', partition: '0', offset: '17' };
    const body = JSON.stringify([sample('a', 0, 1)]);
    const first = await post('/core/samples', 'application/json', body, more);
    const again = await post('/core/samples', 'application/json', JSON.stringify([sample('a', 0, 2)]), more);
    expect([first.json().data.isRepeated, again.json().data.isRepeated]).toEqual([false, true]);
    expect(readCsv(await csvOf('/core/timeseries/a/samples')).series[0]!.value).toEqual(Float64Array.of(1));
  });

  it('an offset that is not above the highest of its partition counts as taken', async () => {
    const send = async (partition: string, offset: number) => {
      const more = { source: 'late', partition, offset: String(offset) };
      const answer = await post('/core/samples', 'application/json', JSON.stringify([sample('late', offset, 1)]), more);
      return answer.json().data.isRepeated;
    };
    expect([await send('0', 5), await send('0', 4), await send('1', 4), await send('0', 6)]).toEqual([
      false,
      true,
      false,
      false,
    ]);
    expect(readCsv(await csvOf('/core/timeseries/late/samples')).series[0]!.timeMs).toHaveLength(3);
  });

  // Clients send such text as UTF-8 or as Latin-1, Node's by the type of the body: one partition would be two.
  it.each(['source', 'partition'])(
    'a %s beyond ASCII is refused, as its bytes differ between clients',
    async (name) => {
      const more = { source: 'mqtt', partition: '0', offset: '3', [name]: 'K\u00fcche' };
      const answer = await post('/core/samples', 'application/json', JSON.stringify([sample('kitchen', 0, 1)]), more);
      expect([answer.statusCode, answer.json().status.message]).toEqual([
        400,
        `header ${name}: expected printable ASCII characters, received "K\u00fcche"; send others percent-encoded`,
      ]);
      expect((await service.app.inject({ url: '/core/timeseries/kitchen/samples', headers })).statusCode).toBe(404);
    },
  );

  it('the answer says what was left out of a CSV body, and how it was read', async () => {
    const row = '2026-01-01';
    const bodies = [
      [`timestamp,a,,b\n${row},1,2,3\n`, ['column 3 without a name left out']],
      [`timestamp;a\n${row};1,5\n`, ['decimal commas']],
      // The first row does not tell.
      [`timestamp;a\n${row};1\n2026-01-02;1,5\n`, ['decimal commas']],
      [`timestamp,a\n${row},1\n`, undefined],
    ] as const;
    for (const [csv, notes] of bodies) {
      const answer = await post('/core/samples', 'text/csv', csv);
      expect([answer.statusCode, answer.json().data.notes]).toEqual([200, notes]);
    }
    const unclear = await post('/core/samples', 'text/csv', `timestamp;a\n${row};1\n2026-01-02;1.234\n`);
    expect([unclear.statusCode, unclear.json().data.code]).toEqual([400, 'csv.unclear']);
  });

  it.each([
    [{ source: 'a' }, 'headers source, partition and offset: expected all three or none, received source'],
    [
      { source: 'a', offset: '1' },
      'headers source, partition and offset: expected all three or none, received source and offset',
    ],
    [
      { source: 'a', partition: '0', offset: '9007199254740993' },
      'header offset: expected a whole number of at most 15 digits, received "9007199254740993"',
    ],
    [
      { source: 'a', partition: '0', offset: '-1' },
      'header offset: expected a whole number of at most 15 digits, received "-1"',
    ],
  ])('headers of a queue that are not whole are refused: %j', async (more, message) => {
    const answer = await post('/core/samples', 'application/json', '[]', more);
    expect([answer.statusCode, answer.json().status.message]).toEqual([400, message]);
  });

  it('a body of a queue without samples takes its offset', async () => {
    const bodies = [
      ['application/json', '[]'],
      ['application/json', JSON.stringify([sample('a', 0, null)])],
      ['text/csv', 'timestamp,value,timeseriesId\n'],
    ] as const;
    for (const [offset, [type, body]] of bodies.entries()) {
      const more = { source: 'mqtt', partition: 'none', offset: String(offset) };
      const first = await post('/core/samples', type, body, more);
      const again = await post('/core/samples', type, body, more);
      const told = [first, again].map((answer) => answer.json().data.isRepeated);
      expect([type, body, told]).toEqual([type, body, [false, true]]);
    }
  });

  it('a body in another charset than UTF-8 is refused, in every form but CSV', async () => {
    for (const [path, type, body] of [
      ['/core/samples', 'application/json', '[]'],
      ['/core/samples', 'application/x-ndjson', '{}'],
      ['/core/events', 'application/json', '[]'],
      ['/core/events', 'application/x-ndjson', '{}'],
      ['/core/operations', 'application/json', '[]'],
    ] as const) {
      const answer = await post(path, `${type}; charset=iso-8859-1`, body, { ercollectionid: 'c' });
      const message = 'Content-Type: expected charset=UTF-8 or none, received iso-8859-1';
      expect([path, type, answer.statusCode, answer.json().status.message]).toEqual([path, type, 415, message]);
    }
    const utf8 = await post('/core/samples', 'application/json; charset="utf-8"', JSON.stringify([sample('a', 0, 1)]));
    expect(utf8.statusCode).toBe(200);
  });

  it('names have up to 256 characters, of which one may be two UTF-16 units, in bodies as in paths', async () => {
    const [most, beyond] = ['🜨'.repeat(256), '🜨'.repeat(257)];
    const metric = '🜄'.repeat(256);
    const body = (timeseriesId: string) => JSON.stringify([{ ...sample(timeseriesId, 0, 1), metric }]);
    const posted = await post('/core/samples', 'application/json', body(most));
    expect([posted.statusCode, posted.json().status.message]).toEqual([200, '']);
    const longer = await post('/core/samples', 'application/json', body(beyond));
    expect(longer.json().status.message).toContain('a text of 1 to 256 characters');
    const read = (id: string) =>
      send('GET', `/core/timeseries/${encodeURIComponent(id)}/samples?metric=${encodeURIComponent(metric)}`);
    const one = await read(most);
    expect([one.statusCode, one.json().data.length]).toEqual([200, 1]);
    expect((await read(beyond)).statusCode).toBe(400);
  });

  it('a faulty body is refused with every issue, and nothing is stored', async () => {
    const body = JSON.stringify([sample('a', 0, 1), { ...sample('a', 1, 2), timestamp: 'now' }, { val: 'x' }]);
    const answer = await post('/core/samples', 'application/json', body);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().data.issues.map((issue: { pointer: string }) => issue.pointer)).toEqual([
      '/1/timestamp',
      '/2/timeseriesId',
      '/2/timestamp',
      '/2/val',
    ]);
    expect((await send('GET', '/core/timeseries/a/samples')).statusCode).toBe(404);
  });

  it('invalid bodies are reported as such', async () => {
    const statuses = await Promise.all([
      post('/core/samples', 'application/json', '{"a":1}').then(({ statusCode }) => statusCode),
      post('/core/samples', 'application/json', '[{').then(({ statusCode }) => statusCode),
      post('/core/samples', 'text/csv', 'timestamp,value\n2026-01-01,1\n').then(({ statusCode }) => statusCode),
      post('/core/samples', 'image/png', 'x').then(({ statusCode }) => statusCode),
      post('/core/samples', 'text/csv', 'x', { 'content-encoding': 'br' }).then(({ statusCode }) => statusCode),
      post('/core/samples', 'text/csv', 'no gzip', { 'content-encoding': 'gzip' }).then(({ statusCode }) => statusCode),
      post('/core/samples', 'application/vnd.windrow.columns', 'abc').then(({ statusCode }) => statusCode),
      post('/core/samples', 'application/json', '[]', { source: 'x' }).then(({ statusCode }) => statusCode),
    ]);
    expect(statuses).toEqual([400, 400, 400, 415, 415, 400, 400, 400]);
  });

  it('a body larger than allowed is 413, and so is a small one that unpacks endlessly', async () => {
    await service.close();
    service = await openTestService({ settings: { bodyBytesMax: 1000, streamedBodyBytesMax: 100_000 } });
    headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
    const large = await post('/core/samples', 'application/json', `[${' '.repeat(2000)}]`);
    const bomb = await post('/core/samples', 'text/csv', gzipSync(Buffer.alloc(5_000_000, 0x20)), {
      'content-encoding': 'gzip',
    });
    expect([large.statusCode, bomb.statusCode]).toEqual([413, 413]);
  });

  it('pages together are the whole series, in either order', async () => {
    const written = Array.from({ length: 25 }, (_, i) => sample('a', i, i)).concat(
      Array.from({ length: 7 }, (_, i) => sample('b', i, i / 2)),
    );
    await post('/core/samples', 'application/json', JSON.stringify(written));
    for (const [order, limit] of [
      ['asc', 1],
      ['asc', 5],
      ['desc', 4],
      ['asc', 25],
      ['asc', 32],
      ['timestamp desc', 32],
    ]) {
      const url = `/core/samples?timeseries_ids=a,b&limit=${limit}&orderby=${encodeURIComponent(String(order))}`;
      const read: unknown[] = [];
      let token: string | null = '';
      while (token !== null) {
        const page: { data: unknown[]; paging: { continuationToken: string | null } } = (
          await send('GET', url, token === '' ? {} : { headers: { continuationtoken: token } })
        ).json();
        expect(page.data.length).toBeGreaterThan(0);
        read.push(...page.data);
        token = page.paging.continuationToken;
      }
      const isDescending = String(order).endsWith('desc');
      const expected = ['a', 'b'].flatMap((id) => {
        const own = written.filter(({ timeseriesId }) => timeseriesId === id);
        return isDescending ? own.reverse() : own;
      });
      expect(read).toEqual(expected);
    }
  });

  it.each(['asc', 'desc'])('pages over several series keep to the range (%s)', async (order) => {
    const rows = ['a', 'b'].flatMap((id) => [0, 1, 2, 3, 4, 5].map((minute) => sample(id, minute, minute)));
    await post('/core/samples', 'application/json', JSON.stringify(rows));
    const range = 'startTime=2026-01-01T00:02:00Z&endTime=2026-01-01T00:04:00Z';
    // The first page ends exactly between the two.
    const url = `/core/samples?timeseries_ids=a,b&${range}&limit=2&orderby=timestamp%20${order}`;
    const found: string[] = [];
    for (let token: string | undefined = ''; token !== undefined; ) {
      const answer = await send('GET', url, token === '' ? {} : { headers: { continuationtoken: token } });
      const { data, paging } = answer.json();
      for (const { timeseriesId, val } of data) found.push(`${timeseriesId}${val}`);
      token = paging.continuationToken ?? undefined;
    }
    expect(found).toEqual(order === 'asc' ? ['a2', 'a3', 'b2', 'b3'] : ['a3', 'a2', 'b3', 'b2']);
  });

  it('a continuation token is valid for pages of another size, also where one size is not given', async () => {
    const rows = Array.from({ length: 20 }, (_, i) => sample('a', i, i));
    await post('/core/samples', 'application/json', JSON.stringify(rows));
    const page = (await send('GET', '/core/timeseries/a/samples?limit=5&orderby=desc')).json();
    const { continuationToken: continuationtoken } = page.paging;
    for (const query of ['limit=5&orderby=desc', 'orderby=desc', 'orderby=desc&limit=3']) {
      const answer = await send('GET', `/core/timeseries/a/samples?${query}`, { headers: { continuationtoken } });
      expect([query, answer.statusCode, answer.json().data?.[0].val]).toEqual([query, 200, 14]);
    }
  });

  it('a continuation token is valid only for its query and caller', async () => {
    await post('/core/samples', 'application/json', JSON.stringify([sample('a', 0, 1), sample('a', 1, 2)]));
    const page = await send('GET', '/core/timeseries/a/samples?limit=1');
    const continuationtoken = page.json().paging.continuationToken;
    const other = await service.bearer(await service.addClient({ organisation: 'acme' }));
    const url = '/core/timeseries/a/samples?limit=1';
    const answers = await Promise.all([
      send('GET', url, { headers: { continuationtoken } }),
      send('GET', `${url}&startTime=2026-01-01`, { headers: { continuationtoken } }),
      send('GET', url, { headers: { continuationtoken, ...other } }),
      send('GET', url, { headers: { continuationtoken: 'x' } }),
    ]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 400, 400, 400]);
  });

  it('a range includes its start and not its end; invalid parameters are reported', async () => {
    const minutes = Array.from({ length: 10 }, (_, i) => sample('a', i, i));
    await post('/core/samples', 'application/json', JSON.stringify(minutes));
    const valuesOf = async (query: string): Promise<number[]> => {
      const { data } = (await send('GET', `/core/timeseries/a/samples?${query}`)).json();
      return data.map(({ val }: { val: number }) => val);
    };
    expect(await valuesOf('startTime=2026-01-01T00:02:00Z&endTime=2026-01-01T00:05:00Z')).toEqual([2, 3, 4]);
    expect(await valuesOf('startTime=2026-01-01T00:08:00Z')).toEqual([8, 9]);
    expect(await valuesOf('endTime=2026-01-01T00:02:00Z&orderby=desc')).toEqual([1, 0]);
    const bad = [
      'startTime=x',
      'limit=0',
      'limit=200000',
      'orderby=val',
      'colour=red',
      'startTime=2027-01-01&endTime=2026-01-01',
    ];
    for (const query of bad) {
      const answer = await send('GET', `/core/timeseries/a/samples?${query}`);
      expect([query, answer.statusCode, answer.json().status.code]).toEqual([query, 400, '400']);
    }
  });

  it('CSV, NDJSON and columns as responses hold the same samples; an unknown format is 406', async () => {
    const written = Array.from({ length: 20 }, (_, i) => sample('a', i, i / 8));
    await post('/core/samples', 'application/json', JSON.stringify(written));
    const read = (accept: string) => send('GET', '/core/timeseries/a/samples', { headers: { accept } });
    const csv = readCsv((await read('text/csv')).body).series[0]!;
    const lines = (await read('application/x-ndjson, */*;q=0.1')).body.trimEnd().split('\n');
    const frames = [...new FrameReader().push((await read('application/vnd.windrow.columns')).rawPayload)];
    expect(lines.map((line) => JSON.parse(line))).toEqual(written);
    expect(csv.value).toEqual(Float64Array.from(written, ({ val }) => val!));
    expect([frames[0]!.timeMs, frames[0]!.value]).toEqual([csv.timeMs, csv.value]);
    expect((await read('image/png')).statusCode).toBe(406);
  });

  it('HEAD has the head of the answer, and reads no more than it needs', async () => {
    const timeMs = Float64Array.from({ length: 300_000 }, (_, i) => START_MS + i);
    const frame = writeFrame({ timeseriesId: 'a', metric: 'Raw', timeMs, value: timeMs });
    await post('/core/samples', 'application/vnd.windrow.columns', Buffer.from(frame));
    const counted = vi.spyOn(service.service.context.metrics.samplesRead, 'inc');
    const countOf = async (method: 'GET' | 'HEAD') => {
      counted.mockClear();
      const url = '/core/timeseries/a/samples';
      const answer = await service.app.inject({ method, url, headers: { ...headers, accept: 'text/csv' } });
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/csv']);
      expect(answer.body.length > 0).toBe(method === 'GET');
      // The next answer waits for this one: what goes on behind it has begun.
      await csvOf(url);
      return counted.mock.calls.reduce((sum, [count]) => sum + Number(count), -300_000);
    };
    expect(await countOf('HEAD')).toBeLessThan(100_000);
    expect(await countOf('GET')).toBe(300_000);
  });

  it('a continuation token is refused with a form that has no pages', async () => {
    await post('/core/samples', 'application/json', JSON.stringify([sample('a', 0, 1), sample('a', 1, 2)]));
    const read = (more: Record<string, string>) =>
      send('GET', '/core/timeseries/a/samples?limit=1', { headers: { ...more } });
    const continuationtoken = (await read({})).json().paging.continuationToken;
    const answer = await read({ continuationtoken, accept: 'text/csv' });
    expect([answer.statusCode, answer.json().status.message]).toEqual([
      400,
      'header continuationToken: expected only with application/json; text/csv has no pages',
    ]);
  });

  it('a type in Accept may have parameters, such as a charset, and keeps its weight', async () => {
    await post('/core/samples', 'application/json', JSON.stringify([sample('a', 0, 1)]));
    const typeOf = async (accept: string) => {
      const answer = await send('GET', '/core/timeseries/a/samples', { headers: { accept } });
      return [answer.statusCode, String(answer.headers['content-type']).replace(/;.*/, '')];
    };
    expect(await typeOf('application/json; charset=utf-8')).toEqual([200, 'application/json']);
    expect(await typeOf('application/json;q=0.5, text/csv; header="a;,b\\"" ; charset=UTF-8')).toEqual([
      200,
      'text/csv',
    ]);
    expect(await typeOf('text/csv; charset=utf-8; q=0.5, application/json;odata=x;q=0.6')).toEqual([
      200,
      'application/json',
    ]);
    expect(await typeOf('application/x-ndjson;charset=utf-8')).toEqual([200, 'application/x-ndjson']);
    expect(await typeOf('application/json; charset=utf-8; q=0')).toEqual([406, 'application/json']);
  });

  it('series are listed with their metrics, counts and ranges, in pages', async () => {
    const written = [sample('a', 0, 1), sample('a', 5, 1), sample('a', 0, 1, 'Other'), sample('b', 3, 1)];
    await post('/core/samples', 'application/json', JSON.stringify(written));
    const all = (await send('GET', '/core/timeseries')).json();
    const metric = (name: string, sampleCount: number, first: number, last: number) => ({
      metric: name,
      sampleCount,
      firstTimestamp: sample('', first, 0).timestamp,
      lastTimestamp: sample('', last, 0).timestamp,
      itemId: null,
    });
    expect(all.data).toEqual([
      { timeseriesId: 'a', metrics: [metric('Other', 1, 0, 0), metric('Raw', 2, 0, 5)] },
      { timeseriesId: 'b', metrics: [metric('Raw', 1, 3, 3)] },
    ]);
    // A series is on one page, with all its metrics.
    const first = (await send('GET', '/core/timeseries', { headers: { pagesize: '1' } })).json();
    expect(first.data).toEqual(all.data.slice(0, 1));
    const continuationtoken = first.paging.continuationToken;
    const second = (await send('GET', '/core/timeseries', { headers: { pagesize: '1', continuationtoken } })).json();
    expect(second.data).toEqual(all.data.slice(1));
    expect(second.paging.continuationToken).toBeNull();
    const one = (await send('GET', '/core/timeseries?timeseriesId=b')).json();
    expect(one.data).toHaveLength(1);
  });

  it('a series of more metrics than are read at a time is listed whole', async () => {
    const written = Array.from({ length: 450 }, (_, i) => sample('m', 0, i, `k${String(i).padStart(3, '0')}`));
    await post('/core/samples', 'application/json', JSON.stringify([...written, sample('n', 0, 1)]));
    for (const url of ['/core/timeseries', '/core/timeseries?timeseriesId=m']) {
      const { data, paging } = (await send('GET', url, { headers: { pagesize: '1' } })).json();
      expect(data).toHaveLength(1);
      expect(data[0].metrics.map(({ metric }: { metric: string }) => metric)).toEqual(
        written.map(({ metric }) => metric),
      );
      expect(paging.continuationToken === null).toBe(url.includes('?'));
    }
  });

  it.each([
    [
      'a word',
      'timestamp,timeseriesId,value\n2026-01-01,a,abc\n',
      /"abc" is not a number; .*; say states=abc= in the query; /,
    ],
    [
      'days or months first',
      'timestamp,a\n01/02/2026,1\n02/03/2026,2\n',
      /; say timeFormat=dmy or timeFormat=mdy in the query; /,
    ],
    [
      'two devices',
      `timestamp,device,t\n${'2026-01-01,a,1\n2026-01-01,b,2\n'.repeat(9)}`,
      /; say series=device or layout=wide in the query; /,
    ],
    ['a decimal comma', 'timestamp;timeseriesId;value\n2026-01-01;a;1,5\n2026-01-02;a;1.5\n', /decimal/],
    ['lines before its header', 'a report\nof today,x\ntimestamp,value\n2026-01-01,1\n', /line 1/],
    ['no value', 'timestamp,timeseriesId,x\n2026-01-01,a,1\n', /no column value or val; it has/],
  ])('the fault of a CSV with %s says how to write it, without an option of the command', async (_, body, told) => {
    const answer = await post('/core/samples', 'text/csv', body);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().status.message).toMatch(told);
    expect(answer.json().status.message).not.toMatch(/--|option/);
  });

  it.each([
    ['series=timestamp', 'timestamp,value\n2026-01-01,1\n', /the column "timestamp" can only be one of/],
    ['value=timestamp', 'timestamp,value\n2026-01-01,1\n', /the column "timestamp" can only be one of/],
    ['series=value', 'timestamp,value\n2026-01-01,1\n', /none holds numbers; it has timestamp, value/],
    ['time=time', 'time,value\n00:00,1\n', /"time" holds times of day, and no column holds dates/],
  ])('a CSV with columns in roles that do not fit, as by %s, is refused', async (query, body, told) => {
    const answer = await post(`/core/samples?${query}`, 'text/csv', body);
    expect([answer.statusCode, answer.json().status.message]).toEqual([400, expect.stringMatching(told)]);
    expect(answer.json().status.message).not.toMatch(/--|option/);
  });

  it('deleting a range needs core_admin and an explicit range', async () => {
    const written = Array.from({ length: 5 }, (_, i) => sample('a', i, i));
    await post('/core/samples', 'application/json', JSON.stringify(written));
    const writer = await service.bearer(await service.addClient({ organisation: 'acme' }), 'core_read core_write');
    const url = '/core/timeseries/a/samples';
    expect((await send('DELETE', `${url}?all=true`, { headers: writer })).statusCode).toBe(403);
    expect((await send('DELETE', url)).statusCode).toBe(400);
    expect((await send('DELETE', `${url}?all=true&startTime=2026-01-01T00:01:00Z`)).statusCode).toBe(400);
    expect((await send('DELETE', '/core/timeseries/none/samples?all=true')).statusCode).toBe(404);
    const deleted = await send('DELETE', `${url}?startTime=2026-01-01T00:01:00Z&endTime=2026-01-01T00:03:00Z`);
    expect(deleted.json().data).toEqual({ samplesDeleted: 2 });
    expect(readCsv(await csvOf(url)).series[0]!.value).toEqual(Float64Array.of(0, 3, 4));
  });

  it.each(['log', 'segments'])(
    'damaged samples in the %s can be deleted as the error says, and sent again',
    async (place) => {
      const written = Array.from({ length: 100 }, (_, i) => sample('a', i, i));
      const json = JSON.stringify(written);
      await post('/core/samples', 'application/json', json);
      await ofShard(async (tx, samples) => {
        if (place === 'segments') while (await compactNow(samples, tx, tx.lastCommit, { isEager: true }));
        const [row] = await tx.find(sampleLog);
        const [segment] = await tx.find(segments);
        const flipped = (bytes: Uint8Array) => bytes.map((byte, i) => (i === bytes.length - 3 ? byte ^ 4 : byte));
        if (row !== undefined) await tx.update(sampleLog, [], { changes: flipped(row.changes) });
        if (segment !== undefined) await tx.update(segments, [], { values: flipped(segment.values) });
      });
      // The service may have loaded the log meanwhile.
      await service.reopen();
      const url = '/core/timeseries/a/samples';
      const refused = await send('GET', url);
      expect(refused.statusCode).toBe(500);
      for (const accept of ['text/csv', 'application/x-ndjson']) {
        const streamed = await send('GET', url, { headers: { accept } });
        expect([streamed.statusCode, streamed.json().status]).toEqual([500, refused.json().status]);
      }
      const [, startTime, endTime] = /from (\S+) to (\S+?)(?:;| )/.exec(refused.json().status.message)!;
      const deleted = await send('DELETE', `${url}?startTime=${startTime}&endTime=${endTime}`);
      expect([deleted.statusCode, deleted.json().data]).toEqual([200, { samplesDeleted: null }]);
      expect(readCsv(await csvOf(url)).series).toEqual([]);
      await post('/core/samples', 'application/json', json);
      expect(readCsv(await csvOf(url)).series[0]!.value).toHaveLength(100);
      while (await ofShard((tx, samples) => compactNow(samples, tx, tx.lastCommit, { isEager: true })));
      expect(readCsv(await csvOf(url)).series[0]!.value).toHaveLength(100);
      expect((await send('DELETE', `${url}?all=true`)).json().data).toEqual({ samplesDeleted: 100 });
    },
  );

  it('an organisation sees only its own series, even if others use the same names', async () => {
    const other = await service.bearer(await service.addClient({ organisation: 'rival' }));
    await post('/core/samples', 'application/json', JSON.stringify([sample('a', 0, 1)]));
    expect((await send('GET', '/core/timeseries/a/samples', { headers: other })).statusCode).toBe(404);
    expect((await send('GET', '/core/timeseries', { headers: other })).json().data).toEqual([]);
    await post('/core/samples', 'application/json', JSON.stringify([sample('a', 0, 99)]), other);
    expect(readCsv(await csvOf('/core/timeseries/a/samples')).series[0]!.value).toEqual(Float64Array.of(1));
  });

  it('acknowledged samples are there after a restart', async () => {
    const written = Array.from({ length: 10_000 }, (_, i) => sample(`s${i % 7}`, i, i));
    const answer = await post('/core/samples', 'application/json', JSON.stringify(written));
    expect(answer.json().data.samples).toBe(10_000);
    const before = await csvOf('/core/samples?timeseries_ids=s0,s3');
    await service.reopen();
    expect(await csvOf('/core/samples?timeseries_ids=s0,s3')).toBe(before);
  });
});
