// Other writers wait for the transaction that stores a body, so that of a body with very many series does little.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openTestService, type TestService } from '../app.js';
import { watched } from '../operations/statements.js';

const COUNT = 2500;
const START_MS = Date.UTC(2026, 0, 1);

let service: TestService;
let headers: { authorization: string };

beforeEach(async () => {
  service = await openTestService({ isQuiet: true });
  headers = await service.bearer(await service.addClient({ organisation: 'acme', groups: 1 }));
});

afterEach(() => service.close());

async function ask(method: 'GET' | 'POST', url: string, payload?: object) {
  const answer = await service.app.inject({
    method,
    url,
    headers: { ...headers, ...(payload === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(payload === undefined ? {} : { payload }),
  });
  return { statusCode: answer.statusCode, ...answer.json() };
}

const bodyOf = (minute: number, ids = Array.from({ length: COUNT }, (_, i) => `sensor ${i}`)) =>
  ids.map((timeseriesId, i) => ({ timeseriesId, timestamp: START_MS + 60_000 * minute, val: minute + i }));

/** What each transaction does with series, and whether it stores samples. */
function watchTransactions() {
  const done: { created: number; lookUps: number; isStoring: boolean }[] = [];
  const { storage } = service.service.context;
  const transaction = storage.transaction.bind(storage);
  storage.transaction = (shard, work, options) => {
    const one = { created: 0, lookUps: 0, isStoring: false };
    done.push(one);
    const onAsked = (key: string, given: readonly unknown[]): void => {
      if (key === 'insertAll series') one.created += Number(Object(given[1]).length);
      if (key === 'find series') one.lookUps++;
      if (key === 'insert sample_log') one.isStoring = true;
    };
    return transaction(shard, (tx) => work(watched(tx, onAsked)), options);
  };
  return done;
}

it('creates its series some at a time, and stores its samples in one transaction', async () => {
  const done = watchTransactions();
  expect((await ask('POST', '/core/samples', bodyOf(0))).statusCode).toBe(200);
  expect(done.reduce((sum, { created }) => sum + created, 0)).toBe(COUNT);
  expect(Math.max(...done.map(({ created }) => created))).toBeLessThanOrEqual(1000);
  expect(done.filter(({ isStoring }) => isStoring)).toEqual([{ created: 0, lookUps: 0, isStoring: true }]);
  const { data } = await ask('GET', `/core/timeseries/sensor%20${COUNT - 1}/samples`);
  expect(data).toMatchObject([{ val: COUNT - 1 }]);
});

it('looks series up that are there before it stores their samples', async () => {
  await ask('POST', '/core/samples', bodyOf(0));
  await service.reopen();
  const done = watchTransactions();
  expect((await ask('POST', '/core/samples', bodyOf(1))).statusCode).toBe(200);
  expect(done).toEqual([{ created: 0, lookUps: 0, isStoring: true }]);
});

it('creates no series if it is refused', async () => {
  const step = {
    operation: 'Abs',
    input: [{ timeseriesId: 'room', metric: 'Raw' }],
    output: [{ timeseriesId: 'room', metric: 'Abs' }],
  };
  await ask('POST', '/core/operations', [{ metric: 'Abs', processingType: 'batch', operations: [step] }]);
  const [first, ...rest] = bodyOf(0);
  const result = { ...first, timeseriesId: 'room', metric: 'Abs' };
  expect((await ask('POST', '/core/samples', [...rest, result])).statusCode).toBe(409);
  const { data } = await ask('GET', '/core/timeseries');
  expect(data.map(({ timeseriesId }: { timeseriesId: string }) => timeseriesId)).toEqual(['room']);
});
