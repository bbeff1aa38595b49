import buildQuery from 'odata-query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventFieldNames } from '../../../src/service/events/fields.js';
import { type Caller, listAll, type OpenedEvents, openEvents } from './opened.js';

let events: OpenedEvents;
let caller: Caller;

// Oldest first: e01 at noon, and one more each minute.
const posted = Array.from({ length: 25 }, (_, i) => ({
  id: `e${String(i + 1).padStart(2, '0')}`,
  name: i % 2 === 0 ? "O'Hare" : 'Fan & filter',
  severity: ['Low', 'High', null][i % 3],
  status: i % 5 === 0 ? 'Open' : 'Closed',
  isUserEvent: i % 4 === 0,
  latitude: i % 6 === 0 ? null : 50 + i / 2,
  occurredAt: new Date(Date.UTC(2024, 0, 31, 12, i)).toISOString(),
  eventDetails: { floor: i, Zones: ['a', { b: null }] },
  sourceEvent: { Type: 'alarm', Event: { raw: i } },
}));
const idsOf = (answer: { body: { data: readonly { id?: unknown }[] } }) => answer.body.data.map(({ id }) => id);

beforeAll(async () => {
  events = await openEvents();
  caller = await events.addCaller();
  await events.addCollection('main', caller);
  await events.addCollection('empty', caller);
  expect((await caller.post('main', posted)).statusCode).toBe(201);
});
afterAll(() => events.service.close());

