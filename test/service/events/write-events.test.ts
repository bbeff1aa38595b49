import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, type OpenedEvents, openEvents } from './opened.js';

let events: OpenedEvents;
let caller: Caller;

beforeAll(async () => {
  events = await openEvents({ settings: { bodyBytesMax: 100_000 } });
  caller = await events.addCaller();
  await events.addCollection('main', caller);
});
afterAll(() => events.service.close());

const all = async (collection: string) =>
  (await caller.list(collection, '$orderby=id', { pagesize: '1000' })).body.data;

it('10,000 events are read and stored in slices between other requests, and become visible all at once', async () => {
  const opened = await openEvents();
  const [writer, reader] = [await opened.addCaller(), await opened.addCaller()];
  await opened.addCollection('many', writer, reader);
  let isDone = false;
  const count = async (): Promise<number> => {
    const answer = await reader.list('many', '$top=0');
    return answer.statusCode === 204 ? 0 : (answer.body.paging.totalCount ?? 0);
  };
  const counts: number[] = [];
  let turnCount = 0;
  const turns = (async () => {
    for (; !isDone; turnCount++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (turnCount % 20 === 0) void count().then((one) => counts.push(one));
    }
  })();
  const many = Array.from({ length: 10_000 }, (_, i) => ({ id: `e-${i}`, eventDetails: { i } }));
  expect((await writer.post('many', many)).body.data).toMatchObject({ created: 10_000 });
  isDone = true;
  await turns;
  // Reading, completing and storing yield 49 times each.
  expect(turnCount).toBeGreaterThan(140);
  expect(await count()).toBe(10_000);
  expect(new Set(counts.filter((one) => one !== 0 && one !== 10_000))).toEqual(new Set());
  await opened.service.close();
});

