import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EventField, eventFields } from '../../../src/service/events/fields.js';
import type { Comparison } from '../../../src/service/events/odata/filter.js';
import type { OrderItem } from '../../../src/service/events/odata/query.js';
import { type Caller, listAll, type OpenedEvents, openEvents } from './opened.js';
import { type PostedEvent, postedEvents, valuesOf } from './posted.js';
import { asOptions, asParameters, plainFields, printFilter, printOrder } from './queries.js';

// The law of pages, with an array as oracle: all pages of a query together are the filtered and sorted events of the
// moment of the first page, whatever is written between pages.

let events: OpenedEvents;
let caller: Caller;
let collectionCount = 0;

beforeAll(async () => {
  // As a user runs it: the embedded store searches in a thread.
  events = await openEvents({ ownsStore: process.env.WINDROW_TEST_STORE !== 'postgres' });
  caller = await events.addCaller();
});
afterAll(() => events.service.close());

type Change =
  | { readonly kind: 'put'; readonly id: string; readonly event: PostedEvent }
  | { readonly kind: 'delete'; readonly id: string };

const ids = fc.integer({ min: 0, max: 30 }).map((number) => `e${number}`);
const changes: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('put' as const), id: ids, event: postedEvents() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), id: ids }) },
);

const filters: fc.Arbitrary<Comparison[]> = fc.array(
  fc.constantFrom(...plainFields).chain((field) => fc.option(valuesOf(field)).map((value) => comparison(field, value))),
  { maxLength: 2 },
);

// Values of plain fields are literals; instants are compared in the form returned.
function comparison(field: EventField, value: unknown): Comparison {
  return { field, value: shown(field, value) as Comparison['value'] };
}

const orders: fc.Arbitrary<OrderItem[]> = fc.array(
  fc.record({ field: fc.constantFrom(...plainFields), isDescending: fc.boolean() }),
  { maxLength: 3 },
);

function shown(field: EventField, value: unknown): unknown {
  if (typeof value !== 'string' || eventFields[field] !== 'instant') return value ?? null;
  return new Date(value).toISOString();
}

/** OData's order: null before every value, false before true; text here by its UTF-8 bytes. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return Number(a) - Number(b);
}

function answerOf(
  state: ReadonlyMap<string, PostedEvent>,
  filter: readonly Comparison[],
  orderBy: readonly OrderItem[],
): PostedEvent[] {
  const asked = orderBy.length > 0 ? orderBy : [{ field: 'occurredAt' as const, isDescending: true }];
  // A field named twice orders only once; ties go by id, in the direction of the last clause.
  const order = asked.filter(({ field }, i) => asked.findIndex((item) => item.field === field) === i);
  const total = [...order, { field: 'id' as const, isDescending: order.at(-1)?.isDescending ?? false }];
  const matches = [...state.values()].filter((event) => filter.every(({ field, value }) => event[field] === value));
  return matches.sort((a, b) => {
    for (const { field, isDescending } of total) {
      const way = compare(a[field], b[field]);
      if (way !== 0) return isDescending ? -way : way;
    }
    return 0;
  });
}

/** A new collection, and its content as far as responses have shown it. */
async function openCollection() {
  const collection = `c${collectionCount++}`;
  await events.addCollection(collection, caller);
  const state = new Map<string, PostedEvent>();
  const apply = async (change: Change): Promise<void> => {
    const { id } = change;
    if (change.kind === 'put') {
      const answer = await caller.post(collection, { ...change.event, id });
      expect(answer.statusCode).toBe(state.has(id) ? 200 : 201);
      // With every field, as a query by id returns it.
      const [event] = (await caller.list(collection, `$filter=id eq '${id}'`)).body.data;
      state.set(id, event ?? {});
      return;
    }
    const answer = await caller.send('DELETE', `/core/events/${id}`, { ercollectionid: collection });
    expect(answer.statusCode).toBe(state.delete(id) ? 204 : 404);
  };
  return { collection, state, apply };
}