describe('GET /core/events (interface 4.4)', () => {
  it('2.2: answers with the envelope: status, data as an array, and paging', async () => {
    const { statusCode, body, headers } = await caller.list('main');
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(Object.keys(body)).toEqual(['status', 'data', 'paging']);
    expect(body.status).toEqual({ message: '', code: '200' });
    expect(body.paging).toEqual({ totalCount: 25, continuationToken: null });
    expect(body.data).toHaveLength(25);
  });

  it('2.4: gives every field of an event, in the order of the table, null where it is not known', async () => {
    const [event] = (await caller.list('main', "$filter=id eq 'e02'")).body.data;
    expect(Object.keys(event ?? {})).toEqual(eventFieldNames);
    const { checksum, ...shown } = event ?? {};
    expect(checksum).toMatch(/^[0-9a-f]{64}$/);
    const unknown = Object.fromEntries(eventFieldNames.map((field) => [field, null]));
    const { checksum: _, ...expected } = { ...unknown, ...posted[1], ercollectionid: 'main' } as Record<
      string,
      unknown
    >;
    expect(shown).toEqual(expected);
  });

  it('6: each record carries the collection that it is of, and no other collection is seen', async () => {
    await events.addCollection('second', caller);
    await caller.post('second', { id: 'e01', name: 'of the second' });
    const second = await caller.list('second');
    expect(second.body.data).toMatchObject([{ id: 'e01', name: 'of the second', ercollectionid: 'second' }]);
    const first = await caller.list('main', "$filter=id eq 'e01'");
    expect(first.body.data).toMatchObject([{ id: 'e01', name: "O'Hare", ercollectionid: 'main' }]);
  });

  it('is newest first without $orderby', async () => {
    expect(idsOf(await caller.list('main'))).toEqual(posted.map(({ id }) => id).reverse());
  });

  it('takes the clauses as parameters and inside OdataQueryOptions, with the same answer', async () => {
    const options = "$filter=name eq 'Fan & filter' and isUserEvent eq false&$orderby=severity desc,id&$top=4";
    const inside = await caller.list('main', `OdataQueryOptions=${encodeURIComponent(options)}`);
    const filter = encodeURIComponent("name eq 'Fan & filter' and isUserEvent eq false");
    const apart = await caller.list('main', `$filter=${filter}&$orderby=severity%20desc,id&$top=4`);
    expect(inside.payload).toBe(apart.payload);
    // Low comes after High, and what has none comes last.
    expect(idsOf(inside)).toEqual(['e04', 'e10', 'e16', 'e22']);
    expect(inside.body.paging).toEqual({ totalCount: 12, continuationToken: null });
  });

  it('takes what odata-query builds', async () => {
    const query = buildQuery<Record<string, unknown>>({
      filter: { name: "O'Hare", severity: null, latitude: { eq: 51 } },
      select: ['id', 'latitude'],
      orderBy: 'id desc',
      top: 3,
      count: true,
    });
    const { body } = await caller.list('main', encodeURI(query.slice(1)).replaceAll('%25', '%'));
    expect(body.data).toEqual([{ id: 'e03', latitude: 51 }]);
  });

  it('$filter compares text, numbers, booleans, instants and null', async () => {
    const ids = async (filter: string) =>
      idsOf(await caller.list('main', `$filter=${encodeURIComponent(filter)}&$top=2`));
    expect(await ids("name eq 'O''Hare'")).toEqual(['e25', 'e23']);
    expect(await ids('latitude eq 5.05e1')).toEqual(['e02']);
    expect(await ids('isUserEvent eq true')).toEqual(['e25', 'e21']);
    expect(await ids('latitude eq null')).toEqual(['e25', 'e19']);
    expect(await ids("occurredAt eq '2024-01-31T13:05:00+01:00'")).toEqual(['e06']);
    expect(await ids("(severity eq 'High') and (status eq 'Open' and ercollectionid eq 'main')")).toEqual(['e11']);
  });

  it('$select gives the chosen fields alone, in the order of the table', async () => {
    const { body } = await caller.list('main', '$select=sourceEvent,severity,id&$top=1');
    expect(JSON.stringify(body.data)).toBe(
      '[{"id":"e25","severity":"Low","sourceEvent":{"Type":"alarm","Event":{"raw":24}}}]',
    );
  });

  it('$orderby puts null first ascending and last descending, text by its code points', async () => {
    const severities = async (direction: string) =>
      (await caller.list('main', `$orderby=severity ${direction}`)).body.data.map(({ severity }) => severity);
    const count = (value: unknown, length: number) => Array.from({ length }, () => value);
    const ascending = [...count(null, 8), ...count('High', 8), ...count('Low', 9)];
    expect(await severities('asc')).toEqual(ascending);
    expect(await severities('desc')).toEqual(ascending.reverse());
  });

  it('$count=false leaves totalCount out; otherwise it counts all matches, whatever $top says', async () => {
    expect((await caller.list('main', '$count=false')).body.paging).toEqual({ continuationToken: null });
    expect((await caller.list('main', '$count=true&$top=3')).body.paging.totalCount).toBe(25);
    expect((await caller.list('main', "$filter=status eq 'Open'&$top=1")).body.paging.totalCount).toBe(5);
  });

  it('$top bounds the events of all pages together; $top=0 gives the count alone', async () => {
    for (const [top, sizes] of [
      [0, [0]],
      [3, [3]],
      [4, [4]],
      [5, [4, 1]],
      [8, [4, 4]],
      [10, [4, 4, 2]],
      [100, [4, 4, 4, 4, 4, 4, 1]],
    ] as const) {
      const pages = await listAll(caller, 'main', `$top=${top}`, () => 4);
      expect(pages.map(({ body }) => body.data.length)).toEqual(sizes);
      expect(pages.map(({ body }) => body.paging.totalCount)).toEqual(sizes.map(() => 25));
    }
  });

  it('204: nothing matches, and there is no body', async () => {
    for (const query of [
      "$filter=name eq 'nobody'",
      "$filter=name eq 'nobody'&$count=false",
      '$filter=altitude eq 1&$top=0',
    ]) {
      const answer = await caller.list('main', query);
      expect([answer.statusCode, answer.payload]).toEqual([204, '']);
    }
    expect((await caller.list('empty')).statusCode).toBe(204);
  });
});

