import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Condition, Order, Query, Storage } from '../../../src/storage/storage.js';
import type { Value } from '../../../src/storage/table.js';
import { modelFind, valuesOf } from './model.js';
import type { Current } from './opened-storage.js';
import { someThings, someValue, thing } from './some-things.js';
import { type Thing, things } from './tables.js';

const SHARD = 7;

type Column = keyof typeof someValue;
const columns = Object.keys(someValue) as Column[];

const condition: fc.Arbitrary<Condition<Thing>> = fc.constantFrom(...columns).chain((column) => {
  // `as`: a union of arbitraries as an arbitrary of the union.
  const value = fc.option(someValue[column] as fc.Arbitrary<Value>, { freq: 4 });
  const compared = fc.tuple(fc.constant(column), fc.constantFrom('=', '!=', '<', '<=', '>', '>=' as const), value);
  const listed = fc.tuple(fc.constant(column), fc.constant('in' as const), fc.array(value, { maxLength: 12 }));
  return fc.oneof(compared, listed) as fc.Arbitrary<Condition<Thing>>;
});

const conditions = fc.array(condition, { maxLength: 3 });

/** A total order: by some columns, then by the key. */
const totalOrder: fc.Arbitrary<Order<Thing>[]> = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...columns), { maxLength: 3 }),
    fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }),
  )
  .map(([some, directions]) => {
    const names = [...new Set<keyof Thing & string>([...some, ...things.key])];
    return names.map((column, i) => ({ column, isDescending: directions[i] ?? false }));
  });

async function store(storage: Storage, rows: readonly Thing[]): Promise<void> {
  await storage.transaction(SHARD, async (tx) => {
    await tx.delete(things, []);
    for (const row of rows) await tx.insert(things, row);
  });
}

const find = (storage: Storage, query?: Query<Thing>) => storage.read(SHARD, (tx) => tx.find(things, query));