describe('POST /core/events', () => {
  it('stores one event or many, creates missing ids, and reports what it did', async () => {
    await events.addCollection('ids', caller);
    const one = await caller.post('ids', { name: 'first' });
    expect(one.statusCode).toBe(201);
    expect(one.body).toMatchObject({
      status: { message: '', code: '201' },
      data: { ids: [expect.stringMatching(/^[0-9a-f-]{36}$/)], created: 1, replaced: 0, unchanged: 0 },
    });
    const two = await caller.post('ids', [{ id: 'z' }, { name: 'last' }]);
    expect(two.body.data).toMatchObject({ ids: ['z', expect.any(String)], created: 2 });
    expect((await all('ids')).map(({ name }) => name).sort()).toEqual(['first', 'last', null]);
  });

  it('replaces an event of the same id as a whole; the same event again changes nothing', async () => {
    await events.addCollection('upsert', caller);
    const event = { id: 'a', name: 'x', severity: 'High', occurredAt: '2024-01-31T12:00:00Z' };
    expect((await caller.post('upsert', event)).body.data).toMatchObject({ created: 1, replaced: 0, unchanged: 0 });
    const again = await caller.post('upsert', { ...event, occurredAt: '2024-01-31T13:00:00.000+01:00' });
    expect([again.statusCode, again.body.status.code]).toEqual([200, '200']);
    expect(again.body.data).toMatchObject({ created: 0, replaced: 0, unchanged: 1 });
    const changed = await caller.post('upsert', [{ id: 'a', name: 'y' }, { id: 'b' }]);
    expect(changed.statusCode).toBe(201);
    expect(changed.body.data).toMatchObject({ ids: ['a', 'b'], created: 1, replaced: 1, unchanged: 0 });
    expect(await all('upsert')).toMatchObject([{ id: 'a', name: 'y', severity: null, occurredAt: null }, { id: 'b' }]);
  });

  it('keeps ids of different collections and organisations apart', async () => {
    const other = await events.addCaller('other');
    await events.addCollection('one', caller);
    await events.addCollection('two', caller);
    await events.addCollection('one', other);
    for (const [by, collection] of [
      [caller, 'one'],
      [caller, 'two'],
      [other, 'one'],
    ] as const) {
      const { statusCode } = await by.post(collection, { id: 'same', name: `${by.organisation} ${collection}` });
      expect(statusCode).toBe(201);
    }
    expect(await all('one')).toMatchObject([{ name: 'acme one' }]);
    expect(await all('two')).toMatchObject([{ name: 'acme two' }]);
    expect((await other.list('one')).body.data).toMatchObject([{ name: 'other one' }]);
  });

  it('takes the collection from each event if there is no header', async () => {
    await events.addCollection('red', caller);
    await events.addCollection('blue', caller);
    const body = JSON.stringify([
      { id: 'r', ercollectionid: 'red' },
      { id: 'b', ercollectionid: 'blue' },
    ]);
    const json = { 'content-type': 'application/json' };
    expect((await caller.send('POST', '/core/events', json, body)).statusCode).toBe(201);
    expect([(await all('red')).length, (await all('blue')).length]).toEqual([1, 1]);
  });

  it('accepts NDJSON, by any of its names', async () => {
    await events.addCollection('lines', caller);
    const types = ['application/x-ndjson', 'application/ndjson; charset=utf-8', 'application/jsonl'];
    for (const [index, type] of types.entries()) {
      const headers = { ercollectionid: 'lines', 'content-type': type };
      const body = `{"id":"${index}a"}\n{"id":"${index}b"}\n`;
      expect((await caller.send('POST', '/core/events', headers, body)).statusCode).toBe(201);
    }
    expect(await all('lines')).toHaveLength(6);
  });

  it('NDJSON that is not JSON is refused with the line, the column and what is expected there', async () => {
    await events.addCollection('faulty', caller);
    const headers = { ercollectionid: 'faulty', 'content-type': 'application/x-ndjson' };
    const { body } = await caller.send('POST', '/core/events', headers, '{"id":"a"}\n{"id":\'b\'}\n');
    expect(body.data).toMatchObject({
      issues: [
        { line: 2, expected: 'an event as JSON', received: expect.stringMatching(/ in column 7, where a value /) },
      ],
    });
  });

  it('stores all of a body or nothing: 400 with every issue, by JSON pointer', async () => {
    await events.addCollection('whole', caller);
    const answer = await caller.post('whole', [{ id: 'a' }, { id: 'b', severty: 'High', latitude: 'north' }]);
    expect(answer.statusCode).toBe(400);
    expect(answer.body.data).toEqual({
      issueCount: 2,
      issues: [
        {
          pointer: '/1/severty',
          code: 'request.unknown',
          expected: 'a field of an event',
          received: '"severty"',
          suggestion: 'did you mean `severity`?',
        },
        { pointer: '/1/latitude', code: 'request.type', expected: 'a finite number or null', received: '"north"' },
      ],
    });
    expect((await caller.list('whole')).statusCode).toBe(204);
  });

  it('refuses bodies that are not JSON, too large or of another type', async () => {
    const send = (type: string, body: string) =>
      caller.send('POST', '/core/events', { ercollectionid: 'main', 'content-type': type }, body);
    expect((await send('application/json', '{"id":')).statusCode).toBe(400);
    expect((await send('application/json', '')).statusCode).toBe(400);
    expect((await send('text/csv', 'id\na')).statusCode).toBe(415);
    expect((await send('application/json', JSON.stringify({ descr: 'x'.repeat(100_000) }))).statusCode).toBe(413);
    expect((await send('application/x-ndjson', JSON.stringify({ descr: 'x'.repeat(100_000) }))).statusCode).toBe(413);
  });

  it('401, 403: needs a token with core_write, and access to every collection it writes to', async () => {
    const reader = await events.addCaller('acme', 'core_read');
    const writer = await events.addCaller('acme', 'core_write');
    await events.addCollection('main', reader, writer);
    expect((await reader.post('main', { id: 'x' })).statusCode).toBe(403);
    expect((await writer.post('main', { id: 'x' })).statusCode).toBe(201);
    const json = { 'content-type': 'application/json', 'x-correlation-id': 'same' };
    const refused = await Promise.all(
      ['not there', 'upsert'].map((collection) => {
        const body = JSON.stringify([{ id: 'y', ercollectionid: 'main' }, { ercollectionid: collection }]);
        return writer.send('POST', '/core/events', json, body);
      }),
    );
    expect(refused.map(({ statusCode }) => statusCode)).toEqual([403, 403]);
    expect(refused[0]?.payload).toBe(refused[1]?.payload);
    expect((await caller.list('main', "$filter=id eq 'y'")).statusCode).toBe(204);
    const { app } = events.service;
    const anonymous = await app.inject({ method: 'POST', url: '/core/events', payload: {} });
    expect(anonymous.statusCode).toBe(401);
  });

  it('counts what it wrote', async () => {
    const written = async () =>
      (await events.service.service.context.metrics.eventsWritten.get()).values[0]?.value ?? 0;
    await events.addCollection('metrics', caller);
    const before = await written();
    await caller.post('metrics', [{ id: 'a' }, { id: 'b' }]);
    await caller.post('metrics', [{ id: 'a' }, { id: 'b', name: 'new' }]);
    expect((await written()) - before).toBe(3);
  });
});

