import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createSampleBatch,
  type SampleBatch,
  takeChanges,
  takeRows,
} from '../../../src/service/timeseries/write/batch.js';
import { Gatherer } from '../../../src/service/timeseries/write/gather.js';
import { readSamples, SampleIssues } from '../../../src/service/timeseries/write/json.js';
import type { Ingest } from '../../../src/service/timeseries/write/sink.js';
import { nextTurn } from '../../../src/storage/next-turn.js';
import { placementOf, shardOf } from '../../../src/storage/shard.js';
import { type Bed, openBed } from '../../storage/samples/bed.js';
import { listAll } from '../../storage/samples/list-all.js';
import { openTestService, type TestService } from '../app.js';

const START_MS = Date.UTC(2026, 0, 1);

interface Row {
  readonly timeseriesId?: string;
  readonly metric?: string;
  readonly second: number;
  readonly val: number;
}

const row = fc.record<Row>(
  {
    timeseriesId: fc.constantFrom('a', 'b', 'büro'),
    metric: fc.constantFrom('Raw', 'a'),
    second: fc.integer({ min: 0, max: 20 }),
    val: fc.integer({ min: -999, max: 999 }).map((tenths) => tenths / 10),
  },
  { requiredKeys: ['timeseriesId', 'second', 'val'] },
);
const form = fc.constantFrom(
  ['timeseriesId', 'metric', 'timestamp', 'val'],
  ['val', 'timeseriesId', 'timestamp', 'metric'],
  ['timestamp', 'val', 'metric', 'timeseriesId'],
);
// Long enough for several objects in a row; a single one is read field by field.
const rising = fc
  .uniqueArray(row, { maxLength: 14, selector: ({ second }) => second })
  .map((rows) => rows.sort((a, b) => a.second - b.second));
const body = fc.record({ rows: fc.oneof(rising, fc.array(row, { maxLength: 14 })), form, isWide: fc.boolean() });
function textOf({ rows, form, isWide }: { rows: readonly Row[]; form: readonly string[]; isWide: boolean }): string {
  const objects = rows.map(({ second, ...rest }) => {
    const timestamp = new Date(START_MS + second * 1000).toISOString();
    return Object.fromEntries(
      Object.entries({ ...rest, timestamp }).sort(([a], [b]) => form.indexOf(a) - form.indexOf(b)),
    );
  });
  return JSON.stringify(objects, null, isWide ? 1 : undefined);
}

const parsed = (of: Parameters<typeof textOf>[0]): readonly unknown[] => JSON.parse(textOf(of));

describe('consecutive bodies', () => {
  it('give the same changes in a batch that keeps its series as in new ones', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(row, { maxLength: 10 }), { maxLength: 6 }), async (groups) => {
        const kept = createSampleBatch();
        for (const rows of groups) {
          const samples = parsed({ rows, form: [], isWide: false });
          const own = createSampleBatch();
          for (const batch of [kept, own]) readSamples(samples, 0, samples.length, batch, new SampleIssues(), {});
          expect(takeRows(kept)).toEqual(await takeChanges(own));
        }
      }),
    );
  });
});

/** Reads samples from JSON into a batch, as ingest does. */
function reading(samples: readonly unknown[]): (batch: SampleBatch) => boolean {
  return (batch) => {
    const issues = new SampleIssues();
    readSamples(samples, 0, samples.length, batch, issues, {});
    return issues.count === 0;
  };
}

