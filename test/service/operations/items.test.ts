import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSame } from '../../laws/running.js';
import { item, minutes, openPosting, type Posting } from './posted.js';

let posting: Posting;
beforeAll(async () => {
  posting = await openPosting();
  await posting.write([minutes('room', 180, (i) => i)]);
});
afterAll(() => posting.close());

const times = (scalar: number, output: string) => [item('Mul', { scalar }, ['room'], output)];
const result = (timeseriesId: string) => ({ timeseriesId, metric: 'Result' });

interface Item {
  readonly itemId: string;
  readonly timeseriesId: string;
  readonly state: string;
  readonly revision: number;
  readonly transactionId: string;
}

async function itemOf(timeseriesId: string): Promise<Item | undefined> {
  const { body } = await posting.call('GET', '/core/operations', undefined, { pagesize: '1000' });
  return (body.data as Item[]).find((one) => one.timeseriesId === timeseriesId);
}

describe('registered items', () => {
  it('are shown with names as the interface writes them, in whatever case they were posted', async () => {
    const odd = [
      item('aggregate', { function: 'AVERAGE', interval: 'hourly', closed: 'LEFT' }, ['room'], 'odd case'),
      item('holdlastvalue', { interval: 'PT1M', maxhold: 'PT1H' }, ['room'], 'odd hold'),
      item('mul', { scalar: 2 }, ['room'], 'odd alias'),
    ].flat();
    const answer = await posting.call('POST', '/operations', odd);
    expect(answer.statusCode).toBe(202);
    const { operations } = (await itemOf('odd case')) as unknown as { operations: object[] };
    expect(operations).toMatchObject([
      { operation: 'Aggregate', parameters: { function: 'Average', interval: 'Hourly', closed: 'left' } },
    ]);
    const held = (await itemOf('odd hold')) as unknown as { operations: object[] };
    expect(held.operations).toMatchObject([{ operation: 'HoldLastValue', parameters: { maxhold: 'PT1H' } }]);
  });

  it('are listed with what was posted, their state and their transaction', async () => {
    const request = times(2, 'shown');
    await posting.run(request);
    const { itemId } = (await itemOf('shown'))!;
    const { statusCode, body } = await posting.call('GET', `/core/operations/${itemId}`);
    expect(statusCode).toBe(200);
    expect(body.data).toEqual({
      itemId,
      timeseriesId: 'shown',
      metric: 'Result',
      processingType: 'stream',
      frequency: null,
      operations: request[0]!.operations,
      sources: [{ timeseriesId: 'room', metric: 'Raw' }],
      pattern: null,
      state: 'Active',
      transactionId: expect.any(String),
      retryCount: 0,
      message: null,
      revision: 1,
      boundary: null,
      createdTimestamp: '2026-01-01T00:00:00.000Z',
      updatedTimestamp: '2026-01-01T00:00:00.000Z',
    });
  });

  it.each([1, 8])('say which of their sources are no series, until samples come: %i groups', async (groups) => {
    const own = await openPosting({}, 'absent', groups);
    try {
      await own.write([minutes('there', 10, (i) => i)]);
      const sum = (inputs: string[], output: string) => item('Add', {}, inputs, output);
      await own.run([
        sum(['there', 'roof'], 'one'),
        sum(['roof', 'cellar'], 'two'),
        item('Mul', { scalar: 2 }, ['there'], 'none'),
      ]);
      await own.run([{ ...item('Mul', { scalar: 2 }, ['attic'], 'once'), processingType: 'Batch' }]);
      const messages = async () => {
        const { body } = await own.call('GET', '/core/operations');
        return Object.fromEntries(
          (body.data as { timeseriesId: string; message: string }[]).map((one) => [one.timeseriesId, one.message]),
        );
      };
      expect(await messages()).toEqual({
        one: 'no series is called "roof/Raw" so far',
        two: 'no series are called "cellar/Raw" and "roof/Raw" so far',
        none: null,
        once: 'no series is called "attic/Raw" so far',
      });
      await own.write([minutes('roof', 10, (i) => i)]);
      const { one, two } = await messages();
      expect([one, two]).toEqual([null, 'no series is called "cellar/Raw" so far']);
    } finally {
      await own.close();
    }
  });

  it.each([1, 8])('say which patterns no series fits, until one comes: %i groups', async (groups) => {
    const own = await openPosting({}, 'fits none', groups);
    try {
      await own.write([minutes('there', 10, (i) => i)]);
      await own.run([
        item('Mul', { scalar: 2 }, ['zone-{n}'], 'zone-{n}'),
        item('Add', {}, ['hall-{n}', 'roof'], 'hall-{n}'),
      ]);
      const patterns = async () => {
        const { body } = await own.call('GET', '/core/operations');
        const found = (body.data as { pattern: string | null; state: string; message: string | null }[]).filter(
          ({ pattern }) => pattern === null,
        );
        expect(found.some((one) => 'isWithoutMembers' in one)).toBe(false);
        return found.map(({ state, message }) => [state, message]);
      };
      expect(await patterns()).toEqual([
        ['Active', 'no series fits "zone-{n}/Raw" so far'],
        ['Active', 'no series is called "roof/Raw" so far; no series fits "hall-{n}/Raw" so far'],
      ]);
      await own.write([minutes('zone-1', 10, (i) => i), minutes('roof', 10, (i) => i)]);
      await own.run(times(3, 'other'));
      expect((await patterns()).slice(0, 2)).toEqual([
        ['Active', null],
        ['Active', 'no series fits "hall-{n}/Raw" so far'],
      ]);
    } finally {
      await own.close();
    }
  });

  it.each([1, 8])('are listed in the order in which they were registered, in %i groups', async (groups) => {
    const own = await openPosting({}, 'ordered', groups);
    try {
      const names = ['o3', 'o1', 'o5', 'o2', 'o4'];
      await own.run(names.flatMap((name, k) => times(k, name)));
      await own.run(times(7, 'o0'));
      const { body } = await own.call('GET', '/core/operations');
      expect((body.data as Item[]).map(({ timeseriesId }) => timeseriesId)).toEqual([...names, 'o0']);
    } finally {
      await own.close();
    }
  });

  it.each(['batch', 'Batch'])('processingType %s is shown in the words of the interface', async (processingType) => {
    const [item] = times(2, `shown as ${processingType}`);
    await posting.run([{ ...item, processingType }]);
    expect(await itemOf(`shown as ${processingType}`)).toMatchObject({ processingType: 'Batch' });
    const dry = await posting.call('POST', '/operations?dryRun=true', [{ ...item, processingType }]);
    expect(dry.body.data).toMatchObject({ items: [{ processingType: 'Batch' }] });
  });

  it('are listed in pages that together are the list', async () => {
    for (let k = 0; k < 5; k++) await posting.run(times(k, `paged ${k}`));
    const whole = (await posting.call('GET', '/core/operations', undefined, { pagesize: '1000' })).body.data as Item[];
    const pages: Item[] = [];
    let continuationtoken: string | null = null;
    do {
      const more = { pagesize: '2', ...(continuationtoken === null ? {} : { continuationtoken }) };
      const { body } = await posting.call('GET', '/core/operations', undefined, more);
      expect((body.data as Item[]).length).toBeLessThanOrEqual(2);
      pages.push(...(body.data as Item[]));
      continuationtoken = body.paging.continuationToken;
    } while (continuationtoken !== null);
    expect(pages).toEqual(whole);
    expect(new Set(pages.map(({ itemId }) => itemId)).size).toBe(pages.length);
  });

  it.each([1, 8])('that are long make short pages, which together are the list: %i groups', async (groups) => {
    const own = await openPosting({}, 'long', groups);
    try {
      await own.write([minutes('room', 1, (i) => i)]);
      const timerangelist = Array.from({ length: 5000 }, (_, k) => ({ starttime: new Date(k * 60_000).toISOString() }));
      for (let k = 0; k < 10; k++) {
        const parameters = k % 3 === 2 ? { timerangelist: [{ starttime: '2026-01-01T00:00:00Z' }] } : { timerangelist };
        await own.run([item('Mask', parameters, ['room'], `long ${k}`)]);
      }
      const counts: number[] = [];
      const found: string[] = [];
      let continuationtoken: string | null = null;
      do {
        const more = { pagesize: '1000', ...(continuationtoken === null ? {} : { continuationtoken }) };
        const { body } = await own.call('GET', '/core/operations', undefined, more);
        const page = body.data as Item[];
        counts.push(page.length);
        found.push(...page.map(({ timeseriesId }) => timeseriesId));
        continuationtoken = body.paging.continuationToken;
      } while (continuationtoken !== null);
      expect(found).toEqual(Array.from({ length: 10 }, (_, k) => `long ${k}`));
      // Each long one is 200 kB, and a page ends after one MiB.
      expect(Math.max(...counts)).toBeLessThan(10);
    } finally {
      await own.close();
    }
  });

  it.each(['0', '1001', 'x', '-1', '1.5'])('PageSize %s is 400', async (pagesize) => {
    expect((await posting.call('GET', '/core/operations', undefined, { pagesize })).statusCode).toBe(400);
  });

  it('of other organisations, and unknown ones, are 404', async () => {
    await posting.run(times(2, 'ours'));
    const { itemId } = (await itemOf('ours'))!;
    const other = await posting.service.addClient({ organisation: 'other' });
    const headers = await posting.service.bearer(other);
    for (const id of [itemId, 'no-such-item']) {
      expect((await posting.call('GET', `/core/operations/${id}`, undefined, headers)).statusCode).toBe(404);
      expect((await posting.call('DELETE', `/core/operations/${id}`, undefined, headers)).statusCode).toBe(404);
    }
    expect((await posting.call('GET', '/core/operations', undefined, headers)).body.data).toEqual([]);
  });
});