describe('DELETE /core/events/{id}', () => {
  const remove = (by: Caller, id: string, collection = 'deleted') =>
    by.send('DELETE', `/core/events/${encodeURIComponent(id)}`, { ercollectionid: collection });

  it('deletes an event of a collection, once; the id can be used again', async () => {
    await events.addCollection('deleted', caller);
    await caller.post('deleted', [{ id: 'a/b c' }, { id: 'other' }]);
    const { statusCode, payload } = await remove(caller, 'a/b c');
    expect([statusCode, payload]).toEqual([204, '']);
    expect((await remove(caller, 'a/b c')).statusCode).toBe(404);
    expect((await all('deleted')).map(({ id }) => id)).toEqual(['other']);
    expect((await caller.post('deleted', { id: 'a/b c' })).body.data).toMatchObject({ created: 1 });
    expect((await caller.list('deleted')).body.paging.totalCount).toBe(2);
  });

  it('needs core_admin, and an allowed collection that is named', async () => {
    const writer = await events.addCaller('acme', 'core_read core_write');
    await events.addCollection('deleted', caller, writer);
    expect((await remove(writer, 'other')).statusCode).toBe(403);
    const admin = await events.addCaller('acme', 'core_admin');
    expect((await remove(admin, 'other')).statusCode).toBe(403);
    expect((await remove(admin, 'other', 'not there')).payload).toBe((await remove(admin, 'other')).payload);
    expect((await caller.send('DELETE', '/core/events/other')).statusCode).toBe(400);
  });
});

describe('/openapi.json', () => {
  it('describes every route, parameter and response of events', async () => {
    const { paths } = (await events.service.app.inject('/openapi.json')).json();
    const { get, post } = paths['/core/events'];
    const named = (parameters: readonly { in: string; name: string; required?: boolean }[], place: string) =>
      parameters
        .filter((parameter) => parameter.in === place)
        .map(({ name, required }) => `${name}${required ? '!' : ''}`);
    expect(named(get.parameters, 'header')).toEqual(['ercollectionid!', 'continuationToken', 'PageSize']);
    expect(named(get.parameters, 'query')).toEqual([
      'OdataQueryOptions',
      '$top',
      '$count',
      '$filter',
      '$select',
      '$orderby',
    ]);
    const done = (responses: object) => Object.keys(responses).filter((status) => status < '400');
    expect(done(get.responses)).toEqual(['200', '204']);
    expect(Object.keys(post.requestBody.content)).toEqual(['application/json', 'application/x-ndjson']);
    expect(done(paths['/core/events/{id}'].delete.responses)).toEqual(['204']);
  });
});
