import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StorageError } from '../../src/storage/errors.js';
import { openSqliteStorage, UnknownCommitError } from '../../src/storage/index.js';
import { placementOf } from '../../src/storage/shard.js';
import { itemWork, replicas } from '../../src/storage/tables/operations.js';
import { openTestService, type TestService } from './app.js';
import { failingStorage, type Trouble } from './failing-storage.js';

// An organisation spread over several shards behaves, to its users, like one in a single shard.

const organisation = 'acme';
const placement = placementOf(organisation, 8);
const START_MS = Date.UTC(2025, 11, 31);

/** Ids, each in a different shard. */
const ids: string[] = [];
for (let i = 0; ids.length < 8; i++) {
  const id = `device-${i}`;
  if (!ids.some((one) => placement.shardOf(one) === placement.shardOf(id))) ids.push(id);
}
const [a = '', b = '', c = ''] = ids;

let service: TestService;
let headers: Record<string, string>;
/** If `losesAnswer`, the next transaction of the shard takes effect, its answer is lost, and later ones fail. */
let trouble: Trouble & { shard?: number; losesAnswer?: boolean };

beforeEach(async () => {
  trouble = {};
  service = await openTestService({
    storage: async (directory, clock) => {
      const storage = await openSqliteStorage({ directory, clock });
      const failing = failingStorage(storage, trouble);
      return {
        ...failing,
        transaction: async (shard, ...rest) => {
          if (trouble.shard !== shard) return storage.transaction(shard, ...rest);
          if (trouble.losesAnswer !== true) return failing.transaction(shard, ...rest);
          trouble.losesAnswer = false;
          trouble.write = new StorageError('storage.failed', 'simulated');
          await storage.transaction(shard, ...rest);
          throw new UnknownCommitError('simulated');
        },
      };
    },
  });
  const client = await service.addClient({ organisation, groups: 8 });
  headers = await service.bearer(client);
});
afterEach(() => service.close());

async function call(method: 'GET' | 'POST' | 'DELETE', url: string, body?: unknown, more: Record<string, string> = {}) {
  const answer = await service.app.inject({
    method,
    url,
    headers: { ...headers, ...more },
    ...(body === undefined ? {} : { payload: body as object }),
  });
  return { status: answer.statusCode, body: answer.json() };
}

const sample = (timeseriesId: string, minute: number, val: number) => ({
  timeseriesId,
  timestamp: new Date(START_MS + minute * 60_000).toISOString(),
  val,
});

const item = (
  operation: string,
  inputs: readonly (readonly [string, string])[],
  output: readonly [string, string],
  parameters: object = operation === 'Mul' ? { scalar: -1 } : {},
) => {
  const of = ([timeseriesId, metric]: readonly [string, string]) => ({ timeseriesId, metric });
  const step = { operation, input: inputs.map(of), output: [of(output)], parameters };
  return { metric: output[1], processingType: 'stream', operations: [step] };
};

async function register(...items: unknown[]) {
  const { status, body } = await call('POST', '/operations', items);
  expect(body.status.code).toBe('202');
  expect(status).toBe(202);
  await service.service.worker.onIdle();
  return body.data as { id: string; transactionIDList: string[] };
}

async function valuesOf(id: string, metric = 'Raw'): Promise<number[]> {
  const { body } = await call('GET', `/core/timeseries/${id}/samples?metric=${metric}`);
  return body.data.map(({ val }: { val: number }) => val);
}

const write = (...rows: readonly unknown[]) => call('POST', '/core/samples', rows);

