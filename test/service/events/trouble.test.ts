import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/service/context.js';
import { openSqliteStorage, StorageFullError } from '../../../src/storage/index.js';
import type { Storage } from '../../../src/storage/storage.js';
import { type OpenedEvents, openEvents } from './opened.js';

let events: OpenedEvents;
afterEach(() => events.service.close());

/** The real store, with reads or writes that can be made to fail. */
async function openFailing() {
  const failure: { ofReading?: Error; ofWriting?: Error } = {};
  const open = async (directory: string, clock: Clock): Promise<Storage> => {
    const storage = await openSqliteStorage({ directory, clock });
    const transaction: Storage['transaction'] = (...call) =>
      failure.ofWriting === undefined ? storage.transaction(...call) : Promise.reject(failure.ofWriting);
    return {
      read: (shard, work) =>
        storage.read(shard, async (tx) => {
          // Only reads for events fail; tokens are still looked up.
          const find: typeof tx.find = (...query) =>
            failure.ofReading === undefined ? tx.find(...query) : Promise.reject(failure.ofReading);
          return work({ ...numbersOf(tx), get: tx.get.bind(tx), find, count: tx.count.bind(tx) });
        }),
      transaction,
      transactionOver: storage.transactionOver.bind(storage),
      lastCommit: storage.lastCommit.bind(storage),
      recentCommit: storage.recentCommit.bind(storage),
      claim: storage.claim.bind(storage),
      release: storage.release.bind(storage),
      maintains: storage.maintains.bind(storage),
      onCommit: storage.onCommit.bind(storage),
      check: storage.check.bind(storage),
      close: storage.close.bind(storage),
    };
  };
  events = await openEvents({ storage: open });
  const caller = await events.addCaller();
  await events.addCollection('main', caller);
  await caller.post('main', { id: 'a' });
  return { failure, caller };
}

function numbersOf({ shard, lastCommit, durableCommit }: { shard: number; lastCommit: number; durableCommit: number }) {
  return { shard, lastCommit, durableCommit };
}

describe('errors of /core/events (interface 7.2)', () => {
  it('429: a client with too many requests is told when to retry', async () => {
    events = await openEvents({ settings: { requestsPerMinuteMax: 3 } });
    const caller = await events.addCaller();
    const other = await events.addCaller();
    await events.addCollection('main', caller, other);
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await caller.list('main'));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([204, 204, 204, 429]);
    expect(answers[3]?.body.status.code).toBe('429');
    expect(Number(answers[3]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await other.list('main')).statusCode).toBe(204);
  });

  it('500: an internal error is reported without its cause', async () => {
    const { failure, caller } = await openFailing();
    failure.ofReading = new Error('page 17 of /var/lib/secret is damaged');
    const { statusCode, body, payload } = await caller.list('main');
    expect([statusCode, body.status.code]).toEqual([500, '500']);
    expect(payload).not.toContain('secret');
  });

  it('503: events cannot be written to a full disk, and can still be read', async () => {
    const { failure, caller } = await openFailing();
    failure.ofWriting = new StorageFullError('the disk is full', 'reads');
    const refused = await caller.post('main', { id: 'b' });
    expect([refused.statusCode, refused.body.status.code]).toEqual([503, '503']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await caller.list('main')).body.data).toMatchObject([{ id: 'a' }]);
    delete failure.ofWriting;
    expect((await caller.post('main', { id: 'b' })).statusCode).toBe(201);
  });
});
