import { expect, it } from 'vitest';
import { DuplicateKeyError } from '../../../src/storage/index.js';
import type { Current } from './opened-storage.js';
import { thing } from './some-things.js';
import { blobs, links, suiteTables, things } from './tables.js';

const SHARD = 5;

export function describeRows(current: Current): void {
  it('every table exists and is empty at first', async () => {
    const counts = await current.storage.read(SHARD, (tx) => Promise.all(suiteTables.map((table) => tx.count(table))));
    expect(counts).toEqual(suiteTables.map(() => 0));
  });

  it('a row is found by its whole key and by nothing less', async () => {
    const row = thing({ id: 'a', name: 'Door 1' });
    await current.storage.transaction(SHARD, (tx) => tx.insert(things, row));
    const { organisation, id, version } = row;
    const get = (key: Partial<typeof row>) => current.storage.read(SHARD, (tx) => tx.get(things, key));
    expect(await get({ organisation, id, version })).toEqual(row);
    expect(await get({ organisation, id, version: 2 })).toBeUndefined();
    await expect(get({ organisation, id })).rejects.toMatchObject({ code: 'storage.key' });
  });

  it('the same key in another shard is another row', async () => {
    await current.storage.transaction(0, (tx) => tx.insert(things, thing({ name: 'in 0' })));
    await current.storage.transaction(31, (tx) => tx.insert(things, thing({ name: 'in 31' })));
    await current.storage.transaction(0, (tx) => tx.delete(things, []));
    expect(await current.storage.read(0, (tx) => tx.count(things))).toBe(0);
    expect(await current.storage.read(31, (tx) => tx.find(things))).toEqual([thing({ name: 'in 31' })]);
  });

  it('a key is inserted once; a second insert fails, and its transaction can continue', async () => {
    const names = await current.storage.transaction(SHARD, async (tx) => {
      await tx.insert(things, thing({ name: 'first' }));
      await expect(tx.insert(things, thing({ name: 'second' }))).rejects.toBeInstanceOf(DuplicateKeyError);
      await tx.insert(things, thing({ id: 'other', name: 'third' }));
      return (await tx.find(things)).map(({ name }) => name);
    });
    expect(names).toEqual(['first', 'third']);
  });

  it.each([0, 1, 5, 300])('%i rows inserted together equal those inserted one after another', async (count) => {
    const rows = Array.from({ length: count }, (_, i) =>
      thing({
        id: `é\u{10000}${i}`.padStart(i, 'x'),
        name: i % 3 === 0 ? null : ['', 'x\'y"\\', '\t\n\\N'][i % 2]!,
        isOpen: [null, true, false][i % 3]!,
        latitude: [null, -0, Infinity, 5e-324, 0.1 + i][i % 5]!,
        endedMs: [Number.MIN_SAFE_INTEGER, null, Number.MAX_SAFE_INTEGER][i % 3]!,
        order: -i,
      }),
    );
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    const bytes = rows.map((_, i) => {
      const data = new Uint8Array(i === 4 ? 200_000 : i).map((_, at) => all[(at + i) % 256]!);
      return { series: 1, startMs: -i / 3, endMs: null, data };
    });
    const lists = await Promise.all(
      [SHARD, SHARD + 1].map((shard) =>
        current.storage.transaction(shard, async (tx) => {
          const before = { ...rows[0]!, id: 'before' };
          if (count > 0) await tx.insert(things, before);
          if (shard === SHARD) {
            await Promise.all([tx.insertAll(things, rows), tx.insertAll(blobs, bytes)]);
          } else {
            for (const row of rows) await tx.insert(things, row);
            for (const row of bytes) await tx.insert(blobs, row);
          }
          await tx.delete(things, [['id', '=', 'before']]);
          return tx.find(things);
        }),
      ),
    );
    expect(lists[0]).toEqual(lists[1]);
    expect(lists[0]).toHaveLength(count);
    const [a, b] = await Promise.all(
      [SHARD, SHARD + 1].map((shard) =>
        current.storage.read(shard, async (tx) => [await tx.find(things), await tx.find(blobs)]),
      ),
    );
    expect(a).toEqual(b);
    expect(a?.[0]).toEqual(lists[0]);
    expect(await current.storage.lastCommit(SHARD)).toBe(count === 0 ? 0 : 1);
  });

  it.each([1, 50])('an existing key among %i rows inserted together fails that work, and no other', async (count) => {
    const { storage } = current;
    await storage.transaction(SHARD, (tx) => tx.insert(things, thing({ id: '0', name: 'first' })));
    const rows = Array.from({ length: count }, (_, i) => thing({ id: `${i}`, name: 'second' }));
    const answers = await Promise.allSettled([
      storage.transaction(SHARD, (tx) => tx.insert(things, thing({ id: 'before' }))),
      storage.transaction(SHARD, async (tx) => {
        await tx.insert(things, thing({ id: 'with' }));
        await tx.insertAll(things, rows);
      }),
      storage.transaction(SHARD, (tx) => tx.insert(things, thing({ id: 'z, after' }))),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const { reason } = answers[1] as PromiseRejectedResult; // `as`: it was rejected
    expect(reason).toBeInstanceOf(DuplicateKeyError);
    expect(reason).toMatchObject({ table: things.name });
    const found = await storage.read(SHARD, (tx) => tx.find(things));
    expect(found.map(({ id, name }) => [id, name])).toEqual([
      ['0', 'first'],
      ['before', null],
      ['z, after', null],
    ]);
  });

  it('rows inserted together are checked like others', async () => {
    const rows = Array.from({ length: 20 }, (_, i) => thing({ id: `${i}`, name: i === 13 ? 'a\0b' : 'a' }));
    const insert = current.storage.transaction(SHARD, (tx) => tx.insertAll(things, rows));
    await expect(insert).rejects.toMatchObject({ code: 'storage.value' });
    expect(await current.storage.read(SHARD, (tx) => tx.count(things))).toBe(0);
  });

  it('a put replaces the whole row of its key', async () => {
    const found = await current.storage.transaction(SHARD, async (tx) => {
      await tx.put(things, thing({ name: 'old', severity: 'high' }));
      await tx.put(things, thing({ name: 'new' }));
      return tx.find(things);
    });
    expect(found).toEqual([thing({ name: 'new' })]);
  });

  it('a row that is only a key can be put twice', async () => {
    const row = { from: 'a', to: 'b' };
    const count = await current.storage.transaction(SHARD, async (tx) => {
      await tx.put(links, row);
      await tx.put(links, row);
      return tx.count(links);
    });
    expect(count).toBe(1);
  });

  it('an update changes the fields given in the rows that match, and counts them', async () => {
    const rows = ['a', 'b', 'c'].map((id) => thing({ id, severity: id === 'b' ? 'low' : 'high', name: id }));
    const counts = await current.storage.transaction(SHARD, async (tx) => {
      for (const row of rows) await tx.insert(things, row);
      return [
        await tx.update(things, [['severity', '=', 'high']], { severity: null, isOpen: true }),
        await tx.update(things, [['severity', '=', 'high']], { name: 'x' }),
        await tx.update(things, [['severity', '=', null]], {}),
      ];
    });
    expect(counts).toEqual([2, 0, 2]);
    expect(await current.storage.read(SHARD, (tx) => tx.find(things))).toEqual(
      rows.map((row) => (row.id === 'b' ? row : { ...row, severity: null, isOpen: true })),
    );
  });

  it('an update cannot change keys', async () => {
    const update = current.storage.transaction(SHARD, (tx) => tx.update(things, [], { id: 'z' }));
    await expect(update).rejects.toMatchObject({ code: 'storage.key' });
  });

  it('a delete removes the rows that match, and counts them', async () => {
    const left = await current.storage.transaction(SHARD, async (tx) => {
      for (const id of ['a', 'b', 'c']) await tx.insert(things, thing({ id }));
      expect(await tx.delete(things, [['id', '>', 'a']])).toBe(2);
      expect(await tx.delete(things, [['id', '>', 'a']])).toBe(0);
      return tx.find(things);
    });
    expect(left).toEqual([thing({ id: 'a' })]);
  });

  it('a shard number out of range is refused', async () => {
    for (const shard of [-1, 32, 1.5, Number.NaN]) {
      await expect(current.storage.read(shard, async () => 0)).rejects.toMatchObject({ code: 'storage.key' });
      await expect(current.storage.transaction(shard, async () => 0)).rejects.toMatchObject({ code: 'storage.key' });
    }
  });
}