describe('posting an item again', () => {
  it('replaces it: the same id, the next revision, new results', async () => {
    const first = await posting.run(times(2, 'again'));
    const before = (await itemOf('again'))!;
    const request = [item('Aggregate', { function: 'Sum', interval: 'Hourly' }, ['room'], 'again')];
    const second = await posting.run(request);
    const after = (await itemOf('again'))!;
    expect(after).toMatchObject({ itemId: before.itemId, revision: 2, state: 'Active' });
    expect(second).toMatchObject({ requestAction: 'Replace' });
    expectSame([await posting.stored(result('again'))], await posting.expected(request));
    const ended = (await posting.call('GET', `/core/status/${first.id}`)).body.data as object;
    expect(ended).toMatchObject({ state: 'Completed' });
  });

  it('unchanged recomputes it, and leaves the results as they are', async () => {
    await posting.run(times(3, 'same'));
    const before = await posting.stored(result('same'));
    await posting.run(times(3, 'same'));
    expectSame([await posting.stored(result('same'))], [before]);
    expect((await itemOf('same'))!.revision).toBe(2);
  });
});

describe('deleting an item', () => {
  it('deletes its results, and items that read them are notified', async () => {
    await posting.run(times(2, 'gone'));
    const reader = {
      metric: 'Result',
      processingType: 'stream',
      operations: [{ operation: 'Abs', input: [result('gone')], output: [result('reader of gone')], parameters: {} }],
    };
    await posting.run([reader]);
    expect((await posting.stored(result('reader of gone'))).timeMs.length).toBe(180);
    const { itemId, transactionId } = (await itemOf('gone'))!;
    expect((await posting.call('DELETE', `/core/operations/${itemId}`)).statusCode).toBe(200);
    await posting.service.service.worker.onIdle();
    expect(await itemOf('gone')).toBeUndefined();
    expect((await posting.call('GET', '/core/timeseries?timeseriesId=gone')).body.data).toEqual([]);
    expect((await posting.stored(result('reader of gone'))).timeMs.length).toBe(0);
    const record = (await posting.call('GET', `/core/status/${transactionId}`)).body.data as object;
    expect(record).toMatchObject({ state: 'Completed', message: 'the item was deleted' });
  });

  it('notifies items that read its results, even if none was final', async () => {
    await posting.run([item('Aggregate', { function: 'Sum', interval: 'Daily' }, ['room'], 'unfinished')]);
    await posting.run([
      {
        metric: 'Result',
        processingType: 'stream',
        operations: [
          { operation: 'Abs', input: [result('unfinished')], output: [result('reader of unfinished')], parameters: {} },
        ],
      },
    ]);
    expect((await posting.stored(result('reader of unfinished'))).timeMs.length).toBe(1);
    const { itemId } = (await itemOf('unfinished'))!;
    await posting.call('DELETE', `/core/operations/${itemId}`);
    await posting.service.service.worker.onIdle();
    expect((await posting.stored(result('reader of unfinished'))).timeMs.length).toBe(0);
  });

  it('with keepResults turns its results into a series that clients write', async () => {
    await posting.run([item('Aggregate', { function: 'Sum', interval: 'Hourly' }, ['room'], 'kept')]);
    const before = await posting.stored(result('kept'));
    expect(before.timeMs.length).toBe(3);
    const { itemId } = (await itemOf('kept'))!;
    await posting.call('DELETE', `/core/operations/${itemId}?keepResults=true`);
    expectSame([await posting.stored(result('kept'))], [before]);
    const sample = { ...result('kept'), timestamp: '2026-02-01T00:00:00Z', val: 7 };
    expect((await posting.call('POST', '/core/samples', [sample])).statusCode).toBe(200);
    expect((await posting.stored(result('kept'))).timeMs.length).toBe(4);
  });
});

describe('5: scopes', () => {
  it.each([
    ['POST', '/operations', 'core_read', 403],
    ['POST', '/core/operations', 'core_read', 403],
    ['POST', '/operations', 'core_write', 400],
    ['POST', '/operations', 'core_admin', 400],
    ['GET', '/core/operations', 'core_write', 403],
    ['GET', '/core/operations', 'core_read', 200],
    ['GET', '/core/operations', 'core_admin', 200],
    ['DELETE', '/core/operations/x', 'core_write', 403],
    ['DELETE', '/core/operations/x', 'core_admin', 404],
  ] as const)('%s %s with %s is %i', async (method, url, scope, expected) => {
    const client = await posting.service.addClient({ organisation: 'acme' });
    const headers = await posting.service.bearer(client, scope);
    const payload = method === 'POST' ? [] : undefined;
    expect((await posting.call(method, url, payload, headers)).statusCode).toBe(expected);
  });
});
