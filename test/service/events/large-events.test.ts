import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEventQuery } from '../../../src/service/events/odata/query.js';
import { readPage } from '../../../src/service/events/page.js';
import { readJsonEvents, readNdjsonEvents } from '../../../src/service/events/read-events.js';
import { completeEvents } from '../../../src/service/events/record.js';
import { storeEvents } from '../../../src/service/events/store.js';
import { shardOf } from '../../../src/storage/shard.js';
import { turnsDuring } from '../turns-during.js';
import { type Caller, type OpenedEvents, openEvents } from './opened.js';

const COUNT = 60;
const CHARS = 60_000;
/** How many turns the work over all of these takes at least, about 128 KiB each; by their number it would be one. */
const TURNS_MIN = 18;

const large = (chars = CHARS, more = {}) =>
  Array.from({ length: COUNT }, (_, i) => ({ id: `e${i}`, eventDetails: { text: 'x'.repeat(chars) }, ...more }));
const lines = (events: readonly unknown[]) => events.map((event) => JSON.stringify(event)).join('\n');

const record = async (events: readonly unknown[]) => completeEvents(await readJsonEvents(events, 'c'), () => 'made');

describe('large events', () => {
  it('are read in turns by their size', async () => {
    const json = await turnsDuring(() => readJsonEvents(large(), 'c'));
    expect(json.turnCount).toBeGreaterThanOrEqual(TURNS_MIN);
    const ndjson = await turnsDuring(() => readNdjsonEvents(lines(large()), 'c'));
    expect(ndjson.turnCount).toBeGreaterThanOrEqual(2 * TURNS_MIN);
    expect(ndjson.result).toEqual(json.result);
    const completed = await turnsDuring(() => completeEvents(json.result, () => 'made'));
    expect(completed.turnCount).toBeGreaterThanOrEqual(TURNS_MIN);
  });

  it('are refused in turns', async () => {
    const refusal = (reading: Promise<unknown>) => reading.catch((error: unknown) => error);
    for (const read of [
      () => readJsonEvents(large(70_000), 'c'),
      () => readNdjsonEvents(lines(large(70_000)), 'c'),
      () => readJsonEvents(large(70_000, { eventDetails: { a: [Number.POSITIVE_INFINITY] } }), 'c'),
    ]) {
      const { turnCount, result } = await turnsDuring(() => refusal(read()));
      expect(turnCount).toBeGreaterThanOrEqual(COUNT);
      expect(result).toMatchObject({ statusCode: 400, details: { issueCount: COUNT } });
    }
  });

  it('in NDJSON have lines of at most 512 KiB, each of which is parsed in one piece', async () => {
    const line = `{"id":"a"${' '.repeat(512 * 1024)}}`;
    await expect(readNdjsonEvents(`{"id":"b"}\n${line}`, 'c')).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringContaining('expected an event in at most 524288 characters, received 524298'),
    });
  });
});

describe('a collection of large events', () => {
  const shard = shardOf('acme');
  const collection = { organisation: 'acme', ercollectionid: 'c' };
  let events: OpenedEvents;
  let caller: Caller;
  beforeEach(async () => {
    events = await openEvents();
    caller = await events.addCaller();
    await events.addCollection('c', caller);
  });
  afterEach(() => events.service.close());
  const store = async (posted: readonly unknown[]) => {
    const records = await record(posted);
    const { storage } = events.service.service.context;
    return turnsDuring(() => storage.transaction(shard, (tx) => storeEvents(tx, 'acme', records, 0)));
  };

  it('is stored, replaced and compared in turns by size', async () => {
    const added = await store(large());
    expect([added.result.created, added.turnCount >= TURNS_MIN]).toEqual([COUNT, true]);
    const same = await store(large());
    expect([same.result.unchanged, same.turnCount >= TURNS_MIN]).toEqual([COUNT, true]);
    // The body is small, what it replaces is not.
    const replaced = await store(large(1));
    expect([replaced.result.replaced, replaced.turnCount >= TURNS_MIN]).toEqual([COUNT, true]);
  });

  it('is listed in turns by size', async () => {
    await store(large());
    const { storage } = events.service.service.context;
    const search = { shard, collection, query: readEventQuery(''), pageSize: 1000, place: undefined };
    const { turnCount, result } = await turnsDuring(() => readPage((work) => storage.read(shard, work), search));
    expect(turnCount).toBeGreaterThanOrEqual(TURNS_MIN);
    // Between them others read and write.
    let readCount = 0;
    await readPage((work) => {
      readCount++;
      return storage.read(shard, work);
    }, search);
    expect(readCount).toBeGreaterThan(3);
    const { data } = (await caller.list('c', '$orderby=id asc', { pagesize: '1000' })).body;
    expect(`[${Buffer.concat(result!.records)}]`.length).toBe(JSON.stringify(data).length);
    const ids = large().map(({ id }) => id);
    expect(data.map(({ id, eventDetails }) => [id, eventDetails])).toEqual(
      ids.sort().map((id) => [id, { text: 'x'.repeat(CHARS) }]),
    );
  });

  it('is the same in one page as in many, whatever ties', async () => {
    const times = [null, ...[0, 0, 0, 1, 2].map((second) => `2026-01-01T00:00:0${second}.000Z`)];
    const posted = Array.from({ length: 150 }, (_, i) => ({
      id: `e${String((i * 37) % 150).padStart(3, '0')}`,
      occurredAt: i < 100 ? times[(i * 7) % times.length] : i < 130 ? times[1] : null,
      status: i % 3 === 0 ? 'open' : null,
      descr: i % 11 === 0 ? 'x'.repeat(60_000) : null,
    }));
    await store(posted);
    const byTime = (a: (typeof posted)[number], b: (typeof posted)[number]) =>
      (a.occurredAt ?? '').localeCompare(b.occurredAt ?? '') || a.id.localeCompare(b.id);
    for (const [query, expected] of [
      ['', [...posted].sort(byTime).reverse()],
      ['$orderby=occurredAt asc', [...posted].sort(byTime)],
      [
        "$filter=status eq 'open'",
        posted
          .filter(({ status }) => status === 'open')
          .sort(byTime)
          .reverse(),
      ],
      ['$orderby=id desc', [...posted].sort((a, b) => b.id.localeCompare(a.id))],
    ] as const) {
      const ids = expected.map(({ id }) => id);
      for (const pageSize of [1000, 40, 17]) {
        const found: unknown[] = [];
        let continuationtoken = '';
        do {
          const headers = { pagesize: String(pageSize), ...(continuationtoken === '' ? {} : { continuationtoken }) };
          const { body } = await caller.list('c', query, headers);
          found.push(...body.data.map(({ id }) => id));
          continuationtoken = body.paging.continuationToken ?? '';
        } while (continuationtoken !== '');
        expect([query, pageSize, found]).toEqual([query, pageSize, ids]);
      }
    }
  });
});
