import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Reader, Transaction } from '../../../src/storage/storage.js';
import type { Current } from './opened-storage.js';
import { thing } from './some-things.js';
import { arrivals, things } from './tables.js';

const SHARD = 11;

const insert = (id: string) => async (tx: Transaction) => {
  await tx.insert(things, thing({ id }));
  return tx.commit;
};

/** Waits for all, even if one fails: what went on running would disturb the next case. */
async function allDone(running: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(running)).find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

const ids = async (tx: Reader) => (await tx.find(things)).map(({ id }) => id);

export function describeCommits(current: Current): void {
  it('the commits of a shard are numbered 1, 2, 3, …, independently of other shards', async () => {
    const { storage } = current;
    const works = ['a', 'b', 'c'].flatMap((id) => [SHARD, 0].map((shard) => storage.transaction(shard, insert(id))));
    expect(await Promise.all(works)).toEqual([1, 1, 2, 2, 3, 3]);
    expect(await storage.read(SHARD, async (tx) => tx.lastCommit)).toBe(3);
    expect(await storage.read(1, async (tx) => tx.lastCommit)).toBe(0);
    expect(await Promise.all([SHARD, 0, 1].map((shard) => storage.lastCommit(shard)))).toEqual([3, 3, 0]);
  });

  it('every commit gets a number, whether it writes a log or other tables; undone work gets none', async () => {
    const data = Uint8Array.of(7);
    const log = (tx: Transaction, part = 0) => tx.insert(arrivals, { commit: tx.commit, part, data });
    const forget = (tx: Transaction, commit: number) => tx.delete(arrivals, [['commit', '<=', commit]]);
    const works = {
      log,
      logTwo: (tx: Transaction) => log(tx).then(() => log(tx, 1)),
      thing: (tx: Transaction) => tx.insert(things, thing({ id: `${tx.commit}` })),
      both: (tx: Transaction) => log(tx).then(() => tx.insert(things, thing({ id: `${tx.commit}` }))),
      forgetAll: (tx: Transaction) => log(tx).then(() => forget(tx, tx.commit)),
      forgetOld: (tx: Transaction) => forget(tx, tx.commit - 2).then(() => log(tx)),
      fail: (tx: Transaction) => log(tx).then(() => Promise.reject(new Error('undone'))),
    };
    const shard = fc.constantFrom(SHARD, 0);
    const step = fc.tuple(shard, fc.constantFrom(...(Object.keys(works) as (keyof typeof works)[])), fc.boolean());
    const counts = new Map<number, number>();
    const run = async (of: number, work: keyof typeof works) => {
      const next = counts.get(of)! + 1;
      if (work !== 'fail') counts.set(of, next);
      const done = current.storage.transaction(of, async (tx) => {
        await works[work](tx);
        return tx.commit;
      });
      await (work === 'fail' ? expect(done).rejects.toThrow('undone') : expect(done).resolves.toBe(next));
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        // From what is stored: a case that failed leaves commits, and those that shrink it would fail for that alone.
        for (const of of [SHARD, 0]) counts.set(of, await current.storage.lastCommit(of));
        const running: Promise<void>[] = [];
        for (const [of, work, isAlone] of steps) {
          running.push(run(of, work));
          if (isAlone) await allDone(running);
        }
        await allDone(running);
        await current.reopen();
        for (const [of, count] of counts) expect(await current.storage.lastCommit(of)).toBe(count);
      }),
      { numRuns: 12 },
    );
  });

  it('a transaction that writes nothing gets no number', async () => {
    const { storage } = current;
    await storage.transaction(SHARD, insert('a'));
    await storage.transaction(SHARD, ids);
    await storage.transaction(SHARD, (tx) => tx.delete(things, [['id', '=', 'none']]));
    await storage.transaction(SHARD, (tx) => tx.update(things, [['id', '=', 'none']], { name: 'x' }));
    expect(await storage.transaction(SHARD, async (tx) => [tx.lastCommit, tx.commit])).toEqual([1, 2]);
  });

  it('a transaction sees its own writes and those of transactions queued before it', async () => {
    const { storage } = current;
    const first = storage.transaction(SHARD, async (tx) => {
      await tx.insert(things, thing({ id: 'a' }));
      return ids(tx);
    });
    const second = storage.transaction(SHARD, async (tx) => {
      await tx.insert(things, thing({ id: 'b' }));
      return [...(await ids(tx)), tx.lastCommit];
    });
    expect(await Promise.all([first, second])).toEqual([['a'], ['a', 'b', 1]]);
  });

  it('the durable commit is never ahead of what readers see, and at most one group behind', async () => {
    const { storage } = current;
    await storage.transaction(SHARD, insert('a'));
    const numbers = async (tx: Reader) => [tx.lastCommit, tx.durableCommit];
    const works = ['b', 'c', 'd'].map((id) =>
      storage.transaction(SHARD, async (tx) => {
        await tx.insert(things, thing({ id }));
        return numbers(tx);
      }),
    );
    for (const [i, [last, durable]] of (await Promise.all(works)).entries()) {
      expect(last).toBe(1 + i);
      expect(durable).toBeGreaterThanOrEqual(1);
      expect(durable).toBeLessThanOrEqual(last!);
    }
    expect(await storage.read(SHARD, numbers)).toEqual([4, 4]);
  });

  it('an error thrown by work is rethrown, and its writes are undone; the rest of its group stays', async () => {
    const { storage } = current;
    const failure = new Error('changed my mind');
    const results = await Promise.allSettled([
      storage.transaction(SHARD, insert('a')),
      storage.transaction(SHARD, async (tx) => {
        await tx.insert(things, thing({ id: 'b' }));
        await tx.update(things, [], { name: 'b was here' });
        await tx.delete(things, [['id', '=', 'a']]);
        throw failure;
      }),
      storage.transaction(SHARD, insert('c')),
    ]);
    expect(results).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: failure },
      { status: 'fulfilled', value: 2 },
    ]);
    const found = await storage.read(SHARD, (tx) => tx.find(things));
    expect(found).toEqual([thing({ id: 'a' }), thing({ id: 'c' })]);
  });

  it('work that failed can be run again as a whole', async () => {
    const { storage } = current;
    let attempt = 0;
    const work = async (tx: Transaction) => {
      await tx.insert(things, thing({ id: 'a' }));
      await tx.insert(things, thing({ id: 'b' }));
      attempt++;
      if (attempt === 1) throw new Error('not yet');
      return tx.commit;
    };
    await expect(storage.transaction(SHARD, work)).rejects.toThrow('not yet');
    expect(await storage.transaction(SHARD, work)).toBe(1);
    expect(await storage.read(SHARD, ids)).toEqual(['a', 'b']);
  });

  it('a reader never sees half a commit, nor two states', async () => {
    const { storage } = current;
    const writers = Array.from({ length: 40 }, (_, i) =>
      storage.transaction(SHARD, async (tx) => {
        await tx.insert(things, thing({ id: `a${i}` }));
        await Promise.resolve();
        await tx.insert(things, thing({ id: `b${i}` }));
      }),
    );
    const readers = Array.from({ length: 40 }, async (_, i) => {
      for (let turn = 0; turn < i % 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
      return storage.read(SHARD, async (tx) => {
        const before = await tx.count(things);
        await Promise.resolve();
        const after = await tx.count(things, [['id', '>=', '']]);
        return { before, after, lastCommit: tx.lastCommit };
      });
    });
    await Promise.all(writers);
    for (const { before, after, lastCommit } of await Promise.all(readers)) {
      expect(before).toBe(2 * lastCommit);
      expect(after).toBe(before);
    }
  });

  it('what was acknowledged is visible to every later reader', async () => {
    const { storage } = current;
    for (let i = 0; i < 20; i++) {
      await storage.transaction(SHARD, insert(String(i)));
      expect(await storage.read(SHARD, (tx) => tx.count(things))).toBe(i + 1);
    }
  });

  it('work queued by other work while it runs comes after it and sees what it wrote', async () => {
    const { storage } = current;
    let inner: Promise<string[]> | undefined;
    await storage.transaction(SHARD, async (tx) => {
      inner = storage.transaction(SHARD, ids);
      await tx.insert(things, thing({ id: 'a' }));
    });
    expect(await inner).toEqual(['a']);
  });

  it('listeners hear every commit that wrote, in order, and none after they unsubscribe', async () => {
    const { storage } = current;
    const heard: [number, number][] = [];
    const leave = storage.onCommit((shard, commit) => heard.push([shard, commit]));
    await Promise.all([
      storage.transaction(SHARD, insert('a')),
      storage.transaction(SHARD, ids),
      storage.transaction(SHARD, insert('a')).catch(() => undefined),
      storage.transaction(SHARD, insert('b')),
      storage.transaction(2, insert('a')),
    ]);
    const ofShard = (shard: number) => heard.filter(([of]) => of === shard).map(([, commit]) => commit);
    expect([ofShard(SHARD), ofShard(2), heard.length]).toEqual([[1, 2], [1], 3]);
    leave();
    await storage.transaction(SHARD, insert('c'));
    expect(heard).toHaveLength(3);
  });

  it('a transaction cannot be used after its end', async () => {
    const { storage } = current;
    let kept: Transaction | undefined;
    await storage.transaction(SHARD, async (tx) => {
      kept = tx;
    });
    await expect(kept?.insert(things, thing({}))).rejects.toMatchObject({ code: 'storage.ended' });
    await expect(kept?.find(things)).rejects.toMatchObject({ code: 'storage.ended' });
    expect(await storage.read(SHARD, (tx) => tx.count(things))).toBe(0);
  });

  it('closing finishes what is queued; after it, nothing is accepted', async () => {
    const { storage } = current;
    const last = storage.transaction(SHARD, insert('a'));
    await Promise.all([storage.close(), storage.close()]);
    expect(await last).toBe(1);
    const closed = { code: 'storage.closed' };
    await expect(storage.transaction(SHARD, insert('b'))).rejects.toMatchObject(closed);
    await expect(storage.read(SHARD, ids)).rejects.toMatchObject(closed);
    await expect(storage.check()).rejects.toMatchObject(closed);
    await current.reopen();
    expect(await current.storage.read(SHARD, ids)).toEqual(['a']);
  });

  it('rows and commit numbers survive reopening', async () => {
    await current.storage.transaction(SHARD, insert('a'));
    await current.storage.transaction(SHARD, insert('b'));
    await current.reopen();
    await current.storage.check();
    expect(await current.storage.read(SHARD, async (tx) => [tx.lastCommit, tx.durableCommit])).toEqual([2, 2]);
    expect(await current.storage.transaction(SHARD, insert('c'))).toBe(3);
    expect(await current.storage.read(SHARD, ids)).toEqual(['a', 'b', 'c']);
  });

  it('a transaction over several shards commits in each that it writes, and sees earlier commits', async () => {
    const { storage } = current;
    await storage.transaction(SHARD, insert('a'));
    const [numbers, seen] = await storage.transactionOver([SHARD, 0, 30], async (txs) => {
      const numbers = txs.map(({ shard, commit }) => [shard, commit]);
      for (const [index, tx] of txs.slice(0, 2).entries()) await tx.insert(things, thing({ id: `over ${index}` }));
      return [numbers, await Promise.all(txs.map(ids))];
    });
    expect(numbers).toEqual([
      [SHARD, 2],
      [0, 1],
      [30, 1],
    ]);
    expect(seen).toEqual([['a', 'over 0'], ['over 1'], []]);
    const found = (shard: number) => storage.read(shard, async (tx) => [tx.lastCommit, ...(await ids(tx))]);
    expect(await Promise.all([SHARD, 0, 30].map(found))).toEqual([[2, 'a', 'over 0'], [1, 'over 1'], [0]]);
  });

  it('an error over several shards leaves nothing in any of them', async () => {
    const { storage } = current;
    const failure = new Error('changed my mind');
    const work = storage.transactionOver([3, SHARD], async (txs) => {
      for (const tx of txs) await tx.insert(things, thing({ id: 'a' }));
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    for (const shard of [3, SHARD]) expect(await storage.read(shard, async (tx) => tx.lastCommit)).toBe(0);
  });

  it('transactions over shards, named in any order, run alongside each other and those of one shard', async () => {
    const { storage } = current;
    const orders = [[1, 2, 3], [3, 2, 1], [2, 1], [3], [1]];
    const counts = new Map([1, 2, 3].map((shard) => [shard, 0]));
    const works = Array.from({ length: 40 }, (_, i) => {
      const shards = orders[i % orders.length]!;
      for (const shard of shards) counts.set(shard, counts.get(shard)! + 1);
      return storage.transactionOver(shards, async (txs) => {
        for (const tx of txs) await tx.insert(things, thing({ id: `work ${i}` }));
      });
    });
    await Promise.all(works);
    for (const [shard, count] of counts) {
      expect(await storage.read(shard, async (tx) => [tx.lastCommit, await tx.count(things)])).toEqual([count, count]);
    }
  });
}