describe('pages (interface 2.2, 4.4, 8)', () => {
  it('8: PageSize is 100 by default, and 1 to 1000', async () => {
    await events.addCollection('large', caller);
    await caller.post(
      'large',
      Array.from({ length: 1001 }, (_, i) => ({ id: `e${i}` })),
    );
    const sizeOf = async (headers: Record<string, string>) =>
      (await caller.list('large', '', headers)).body.data.length;
    expect(await sizeOf({})).toBe(100);
    expect(await sizeOf({ PageSize: '1' })).toBe(1);
    expect(await sizeOf({ PageSize: '1000' })).toBe(1000);
  });

  it('8: a PageSize out of range, or no whole number, is 400', async () => {
    for (const pagesize of ['0', '1001', '-1', '1.5', '1e2', 'ten', '0x10', '5, 5', '9'.repeat(400)]) {
      const { statusCode, body } = await caller.list('main', '', { pagesize });
      expect([statusCode, body.status.code], pagesize).toEqual([400, '400']);
      expect(body.status.message).toMatch(/^header PageSize: expected a whole number from 1 to 1000, received/);
    }
  });

  it('are as large as asked for, until the last; a last full page is not followed by an empty one', async () => {
    for (const pageSize of [1, 4, 5, 24, 25, 26]) {
      const pages = await listAll(caller, 'main', '', () => pageSize);
      expect(pages.flatMap(idsOf)).toEqual(posted.map(({ id }) => id).reverse());
      expect(pages).toHaveLength(Math.ceil(25 / pageSize));
    }
  });

  it('need the query, the collection and the caller of the first; the size may change', async () => {
    const other = await events.addCaller();
    await events.addCollection('main', caller, other);
    await events.addCollection('twin', caller);
    const query = "$filter=name eq 'O''Hare'&$orderby=id";
    const first = await caller.list('main', query, { pagesize: '3' });
    const continuationtoken = String(first.body.paging.continuationToken);
    const refused = await Promise.all([
      caller.list('main', '$orderby=id', { continuationtoken }),
      caller.list('main', `${query}&$top=5`, { continuationtoken }),
      caller.list('main', `${query}&$select=id`, { continuationtoken }),
      caller.list('main', '', { continuationtoken }),
      caller.list('twin', query, { continuationtoken }),
      other.list('main', query, { continuationtoken }),
      caller.list('main', query, { continuationtoken: continuationtoken.slice(0, -1) }),
    ]);
    for (const { statusCode } of refused) expect(statusCode).toBe(400);
    // By the same words: what was wrong with a token is not told to whom it may not belong.
    expect(new Set(refused.map(({ payload }) => payload)).size).toBe(1);
    // The same query in other words, and another size.
    const written = `OdataQueryOptions=${encodeURIComponent("$orderby=id asc&$filter=(name  eq 'O''Hare')")}`;
    const second = await caller.list('main', written, { continuationtoken, pagesize: '2' });
    expect(idsOf(second)).toEqual(['e07', 'e09']);
  });

  it('of a token with any byte changed are 400', async () => {
    const first = await caller.list('main', '', { pagesize: '3' });
    const token = Buffer.from(String(first.body.paging.continuationToken), 'base64url');
    for (let i = 0; i < token.length; i++) {
      const changed = Buffer.from(token);
      changed[i] = token[i]! ^ 1;
      const answer = await caller.list('main', '', { continuationtoken: changed.toString('base64url') });
      expect(answer.statusCode).toBe(400);
    }
  });

  it('are each repeatable, and go on after a restart', async () => {
    const first = await caller.list('main', '', { pagesize: '10' });
    const continuationtoken = String(first.body.paging.continuationToken);
    const second = await caller.list('main', '', { pagesize: '10', continuationtoken });
    await events.service.reopen();
    const again = await caller.list('main', '', { pagesize: '10', continuationtoken });
    expect(idsOf(again)).toEqual(idsOf(second));
    const third = await caller.list('main', '', { continuationtoken: String(again.body.paging.continuationToken) });
    expect([first, again, third].flatMap(idsOf)).toEqual(posted.map(({ id }) => id).reverse());
  });
});