describe('gathered bodies', () => {
  let bed: Bed;
  let runCount = 0;
  beforeEach(async () => {
    bed = await openBed();
  });
  afterEach(() => {
    turnMs = 0;
    return bed.close();
  });

  let turnMs = 0;
  const openGatherer = () => {
    const { storage, samples } = bed;
    let nowMs = 0;
    const clock = { nowMs: () => START_MS, monotonicMs: () => (nowMs += turnMs) };
    return new Gatherer({ storage, samples, clock });
  };

  it('have the effect of storing them one after another, and none if their commit fails', async () => {
    const steps = fc.array(fc.tuple(body, fc.boolean(), fc.nat(9)), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const organisation = `org-${++runCount}`;
        const job: Ingest = { organisation, placement: placementOf(organisation, 1), defaults: {}, onStored: () => {} };
        const gatherer = openGatherer();
        const model = new Map<string, Map<number, number>>();
        let group: { rows: readonly Row[]; stored: Promise<void> }[] = [];
        const settle = async (isFailing: boolean): Promise<void> => {
          if (isFailing && group.some(({ rows }) => rows.length > 0)) bed.failCommit();
          const ends = await Promise.allSettled(group.map(({ stored }) => stored));
          for (const [i, { status }] of ends.entries()) {
            const { rows } = group[i]!;
            expect(status).toBe(isFailing && rows.length > 0 ? 'rejected' : 'fulfilled');
            if (status === 'fulfilled') apply(model, rows);
          }
          group = [];
        };
        for (const [one, isEnd, chance] of all) {
          const gathered = gatherer.take(job, reading(parsed(one)));
          if (gathered === undefined) continue;
          expect(gathered.counts).toEqual({ samples: one.rows.length, missing: 0, duplicate: 0 });
          group.push({ rows: one.rows, stored: gathered.stored });
          if (isEnd) await settle(chance === 0);
        }
        await settle(false);
        for (const [name, samples] of model) {
          const [timeseriesId = '', metric = ''] = name.split('/');
          const { timeMs, value } = await bed.storage.read(shardOf(organisation), (tx) =>
            bed.samples.read(tx, organisation, { timeseriesId, metric }),
          );
          const found = [...timeMs].map((time, i) => [time, value[i]]);
          expect(found).toEqual([...samples].sort(([a], [b]) => a - b));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('exclude large ones and those that go back in time, which are stored alone', () => {
    const gatherer = openGatherer();
    const job: Ingest = {
      organisation: 'acme',
      placement: placementOf('acme', 1),
      defaults: {},
      onStored: () => {},
    };
    const rows = Array.from({ length: 2000 }, (_, second) => ({ timeseriesId: 'a', second, val: 1 }));
    expect(gatherer.take(job, reading(parsed({ rows, form: [], isWide: false })))).toBeUndefined();
    expect(
      gatherer.take(job, reading(parsed({ rows: [rows[0]!, rows[0]!], form: [], isWide: false }))),
    ).toBeUndefined();
  });

  it('are one commit', async () => {
    const gatherer = openGatherer();
    const job: Ingest = {
      organisation: 'acme',
      placement: placementOf('acme', 1),
      defaults: {},
      onStored: () => {},
    };
    const stored = Array.from({ length: 20 }, (_, second) => {
      const samples = parsed({ rows: [{ timeseriesId: 'a', second, val: second }], form: [], isWide: false });
      return gatherer.take(job, reading(samples))!.stored;
    });
    await Promise.all(stored);
    expect(await bed.storage.read(shardOf('acme'), async (tx) => tx.lastCommit)).toBe(1);
  });

  it('are stored before their turn ends where one connection has long written alone, not where two do', async () => {
    const gatherer = openGatherer();
    let second = 0;
    const isStoredInTurn = async (connection: object): Promise<boolean> => {
      let hasEnded = false;
      setImmediate(() => {
        hasEnded = true;
      });
      const placement = placementOf('acme', 1);
      const job: Ingest = { organisation: 'acme', placement, defaults: {}, connection, onStored: () => {} };
      const samples = parsed({ rows: [{ timeseriesId: 'a', second: second++, val: 1 }], form: [], isWide: false });
      await gatherer.take(job, reading(samples))!.stored;
      return !hasEnded;
    };
    const [one, other] = [{}, {}];
    const alone: boolean[] = [];
    for (let i = 0; i < 20; i++) alone.push(await isStoredInTurn(one));
    expect(alone).toEqual(alone.map((_, i) => i >= 16));
    const both: boolean[] = [];
    for (let i = 0; i < 40; i++) both.push(await isStoredInTurn(i % 2 === 0 ? other : one));
    expect(both).not.toContain(true);
  });

  const commitsOfTurns = async (): Promise<number> => {
    const gatherer = openGatherer();
    const job: Ingest = { organisation: 'acme', placement: placementOf('acme', 1), defaults: {}, onStored: () => {} };
    const stored: Promise<void>[] = [];
    for (let second = 0; second < 40; second++) {
      const samples = parsed({ rows: [{ timeseriesId: 'a', second, val: second }], form: [], isWide: false });
      stored.push(gatherer.take(job, reading(samples))!.stored);
      // From the second one on the gatherer has looked in this turn before, and finds more in the next.
      if (second > 0) await nextTurn();
    }
    await Promise.all(stored);
    return bed.storage.read(shardOf('acme'), async (tx) => tx.lastCommit);
  };

  it('are one commit with those that come while they are read', async () => {
    expect(await commitsOfTurns()).toBe(1);
  });

  it('do not wait for ever while more come', async () => {
    turnMs = 3;
    expect(await commitsOfTurns()).toBeGreaterThan(4);
  });
});

function apply(model: Map<string, Map<number, number>>, rows: readonly Row[]): void {
  for (const { timeseriesId, metric = 'Raw', second, val } of rows) {
    const name = `${timeseriesId}/${metric}`;
    model.set(name, (model.get(name) ?? new Map()).set(START_MS + second * 1000, val));
  }
}

describe('concurrent requests', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService();
  });
  afterEach(() => service.close());

  it('are answered separately: one that writes to a result is refused, the others are stored', async () => {
    const headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
    const { storage, samples, placements } = service.service.context;
    const change = { timeseriesId: 'r', metric: 'Hourly', timeMs: Float64Array.of(0), value: Float64Array.of(1) };
    const { shardOf: placeOf, shards } = await placements.of('acme');
    await storage.transaction(placeOf('r'), (tx) => samples.append(tx, 'acme', [change], { itemId: 'item' }));
    const post = (rows: readonly object[]) =>
      service.app.inject({ method: 'POST', url: '/core/samples', headers, payload: rows });
    const timestamp = new Date(START_MS).toISOString();
    const answers = await Promise.all([
      post([{ timeseriesId: 'a', timestamp, val: 1 }]),
      post([
        { timeseriesId: 'b', timestamp, val: 2 },
        { timeseriesId: 'r', metric: 'Hourly', timestamp, val: 2 },
      ]),
      post([{ timeseriesId: 'c', timestamp, val: 3 }]),
      post([{ timeseriesId: 'd', timestamp, val: 'x' }]),
      post([
        { timeseriesId: 'e', timestamp, val: 4 },
        { timeseriesId: 'e', timestamp, val: 5 },
      ]),
    ]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 409, 200, 400, 200]);
    expect(answers[4]!.json().data).toEqual({ samples: 1, missing: 0, duplicate: 1, isRepeated: false });
    const lists = await Promise.all(shards.map((shard) => storage.read(shard, (tx) => listAll(samples, tx, 'acme'))));
    const found = lists.flat().map(({ timeseriesId }) => timeseriesId);
    // Each shard stores its part of a body as a whole.
    const isStoredWithResult = shards.length > 1 && placeOf('b') !== placeOf('r');
    expect(found.sort()).toEqual(['a', ...(isStoredWithResult ? ['b'] : []), 'c', 'e', 'r']);
  });
});
