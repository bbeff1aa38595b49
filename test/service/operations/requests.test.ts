import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readOperations } from '../../../src/service/operations/request.js';
import { shardOf } from '../../../src/storage/shard.js';
import { item, minutes, openPosting, type Posting } from './posted.js';

let posting: Posting;
beforeAll(async () => {
  posting = await openPosting();
  await posting.write([minutes('room', 120, (i) => i), minutes('written', 3, (i) => i)]);
});
afterAll(() => posting.close());

const average = { function: 'Average', interval: 'Hourly' };
const hourly = (output: string, more?: object) => [item('Aggregate', average, ['room'], output, more)];

describe('2.5: the request is an array of items', () => {
  it.each(['/operations', '/core/operations'])(
    '%s answers a valid request with 202 and its transaction',
    async (url) => {
      const { statusCode, body } = await posting.call('POST', url, hourly(`of ${url}`));
      expect(statusCode).toBe(202);
      expect(body.status).toEqual({ message: '', code: '202' });
      expect(Object.keys(body.data)).toHaveLength(16);
      expect(body.data).toMatchObject({ state: 'Created', transactionIDList: [expect.any(String)] });
    },
  );

  it.each(['/operations', '/operations?dryRun=true'])(
    'an object around the array, as a file has, is 400 (%s)',
    async (url) => {
      for (const body of [{ items: hourly('a') }, { $schema: 'x', items: hourly('a') }, { items: [] }, { items: 5 }]) {
        const answer = await posting.call('POST', url, body);
        expect([answer.statusCode, answer.body.status.message]).toEqual([
          400,
          expect.stringContaining('the request: expected an array of request items, received '),
        ]);
      }
    },
  );

  it('has one child for each item, in their order, whose payload describes it', async () => {
    const request = [...hourly('first'), ...hourly('second')];
    const { body } = await posting.call('POST', '/operations', request);
    const { transactionIDList } = body.data as { transactionIDList: string[] };
    const children = await Promise.all(
      transactionIDList.map(async (id) => (await posting.call('GET', `/core/status/${id}`)).body.data as Child),
    );
    expect(children.map(({ payload }) => payload)).toEqual(
      ['first', 'second'].map((TimeseriesId) => ({
        Id: expect.any(String),
        TimeseriesId,
        OrgId: 'acme',
        TimeseriesType: 'Result',
        status: expect.stringMatching(/^(Created|Active)$/),
      })),
    );
    for (const { payload, transactionIDList: parents } of children) {
      expect((await posting.call('GET', `/core/operations/${payload.Id}`)).statusCode).toBe(200);
      expect(parents).toEqual([(body.data as { id: string }).id]);
    }
  });

  it.each([
    ['nothing', undefined],
    ['an object', hourly('x')[0]],
    ['an empty array', []],
  ])('%s is 400 with an issue', async (_, payload) => {
    const { statusCode, body } = await posting.call('POST', '/operations', payload);
    expect([statusCode, body.status.code]).toEqual([400, '400']);
  });

  it('a body that is not JSON is 400', async () => {
    const headers = { 'content-type': 'application/json' };
    const { statusCode, body } = await posting.call('POST', '/operations', '[{', headers);
    expect(statusCode).toBe(400);
    expect(body.status.message).toContain('not JSON');
  });

  it('every issue is reported at once, with its place, and nothing is stored', async () => {
    const faulty = [
      { ...hourly('f1')[0]!, processingType: 'Stream', frequency: 'PT1H', metric: '' },
      item('Aggregat', average, ['room'], 'f2'),
      { ...item('Abs', {}, ['room'], 'f3'), extra: 1 },
      item('Aggregate', { function: 'Average', interval: 'Hour' }, ['room'], 'f4'),
      hourly('f5', { processingType: 'Batch', frequency: 'PT2H' })[0]!,
    ];
    const { statusCode, body } = await posting.call('POST', '/operations', faulty);
    expect(statusCode).toBe(400);
    const { issues } = body.data as { issues: { pointer: string; code: string; expected: string }[] };
    expect(issues.map(({ pointer }) => pointer)).toEqual([
      '/0/frequency',
      '/0/metric',
      '/1/operations/0/operation',
      '/2/extra',
      '/3/operations/0/parameters/interval',
      '/4/frequency',
    ]);
    expect(issues.every(({ code, expected }) => code.startsWith('request.') && expected !== '')).toBe(true);
    expect(await resultsNamed(/^f\d/)).toEqual([]);
  });

  it('the message has the first ten of many issues, data.issues all of them', async () => {
    const parameters = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`unknown${i}`, i]));
    const { body } = await posting.call('POST', '/operations', [item('Abs', parameters, ['room'], 'f')]);
    const lines = body.status.message.split('\n');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([
      12,
      'the request has 500 problems',
      '  and 490 more, in data.issues',
    ]);
    expect((body.data as { issues: unknown[] }).issues).toHaveLength(500);
  });

  it.each(['PT15M', 'PT1H', 'PT24H'])('8: a Batch can have the frequency %s', async (frequency) => {
    const record = await posting.run(hourly(`every ${frequency}`, { processingType: 'Batch', frequency }));
    expect(record.state).toBe('Active');
  });

  it('hundreds of items are planned and registered in slices, between other requests', async () => {
    const request = Array.from({ length: 300 }, (_, i) => hourly(`many ${i}`)[0]!);
    let isDone = false;
    let turnCount = 0;
    const turns = (async () => {
      for (; !isDone; turnCount++) await new Promise((resolve) => setImmediate(resolve));
    })();
    const { statusCode } = await posting.call('POST', '/operations', request);
    isDone = true;
    await turns;
    expect(statusCode).toBe(202);
    // The check for conflicts and circles yields 14 times, and so does registration.
    expect(turnCount).toBeGreaterThan(40);
    await posting.service.service.worker.onIdle();
    expect(await resultsNamed(/^many \d/)).toHaveLength(300);
  });

  it('a name that no series can have is 400 with its place', async () => {
    const { statusCode, body } = await posting.call('POST', '/operations', [
      { ...hourly('fine')[0]!, metric: 'a\u0000b' },
    ]);
    expect(statusCode).toBe(400);
    expect(body.data).toMatchObject({ issues: [{ pointer: '/0/metric', code: 'request.value' }] });
  });

  it('an item can read what another of its request publishes, in any order', async () => {
    const chained = [
      {
        metric: 'Chained',
        processingType: 'stream',
        operations: [
          {
            operation: 'Mul',
            input: [{ timeseriesId: 'up', metric: 'Result' }],
            output: [{ timeseriesId: 'down', metric: 'Chained' }],
            parameters: { scalar: 2 },
          },
        ],
      },
      ...hourly('up'),
    ];
    await posting.run(chained);
    const down = await posting.stored({ timeseriesId: 'down', metric: 'Chained' });
    expect([...down.value]).toEqual([59, 179]);
  });
});