describe('errors of GET /core/events (interface 7.2)', () => {
  it('400: without ercollectionid, or with nothing in it', async () => {
    for (const headers of [{}, { ercollectionid: '' }, { ercollectionid: ' ' }]) {
      const { statusCode, body } = await caller.send('GET', '/core/events', headers);
      expect([statusCode, body.status.code]).toEqual([400, '400']);
      expect(body.status.message).toMatch(/^header ercollectionid: expected/);
    }
  });

  it('400: tells every clause that is not understood, with the place', async () => {
    const { statusCode, body } = await caller.list('main', '$filter=nme eq 1&$top=x&$skip=1&$filter=x');
    expect(statusCode).toBe(400);
    expect(body.data).toMatchObject({
      issues: [
        { clause: '$skip', position: 0 },
        { clause: '$filter', position: 0, received: 'it twice' },
        { clause: '$top', position: 0, expected: 'a whole number, 0 or more', received: 'x' },
        { clause: '$filter', position: 0, received: 'nme', suggestion: 'did you mean `name`?' },
      ],
    });
    expect(body.status.message).toContain('$top at 0: expected a whole number, 0 or more, received x');
  });

  it('401: without a token, or with one that is none, with the header of RFC 6750', async () => {
    const { app } = events.service;
    const headers = { ercollectionid: 'main' };
    const none = await app.inject({ url: '/core/events', headers });
    const wrong = await app.inject({ url: '/core/events', headers: { ...headers, authorization: 'Bearer none' } });
    expect([none.statusCode, wrong.statusCode]).toEqual([401, 401]);
    expect(none.headers['www-authenticate']).toMatch(/^Bearer realm=/);
    expect(wrong.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  it('403: a scope below core_read, while core_admin has all', async () => {
    const writer = await events.addCaller('acme', 'core_write');
    const admin = await events.addCaller('acme', 'core_admin');
    const reader = await events.addCaller('acme', 'core_read');
    await events.addCollection('main', writer, admin, reader);
    const answers = await Promise.all([writer, admin, reader].map((one) => one.list('main')));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([403, 200, 200]);
    expect(answers[0]?.headers['www-authenticate']).toContain('error="insufficient_scope"');
  });

  it('403: alike, byte for byte, for a collection that is not there and for those of others', async () => {
    const colleague = await events.addCaller();
    const stranger = await events.addCaller('other');
    await events.addCollection('of a colleague', colleague);
    await events.addCollection('of a stranger', stranger);
    await colleague.post('of a colleague', { id: 'x' });
    await stranger.post('of a stranger', { id: 'x' });
    const answers = await Promise.all(
      ['not there', 'of a colleague', 'of a stranger'].flatMap((collection) => [
        caller.list(collection, '', { 'x-correlation-id': 'same' }),
        caller.list(collection, "$filter=id eq 'x'&$top=1", { 'x-correlation-id': 'same' }),
      ]),
    );
    for (const { statusCode, payload, headers } of answers) {
      expect(statusCode).toBe(403);
      expect(payload).toBe(answers[0]?.payload);
      expect({ ...headers, date: '' }).toEqual({ ...answers[0]?.headers, date: '' });
    }
    expect(answers[0]?.body.status).toMatchObject({ code: '403' });
    expect(answers[0]?.headers['www-authenticate']).toContain('error="insufficient_scope"');
  });

  it('403: once a collection is no longer allowed, its tokens open nothing', async () => {
    const guest = await events.addCaller();
    await events.addCollection('main', caller, guest);
    const first = await guest.list('main', '', { pagesize: '1' });
    await events.removeAccess('main', guest);
    const continuationtoken = String(first.body.paging.continuationToken);
    expect((await guest.list('main', '', { continuationtoken })).statusCode).toBe(403);
  });
});
