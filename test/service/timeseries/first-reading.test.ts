import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStorage } from '../../../src/storage/index.js';
import { shardOf } from '../../../src/storage/shard.js';
import type { Reader } from '../../../src/storage/storage.js';
import { sampleLog } from '../../../src/storage/tables/samples.js';
import { openTestService, type TestService } from '../app.js';
import { failingStorage } from '../failing-storage.js';
import { item } from '../operations/posted.js';

// After a start nothing of the log is in memory, nor what was written while nobody read. Writers of the embedded store
// wait for each reader, so none of them may read all of it.

const organisation = 'acme';
const ROWS = 500;
const READER_ROWS_MAX = 64;

let service: TestService;
let headers: { authorization: string };
/** The most rows of the log that one reader or transaction took, since the last start. */
let most: number;

beforeEach(async () => {
  service = await openTestService({
    // Compaction would load the log first.
    isQuiet: true,
    storage: async (directory, clock) => {
      most = 0;
      const storage = await openSqliteStorage({ directory, clock });
      return {
        ...failingStorage(storage, {}),
        read: (shard, work) => storage.read(shard, (tx) => work(counted(tx))),
        transaction: (shard, work, options) => storage.transaction(shard, (tx) => work(counted(tx)), options),
        transactionOver: (shards, work, options) =>
          storage.transactionOver(shards, (txs) => work(txs.map(counted)), options),
      };
    },
  });
  headers = await service.bearer(await service.addClient({ organisation }));
});
afterEach(() => service.close());

function counted<Tx extends Reader>(tx: Tx): Tx {
  let count = 0;
  const find: Reader['find'] = async (table, query) => {
    const rows = await tx.find(table, query);
    if (table.name === sampleLog.name) count += rows.length;
    most = Math.max(most, count);
    return rows;
  };
  return new Proxy(tx, {
    get: (target, name) => {
      if (name === 'find') return find;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function ask(method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) {
  const answer = await service.app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
  expect(answer.statusCode, answer.body).toBeLessThan(300);
  return answer.json();
}

async function fillLog(): Promise<void> {
  const { storage, samples } = service.service.context;
  const shard = shardOf(organisation);
  for (let timeMs = 0; timeMs < ROWS; timeMs++) {
    const change = {
      timeseriesId: 'a',
      metric: 'Raw',
      timeMs: Float64Array.of(timeMs),
      value: Float64Array.of(timeMs),
    };
    await storage.transaction(shard, (tx) => samples.append(tx, organisation, [change]));
  }
}

describe('the first reader of the log after a start is a short one', () => {
  it.each([
    ['a page of samples', () => ask('GET', '/core/timeseries/a/samples')],
    ['the list of series', () => ask('GET', '/core/timeseries')],
    ['a deletion', () => ask('DELETE', '/core/timeseries/a/samples?startTime=1970-01-01T00:00:00Z')],
    ['a dry run', () => ask('POST', '/core/operations?dryRun=true', [item('Abs', {}, ['a'], 'b')])],
  ])('for %s', async (_, request) => {
    await fillLog();
    await service.reopen();
    await request();
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(READER_ROWS_MAX);
  });

  it('and so is the one after a time without any', async () => {
    await ask('POST', '/core/samples', [{ timeseriesId: 'a', metric: 'Raw', timestamp: 0, val: 0 }]);
    await ask('GET', '/core/timeseries/a/samples');
    const shard = shardOf(organisation);
    const { samples } = service.service.context;
    // As compaction asks before it loads what was written since.
    expect([samples.log.wasRead(shard), samples.log.wasRead(shard)]).toEqual([true, false]);
    await fillLog();
    most = 0;
    await ask('GET', '/core/timeseries/a/samples');
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(READER_ROWS_MAX);
    expect(samples.log.wasRead(shard)).toBe(true);
  });
});