describe('409: conflicts with what is stored', () => {
  it('a result that clients have written', async () => {
    const request = [{ ...hourly('written')[0]!, metric: 'Other' }];
    expect((await posting.call('POST', '/operations', request)).statusCode).toBe(202);
    await posting.write([{ ...minutes('written', 2, (i) => i), metric: 'Mine' }]);
    const taken = [{ ...hourly('written')[0]!, metric: 'Mine' }];
    const { statusCode, body } = await posting.call('POST', '/operations', taken);
    expect(statusCode).toBe(409);
    expect(body.data).toEqual({ series: { timeseriesId: 'written', metric: 'Mine' } });
    expect((await posting.call('POST', '/operations?dryRun=true', taken)).statusCode).toBe(409);
  });

  it('samples that a client writes to a result', async () => {
    await posting.run(hourly('guarded'));
    const sample = { timeseriesId: 'guarded', metric: 'Result', timestamp: '2026-01-01T00:00:00Z', val: 1 };
    expect((await posting.call('POST', '/core/samples', [sample])).statusCode).toBe(409);
  });

  it('a deletion of samples of a result, also where it has none', async () => {
    await posting.run(hourly('guarded'));
    for (const range of ['all=true', 'startTime=1900-01-01T00:00:00Z&endTime=1900-01-02T00:00:00Z']) {
      const url = `/core/timeseries/guarded/samples?metric=Result&${range}`;
      const { statusCode, body } = await posting.call('DELETE', url);
      expect([statusCode, body.data]).toMatchObject([409, { series: { timeseriesId: 'guarded', metric: 'Result' } }]);
      expect(body.status.message).toMatch(/; delete the item: its results go with it$/);
    }
  });

  it('items of several requests that would wait for each other', async () => {
    const reads = (from: string, to: string) => [
      {
        metric: 'Result',
        processingType: 'stream',
        operations: [
          {
            operation: 'Abs',
            input: [{ timeseriesId: from, metric: 'Result' }],
            output: [{ timeseriesId: to, metric: 'Result' }],
            parameters: {},
          },
        ],
      },
    ];
    expect((await posting.call('POST', '/operations', reads('ring1', 'ring2'))).statusCode).toBe(202);
    expect((await posting.call('POST', '/operations', reads('ring2', 'ring3'))).statusCode).toBe(202);
    const { statusCode, body } = await posting.call('POST', '/operations', reads('ring3', 'ring1'));
    expect(statusCode).toBe(409);
    const { cycle } = body.data as { cycle: { timeseriesId: string }[] };
    expect(cycle.map(({ timeseriesId }) => timeseriesId)).toEqual(['ring1', 'ring3', 'ring2', 'ring1']);
  });
});

