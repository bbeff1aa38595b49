import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listEvents } from '../../../src/service/events/list.js';
import type { SearchEvents } from '../../../src/service/events/page.js';
import { createContinuationTokens } from '../../../src/service/http/continuation.js';
import { HungThreadError } from '../../../src/service/threads.js';
import { turnsDuring } from '../turns-during.js';
import { type Caller, type OpenedEvents, openEvents } from './opened.js';

const COLLECTION = 'alarms';
const RARE = "$filter=vDeviceId eq 'd7'";

describe.runIf(process.env.WINDROW_TEST_STORE !== 'postgres')('a search of a whole collection', () => {
  let events: OpenedEvents;
  let caller: Caller;
  beforeEach(async () => {
    events = await openEvents({ ownsStore: true });
    caller = await events.addCaller();
    await events.addCollection(COLLECTION, caller);
  });
  afterEach(() => events.service.close());
  const post = async (count: number) => {
    for (let from = 0; from < count; from += 1000) {
      const some = Array.from({ length: Math.min(1000, count - from) }, (_, i) => ({
        id: `e${from + i}`,
        vDeviceId: `d${from + i}`,
      }));
      expect((await caller.post(COLLECTION, some)).statusCode).toBe(201);
    }
  };
  /** Lists while another task takes turns; returns how many it had. */
  const turnsOfListing = async (query: string) => {
    const { turnCount, result } = await turnsDuring(() => caller.list(COLLECTION, query));
    expect(result.body.data).toMatchObject([{ id: 'e7' }]);
    return turnCount;
  };

  it('lets other requests have their turns', async () => {
    await post(6000);
    // The thread starts with the first search.
    await turnsOfListing(RARE);
    const few = await turnsOfListing("$filter=id eq 'e7'");
    // On a busy machine this thread may get no turn while the other one searches: one search of several shows it.
    await expect.poll(() => turnsOfListing(RARE), { interval: 1, timeout: 30_000 }).toBeGreaterThan(10 * few);
  });

  const listThrough = (searchEvents: SearchEvents) => {
    const context = { ...events.service.service.context, searchEvents };
    const { organisation, clientId } = caller;
    const principal = { organisation, clientId, username: null, scopes: new Set(['core_read']) };
    const request = { collection: COLLECTION, rawQuery: RARE, pageSize: 10, continuationToken: undefined };
    return listEvents(context, createContinuationTokens(context), principal, request);
  };

  it('is done by the main thread, with a warning, where the thread for it dies', async () => {
    await post(10);
    const pieces = await listThrough(() => Promise.reject(new Error('Worker terminated')));
    expect(JSON.parse(Buffer.concat(pieces!).toString()).data).toMatchObject([{ id: 'e7' }]);
    expect(events.service.logLines.join()).toContain('events are searched in the main thread');
  });

  it('that takes too long is a 503, which says what to ask for instead', async () => {
    const hung = new HungThreadError('searchEvents', { ms: 60_000, scheduler: events.service.clock.scheduler });
    await expect(listThrough(() => Promise.reject(hung))).rejects.toMatchObject({
      statusCode: 503,
      message: expect.stringContaining('status eq'),
    });
  });
});