describe('an organisation of several groups', () => {
  it('lists its series and items in one order over pages, without the replicas that items read', async () => {
    await write(...ids.map((id, i) => sample(id, 0, i)));
    await register(
      item(
        'Add',
        [
          [a, 'Raw'],
          [b, 'Raw'],
        ],
        [a, 'Sum'],
      ),
      item('Mul', [[c, 'Raw']], [c, 'Minus']),
    );
    const listed: string[] = [];
    for (let token: string | null = ''; token !== null; ) {
      const more: Record<string, string> = token === '' ? {} : { continuationToken: token };
      const { body } = await call('GET', '/core/timeseries', undefined, { PageSize: '3', ...more });
      for (const { timeseriesId, metrics } of body.data) {
        for (const { metric } of metrics) listed.push(`${timeseriesId} ${metric}`);
      }
      token = body.paging.continuationToken;
    }
    expect(listed).toEqual([...ids.map((id) => `${id} Raw`), `${a} Sum`, `${c} Minus`].sort());
    const { body } = await call('GET', '/core/operations');
    expect(body.data.map(({ timeseriesId }: { timeseriesId: string }) => timeseriesId).sort()).toEqual([a, c].sort());
  });

  it('has one transaction for a request, whose state covers all its items', async () => {
    await write(sample(a, 0, 1), sample(b, 0, 2));
    const { id, transactionIDList } = await register(
      item('Mul', [[a, 'Raw']], [a, 'Minus']),
      item('Mul', [[b, 'Raw']], [b, 'Minus']),
    );
    expect(transactionIDList).toHaveLength(2);
    const { body } = await call('GET', `/core/status/${id}`);
    expect(body.data).toMatchObject({ id, state: 'Active', transactionIDList });
    for (const child of transactionIDList) {
      expect((await call('GET', `/core/status/${child}`)).body.data.state).toBe('Active');
    }
    const listed = await call('GET', '/core/status');
    expect(listed.body.data).toMatchObject([{ id, state: 'Active' }]);
  });

  it('computes from series and results of several shards, live: late, corrected, deleted', async () => {
    await write(sample(a, 0, 1), sample(b, 0, 10));
    const hourly = { function: 'Sum', interval: 'Hourly' };
    await register(item('Aggregate', [[a, 'Raw']], [a, 'Hourly'], hourly));
    await register(
      item(
        'Add',
        [
          [a, 'Raw'],
          [b, 'Raw'],
        ],
        [c, 'Sum'],
      ),
      item('Mul', [[a, 'Hourly']], [b, 'Minus']),
    );
    expect([await valuesOf(c, 'Sum'), await valuesOf(b, 'Minus')]).toEqual([[11], [-1]]);
    await write(sample(a, 1, 2), sample(b, 1, 20));
    await service.service.worker.onIdle();
    expect([await valuesOf(c, 'Sum'), await valuesOf(b, 'Minus')]).toEqual([[11, 22], [-3]]);
    await write(sample(a, 0, 5));
    await service.service.worker.onIdle();
    expect([await valuesOf(c, 'Sum'), await valuesOf(b, 'Minus')]).toEqual([[15, 22], [-7]]);
    await call('DELETE', `/core/timeseries/${a}/samples?all=true`);
    await service.service.worker.onIdle();
    expect([await valuesOf(c, 'Sum'), await valuesOf(b, 'Minus')]).toEqual([[], []]);
  });

  it('an item that computes once waits for all samples stored when it was posted', async () => {
    await write(...Array.from({ length: 500 }, (_, i) => sample(a, i, i)));
    await register({
      ...item('Aggregate', [[a, 'Raw']], [b, 'Once'], { function: 'Count', interval: 'Daily' }),
      processingType: 'Batch',
    });
    expect(await valuesOf(b, 'Once')).toEqual([500]);
    await write(sample(a, 500, 1));
    await register({
      ...item('Aggregate', [[a, 'Raw']], [b, 'Again'], { function: 'Count', interval: 'Daily' }),
      processingType: 'Batch',
    });
    expect([await valuesOf(b, 'Once'), await valuesOf(b, 'Again')]).toEqual([[500], [501]]);
  });

  it('replicas end with their last reader; a result that clients write on is still replicated', async () => {
    await write(sample(a, 0, 1));
    await register(item('Mul', [[a, 'Raw']], [a, 'Minus']));
    await register(item('Mul', [[a, 'Minus']], [b, 'Plus']));
    const itemIdOf = async (metric: string) => {
      const { body } = await call('GET', '/core/operations');
      return body.data.find((one: { metric: string }) => one.metric === metric).itemId;
    };
    await call('DELETE', `/core/operations/${await itemIdOf('Minus')}?keepResults=true`);
    await service.service.worker.onIdle();
    await call('POST', '/core/samples?metric=Minus', [sample(a, 1, -7)]);
    await service.service.worker.onIdle();
    expect(await valuesOf(b, 'Plus')).toEqual([1, 7]);
    await call('DELETE', `/core/operations/${await itemIdOf('Plus')}`);
    const { storage } = service.service.context;
    const left = await storage.read(placement.shardOf(b), async (tx) => [
      ...(await tx.find(replicas)),
      ...(await tx.find(itemWork)),
    ]);
    expect(left).toEqual([]);
  });

  it('refuses circles of items over shards, even through members of patterns', async () => {
    await register(item('Mul', [[a, 'X']], [b, 'X']), item('Mul', [[b, 'X']], [c, 'X']));
    const circle = await call('POST', '/operations', [item('Mul', [[c, 'X']], [a, 'X'])]);
    expect([circle.status, circle.body.status.message]).toEqual([409, expect.stringContaining('in a cycle')]);
    await register(item('Mul', [[`${a}`, 'Y']], ['site', 'Limit']));
    const members = item(
      'Add',
      [
        ['{n}', 'Raw'],
        ['site', 'Limit'],
      ],
      ['{n}', 'Y'],
    );
    expect((await call('POST', '/operations', [members])).status).toBe(409);
  });

  it('patterns have members in each shard, listed as one item; with an id of their own they are refused', async () => {
    await write(...ids.map((id, i) => sample(id, 0, i)), sample('site', 0, 100));
    await register(
      item(
        'Add',
        [
          ['device-{n}', 'Raw'],
          ['site', 'Raw'],
        ],
        ['device-{n}', 'Y'],
      ),
    );
    await write(sample('device-late', 0, 5));
    await service.service.worker.onIdle();
    const found = await Promise.all([...ids, 'device-late'].map((id) => valuesOf(id, 'Y')));
    expect(found).toEqual([...ids.map((_, i) => [100 + i]), [105]]);
    const { body } = await call('GET', '/core/operations');
    const patterns = body.data.filter((one: { pattern: string | null }) => one.pattern === null);
    expect(patterns).toMatchObject([{ timeseriesId: 'device-{n}', state: 'Active' }]);
    const crossing = await call('POST', '/operations', [item('Mul', [['device-{n}', 'Raw']], ['other-{n}', 'Y'])]);
    expect([crossing.status, crossing.body.status.message]).toEqual([400, expect.stringContaining('several groups')]);
    await call('DELETE', `/core/operations/${patterns[0].itemId}`);
    expect((await call('GET', '/core/operations')).body.data).toEqual([]);
  });

  it('the transaction of a pattern that was deleted or replaced ends as Completed, with a message', async () => {
    await write(...ids.map((id, i) => sample(id, 0, i)));
    const twice = item('Mul', [['device-{n}', 'Raw']], ['device-{n}', 'Y'], { scalar: 2 });
    const thrice = item('Mul', [['device-{n}', 'Raw']], ['device-{n}', 'Y'], { scalar: 3 });
    const first = await register(twice);
    const second = await register(thrice);
    const patternId = (await call('GET', `/core/status/${second.transactionIDList[0]}`)).body.data.payload.Id;
    await call('DELETE', `/core/operations/${patternId}`);
    await service.service.worker.onIdle();
    for (const { id, transactionIDList } of [first, second]) {
      const { body } = await call('GET', `/core/status/${transactionIDList[0]}`);
      expect(body.data).toMatchObject({ state: 'Completed', message: expect.any(String) });
      expect((await call('GET', `/core/status/${id}`)).body.data.state).toBe('Completed');
    }
  });

  it('says which samples are stored if a shard fails; a body of a queue is stored whole or not at all', async () => {
    trouble.shard = placement.shardOf(b);
    trouble.write = new StorageError('storage.failed', 'simulated');
    const { status, body } = await write(sample(a, 0, 1), sample(b, 0, 2));
    expect(status).toBe(503);
    expect(body.data).toMatchObject({ samplesStored: 1, seriesNotStored: [{ timeseriesId: b, metric: 'Raw' }] });
    trouble.write = new UnknownCommitError('simulated');
    const unknown = await write(sample(a, 0, 1), sample(b, 0, 2));
    expect(unknown.status).toBe(504);
    expect(unknown.body.data).toMatchObject({
      samplesStored: 1,
      seriesUnknown: [{ timeseriesId: b, metric: 'Raw' }],
    });
    trouble.write = undefined;
    const queue = { source: 'q', partition: '0', offset: '7' };
    const rows = [sample(a, 1, 3), sample(b, 1, 4)];
    expect((await call('POST', '/core/samples', rows, queue)).body.data.isRepeated).toBe(false);
    expect((await call('POST', '/core/samples', rows, queue)).body.data.isRepeated).toBe(true);
    expect([await valuesOf(a), await valuesOf(b)]).toEqual([[1, 3], [4]]);
  });

  it('bodies of a queue are over the same shards, whatever series they have, and so share commits', async () => {
    const over = vi.spyOn(service.service.context.storage, 'transactionOver');
    for (const [offset, id] of ids.entries()) {
      const queue = { source: 'q', partition: '0', offset: String(offset) };
      const body = [{ timeseriesId: id, timestamp: new Date(START_MS).toISOString(), val: offset }];
      expect((await call('POST', '/core/samples', body, queue)).status).toBe(200);
    }
    expect(over.mock.calls.map(([shards]) => shards)).toEqual(ids.map(() => placement.shards));
  });

  it('never calls samples refused whose commit may have taken effect', async () => {
    trouble.shard = placement.shardOf(b);
    trouble.losesAnswer = true;
    const { status, body } = await write(sample(a, 0, 1), sample(b, 0, 2));
    expect(status).toBe(504);
    expect(body.data).toMatchObject({ samplesStored: 1, seriesUnknown: [{ timeseriesId: b, metric: 'Raw' }] });
    trouble.losesAnswer = true;
    expect((await write(sample(b, 1, 3))).status).toBe(504);
    // What failed for sure is still called refused.
    expect((await write(sample(b, 2, 4))).status).toBe(503);
    delete trouble.write;
    expect([await valuesOf(a), await valuesOf(b)]).toEqual([[1], [2, 3]]);
  });

  it('has the number of groups given with its first client, for good', async () => {
    const { administration } = service.service.identity;
    const add = (groups?: number, org = 'beta') =>
      administration.addClient({
        organisation: org,
        name: 'one',
        scopes: ['core_read'],
        grants: ['client_credentials'],
        ...(groups === undefined ? {} : { groups }),
      });
    await add(4);
    await add();
    await add(4);
    await expect(add(8)).rejects.toMatchObject({ code: 'identity.exists' });
    await expect(add(3, 'gamma')).rejects.toMatchObject({ code: 'arguments' });
    await add(undefined, 'gamma');
    await expect(add(2, 'gamma')).rejects.toMatchObject({ code: 'identity.exists' });
    expect((await service.service.context.placements.of('beta')).shards).toHaveLength(4);
    expect((await service.service.context.placements.of('gamma')).shards).toHaveLength(1);
  });

  it('keeps that number when its first client is removed: processes may have asked for it', async () => {
    const { administration } = service.service.identity;
    const client = { organisation: 'delta', name: 'one', scopes: ['core_read'], grants: ['client_credentials'] };
    const { clientId } = await administration.addClient(client);
    expect((await service.service.context.placements.of('delta')).shards).toHaveLength(1);
    await administration.removeClient({ clientId });
    await expect(administration.addClient({ ...client, groups: 8 })).rejects.toMatchObject({ code: 'identity.exists' });
  });

  it('is one group if its first user comes before a client', async () => {
    const { administration, addUser } = service.service.identity;
    await addUser({ organisation: 'epsilon', username: 'zoe', password: 'secret-of-zoe' });
    const client = { organisation: 'epsilon', name: 'one', scopes: ['core_read'], grants: ['client_credentials'] };
    await expect(administration.addClient({ ...client, groups: 8 })).rejects.toMatchObject({ code: 'identity.exists' });
    await administration.removeUser({ organisation: 'epsilon', username: 'zoe' });
    await expect(administration.addClient({ ...client, groups: 8 })).rejects.toMatchObject({ code: 'identity.exists' });
    await administration.addClient({ ...client, groups: 1 });
  });
});