describe('dryRun', () => {
  it('returns plan, explanation and costs, and stores nothing', async () => {
    const { statusCode, body } = await posting.call('POST', '/operations?dryRun=true', hourly('dry'));
    expect(statusCode).toBe(200);
    const { explain, items, plan } = body.data as DryRun;
    expect(explain).toContain('Aggregate: ');
    expect(plan.sources).toEqual([{ timeseriesId: 'room', metric: 'Raw' }]);
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      timeseriesId: 'dry',
      metric: 'Result',
      processingType: 'stream',
      replaces: null,
      costs: {
        sources: [
          {
            timeseriesId: 'room',
            metric: 'Raw',
            sampleCount: 120,
            firstTimestamp: '2025-12-31T00:00:00.000Z',
            lastTimestamp: '2025-12-31T01:59:00.000Z',
          },
        ],
        samplesRead: 120,
        samplesExpected: 2,
      },
    });
    expect(await resultsNamed(/^dry$/)).toEqual([]);
    expect((await posting.call('GET', '/core/timeseries?timeseriesId=dry')).body.data).toEqual([]);
  });

  it('reads the store for many items at a time: each reading waits for the writers before it', async () => {
    // Without polling, whose readings would count too.
    const own = await openPosting({ settings: { pollIntervalMs: 3_600_000 } }, 'many', 1);
    onTestFinished(() => own.close());
    const { storage, placements } = own.service.service.context;
    // Background work begins with a look at every shard.
    const shards = new Set([shardOf('many'), ...(await placements.of('many')).shards]);
    const read = storage.read.bind(storage);
    let count = 0;
    storage.read = (shard, work) => {
      if (shards.has(shard)) count++;
      return read(shard, work);
    };
    const patterns = [item('Aggregate', average, ['zone-{n}'], 'zone-{n}')];
    const many = Array.from({ length: 100 }, (_, i) => item('Aggregate', average, ['room'], `of ${i}`));
    const { statusCode, body } = await own.call('POST', '/operations?dryRun=true', [...many, ...patterns]);
    expect(statusCode).toBe(200);
    expect((body.data as DryRun).items).toHaveLength(101);
    expect(count).toBeLessThan(100);
  });

  it('false is like none; anything else is 400', async () => {
    expect((await posting.call('POST', '/operations?dryRun=false', hourly('wet'))).statusCode).toBe(202);
    expect((await posting.call('POST', '/operations?dryRun=maybe', hourly('wet'))).statusCode).toBe(400);
  });
});

interface Child {
  readonly payload: { readonly Id: string };
  readonly transactionIDList: readonly string[];
}

interface DryRun {
  readonly explain: string;
  readonly plan: { readonly sources: unknown };
  readonly items: readonly object[];
}

async function resultsNamed(pattern: RegExp): Promise<unknown[]> {
  const { body } = await posting.call('GET', '/core/operations', undefined, { pagesize: '1000' });
  return (body.data as { timeseriesId: string }[]).filter(({ timeseriesId }) => pattern.test(timeseriesId));
}

describe('a long request', () => {
  it('is planned in slices, between other requests, even if each item reads those before it', async () => {
    const step = (k: number) => ({
      operation: 'Mul',
      input: [{ timeseriesId: 'long', metric: k === 0 ? 'Raw' : `Step${k - 1}` }],
      output: [{ timeseriesId: 'long', metric: `Step${k}` }],
      parameters: { scalar: 2 },
    });
    const posted = Array.from({ length: 190 }, (_, k) => ({
      metric: `Step${k}`,
      processingType: 'stream',
      operations: [step(k)],
    }));
    let turns = 0;
    let timer: NodeJS.Immediate;
    const count = (): void => {
      turns++;
      timer = setImmediate(count);
    };
    count();
    const { definitions } = await readOperations(posted);
    clearImmediate(timer!);
    // 190 × 191 / 2 steps, a thousand per slice.
    expect(definitions.map(({ plan }) => plan.steps.length)).toEqual(posted.map((_, k) => k + 1));
    expect(turns).toBeGreaterThan(15);
  });
});