export function describeQueries(current: Current): void {
  it('conditions, order and limit agree with the model over an array', async () => {
    const queries = fc.record({ where: conditions, orderBy: totalOrder, limit: fc.nat(20) }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(someThings, fc.array(queries, { minLength: 1, maxLength: 8 }), async (rows, some) => {
        await store(current.storage, rows);
        for (const query of some) {
          expect(await find(current.storage, query)).toEqual(modelFind(rows, things.key, query));
          const { where = [] } = query;
          const counted = await current.storage.read(SHARD, (tx) => tx.count(things, where));
          expect(counted).toBe(modelFind(rows, things.key, { where }).length);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('pages, put together, are the query without pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        someThings,
        conditions,
        totalOrder,
        fc.integer({ min: 1, max: 7 }),
        async (rows, where, orderBy, limit) => {
          await store(current.storage, rows);
          const paged: Thing[] = [];
          for (let after: readonly Value[] | undefined; ; ) {
            const page = await find(current.storage, { where, orderBy, limit, ...(after && { after }) });
            paged.push(...page);
            if (page.length < limit) break;
            after = valuesOf(page.at(-1)!, orderBy);
          }
          expect(paged).toEqual(await find(current.storage, { where, orderBy }));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('a page after a position that is not a row agrees with the model', async () => {
    const place = fc.record(someValue).map((fields) => thing(fields));
    await fc.assert(
      fc.asyncProperty(someThings, place, totalOrder, async (rows, row, orderBy) => {
        await store(current.storage, rows);
        const query = { orderBy, after: valuesOf(row, orderBy) };
        expect(await find(current.storage, query)).toEqual(modelFind(rows, things.key, query));
      }),
      { numRuns: 100 },
    );
  });

  it('updates and deletions affect the rows that a query would find', async () => {
    await fc.assert(
      fc.asyncProperty(someThings, conditions, fc.boolean(), async (rows, where, isDelete) => {
        await store(current.storage, rows);
        const fitting = new Set(modelFind(rows, things.key, { where }));
        const changed = rows.flatMap((row) => {
          if (!fitting.has(row)) return [row];
          return isDelete ? [] : [{ ...row, name: 'changed' }];
        });
        const count = await current.storage.transaction(SHARD, (tx) =>
          isDelete ? tx.delete(things, where) : tx.update(things, where, { name: 'changed' }),
        );
        expect(count).toBe(fitting.size);
        expect(await find(current.storage)).toEqual(modelFind(changed, things.key, {}));
      }),
      { numRuns: 100 },
    );
  });

  it('rows that have all the values of one of many agree with the model', async () => {
    const isSet = (value: unknown): boolean => value !== null;
    const listable = {
      organisation: fc.constantFrom('acme', 'other'),
      id: someValue.id,
      version: someValue.version,
      severity: someValue.severity.filter(isSet),
      isOpen: someValue.isOpen.filter(isSet),
      endedMs: someValue.endedMs.filter(isSet),
    };
    const some = fc.subarray(Object.keys(listable) as (keyof typeof listable)[], { minLength: 1 }).chain((names) => {
      const one = fc.record(Object.fromEntries(names.map((name) => [name, listable[name]])));
      // `as`: values of these columns.
      return fc.array(one as fc.Arbitrary<Partial<Thing>>, { maxLength: 12 });
    });
    await fc.assert(
      fc.asyncProperty(someThings, some, conditions, totalOrder, async (rows, anyOf, where, orderBy) => {
        await store(current.storage, rows);
        const query = { where, anyOf: [...anyOf, ...anyOf.slice(0, 1)], orderBy };
        expect(await find(current.storage, query)).toEqual(modelFind(rows, things.key, query));
      }),
      { numRuns: 150 },
    );
  });

  it('values that are null, real numbers or bytes are refused where rows have one of many', async () => {
    for (const anyOf of [[{ endedMs: null }], [{ id: 'a', latitude: 1 }], [{ id: 'a' }, {}]]) {
      await expect(find(current.storage, { anyOf })).rejects.toMatchObject({ code: 'storage.value' });
    }
  });

  it('a list of values can have any length', async () => {
    await store(current.storage, [thing({ id: 'id 5' }), thing({ id: 'id 99999' }), thing({ id: 'other' })]);
    const ids = Array.from({ length: 100_000 }, (_, i) => `id ${i}`);
    const found = await find(current.storage, { where: [['id', 'in', ids]] });
    expect(found.map(({ id }) => id)).toEqual(['id 5', 'id 99999']);
    const numbers = Array.from({ length: 100_000 }, (_, i) => i);
    expect(await find(current.storage, { where: [['version', 'in', numbers]] })).toHaveLength(3);
    expect(await find(current.storage, { where: [['id', 'in', []]] })).toEqual([]);
    const anyOf = ids.map((id, i) => ({ id, version: i % 3 }));
    expect((await find(current.storage, { anyOf })).map(({ id }) => id)).toEqual(
      ['id 5', 'id 99999'].filter((id) => thing({ id }).version === Number(id.slice(3)) % 3),
    );
    const update = { name: 'changed' };
    expect(await current.storage.transaction(SHARD, (tx) => tx.update(things, [['id', 'in', ids]], update))).toBe(2);
    expect(await current.storage.transaction(SHARD, (tx) => tx.delete(things, [['id', 'in', ids]]))).toBe(2);
    expect((await find(current.storage)).map(({ id, name }) => [id, name])).toEqual([['other', null]]);
  });

  it('a position without a value for each column of the order, and an invalid limit, are refused', async () => {
    await expect(find(current.storage, { after: ['acme'] })).rejects.toMatchObject({ code: 'storage.key' });
    for (const limit of [-1, 0.5, Number.NaN]) {
      await expect(find(current.storage, { limit })).rejects.toMatchObject({ code: 'storage.value' });
    }
  });

  it('an unknown column is refused, however it is spelled', async () => {
    // `as`: what a client's filter could name if the route did not check it
    const where = [['shard" = 0 OR "id', '=', 'x']] as unknown as Condition<Thing>[];
    await expect(find(current.storage, { where })).rejects.toMatchObject({ code: 'storage.key' });
    const orderBy = [{ column: 'constructor' }] as unknown as Order<Thing>[];
    await expect(find(current.storage, { orderBy })).rejects.toMatchObject({ code: 'storage.key' });
  });
}