describe('the pages of a query (interface 4.4)', () => {
  it('together are the state at the first page, each event once, whatever is written between them', async () => {
    const cases = fc.record({
      before: fc.array(changes, { maxLength: 25 }),
      between: fc.array(changes, { maxLength: 10 }),
      filter: filters,
      orderBy: orders,
      top: fc.option(fc.nat(20), { nil: undefined }),
      sizes: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 }),
      print: fc.constantFrom(asParameters, asOptions),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ before, between, filter, orderBy, top, sizes, print }) => {
        const { collection, state, apply } = await openCollection();
        for (const change of before) await apply(change);
        const matches = answerOf(state, filter, orderBy);
        const query = print({
          ...(filter.length > 0 ? { $filter: printFilter(filter) } : {}),
          ...(orderBy.length > 0 ? { $orderby: printOrder(orderBy) } : {}),
          ...(top === undefined ? {} : { $top: String(top) }),
        });
        const waiting = [...between];
        let pageCount = 0;
        const pages = await listAll(
          caller,
          collection,
          query,
          () => sizes[pageCount++ % sizes.length]!,
          async () => {
            for (const change of waiting.splice(0, 3)) await apply(change);
          },
        );
        if (matches.length === 0) {
          expect(pages.map(({ statusCode }) => statusCode)).toEqual([204]);
          return;
        }
        expect(pages.flatMap(({ body }) => body.data)).toEqual(matches.slice(0, top));
        for (const { body } of pages) expect(body.paging.totalCount).toBe(matches.length);
        for (const { body } of pages.slice(1)) expect(body.data.length).toBeGreaterThan(0);
      }),
      { numRuns: 60 },
    );
  });

  it('are the state at the first page even after a restart between them', async () => {
    const { collection, state, apply } = await openCollection();
    for (let i = 0; i < 12; i++) await apply({ kind: 'put', id: `e${i}`, event: { severity: `s${i % 3}` } });
    const query = '$orderby=severity desc';
    const expected = answerOf(state, [], [{ field: 'severity', isDescending: true }]);
    let restartCount = 0;
    const pages = await listAll(
      caller,
      collection,
      query,
      () => 5,
      async () => {
        for (let i = 0; i < 12; i++) await apply({ kind: i % 2 === 0 ? 'delete' : 'put', id: `e${i}`, event: {} });
        for (let i = 0; i < 12; i++) await apply({ kind: 'put', id: `e${i}`, event: { severity: `t${restartCount}` } });
        restartCount++;
        await events.service.reopen();
      },
    );
    expect(restartCount).toBe(2);
    expect(pages.flatMap(({ body }) => body.data)).toEqual(expected);
  });

  it('differ from those of a query that starts later', async () => {
    const { collection, apply } = await openCollection();
    await apply({ kind: 'put', id: 'a', event: { name: 'old' } });
    await apply({ kind: 'put', id: 'b', event: { name: 'old' } });
    const query = '$orderby=id&$select=id,name';
    const first = await caller.list(collection, query, { pagesize: '1' });
    await apply({ kind: 'put', id: 'b', event: { name: 'new' } });
    await apply({ kind: 'put', id: 'c', event: { name: 'new' } });
    await apply({ kind: 'delete', id: 'a' });
    const continuationtoken = String(first.body.paging.continuationToken);
    const second = await caller.list(collection, query, { continuationtoken });
    expect(second.body).toMatchObject({
      data: [{ id: 'b', name: 'old' }],
      paging: { totalCount: 2, continuationToken: null },
    });
    const later = await caller.list(collection, query);
    expect(later.body).toMatchObject({
      data: [
        { id: 'b', name: 'new' },
        { id: 'c', name: 'new' },
      ],
      paging: { totalCount: 2 },
    });
  });

  it('can start where events without a value follow those with one, in either direction', async () => {
    const { collection, apply } = await openCollection();
    for (let i = 0; i < 9; i++) {
      const occurredAt = i % 3 === 0 ? null : `2024-01-0${i}T00:00:00.000Z`;
      await apply({ kind: 'put', id: `e${i}`, event: { occurredAt } });
    }
    const idsBy = async (direction: string, size: number) => {
      const pages = await listAll(caller, collection, `$orderby=occurredAt ${direction}`, () => size);
      return pages.flatMap(({ body }) => body.data.map(({ id }) => id)).join(' ');
    };
    for (const size of [1, 2, 3, 4, 6, 9]) {
      expect(await idsBy('desc', size)).toBe('e8 e7 e5 e4 e2 e1 e6 e3 e0');
      expect(await idsBy('asc', size)).toBe('e0 e3 e6 e1 e2 e4 e5 e7 e8');
    }
  });
});
