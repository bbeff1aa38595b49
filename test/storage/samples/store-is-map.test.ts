import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Move, storeMove } from '../../../src/storage/samples/compaction/move.js';
import type { Sizes } from '../../../src/storage/samples/compaction/rewrite.js';
import type { SampleRange } from '../../../src/storage/samples/samples.js';
import type { SampleStore } from '../../../src/storage/samples/store.js';
import type { Reader, Transaction } from '../../../src/storage/storage.js';
import { expectEqual } from '../../equality.js';
import { type Bed, ORGANISATION, openBed } from './bed.js';
import { compactNow } from './compact-now.js';
import { listAll } from './list-all.js';
import { applyToModel, expectSameColumns, type Model, modelColumns } from './model.js';
import { type Act, METRICS, RESULT, rangeArbitrary, type Step, stepArbitrary } from './steps.js';

// The store in its simplest form: a Map of times to values for each series.

/** The series `RESULT` belongs to an item, with provisional samples beyond its final ones. */
interface World {
  readonly finals: Map<string, Model>;
  provisional: Model;
  /** Whether `RESULT` is still the result of an item. */
  isResult: boolean;
}

const small: Partial<Sizes> = {
  segmentSamples: 8,
  smallSamples: 2,
  callCost: 300,
  samplesMin: 10,
  seriesSamplesMin: 2,
};
const smallRounds: Partial<Sizes> = {
  ...small,
  callCost: 1,
  callSamples: 3,
  samplesMin: 1,
  roundSamplesMax: 10,
  rowsEnough: 3,
};
const beds: readonly (readonly [title: string, sizes: Partial<Sizes>])[] = [
  ['as it is', {}],
  ['with small segments', small],
  ['with small segments, one of them a call', smallRounds],
];

/** Compaction must come to an end: the samples of a run do not cover that many areas. */
const CALLS_MAX = 2000;

describe.each(beds)('the store of samples, %s,', (_, sizes) => {
  let bed: Bed;
  let runCount = 0;
  /** What each process prepared last. */
  const prepared: (Move | undefined)[] = [];

  beforeAll(async () => {
    bed = await openBed(sizes);
  });
  afterAll(() => bed.close());

  it('is a Map of times to values, whatever is appended, deleted, dropped, compacted and undone', async () => {
    const steps = fc.array(stepArbitrary, { minLength: 1, maxLength: 15, size: 'max' });
    await fc.assert(fc.asyncProperty(steps, fc.array(rangeArbitrary, { maxLength: 3 }), check), { numRuns: 40 });
  });

  async function check(steps: readonly Step[], ranges: readonly SampleRange[]): Promise<void> {
    // Runs share the database; each has series names of its own, so that what one leaves does not disturb others.
    const timeseriesId = `run-${++runCount}`;
    let world: World = { finals: new Map(), provisional: new Map(), isResult: false };
    for (const step of steps) {
      if (step.kind === 'reopen') await bed.reopen();
      else if (step.kind === 'advance') await advance(step);
      else if (step.kind === 'prepare') await prepare(step);
      else world = await takeGroup(timeseriesId, world, step);
      await expectAll(timeseriesId, world, ranges);
    }
    // Both compact, each the next piece of the same round: no claim prevents it.
    const processes = [bed.samples, bed.other];
    for (let isMore = true, call = 0; isMore; call++) {
      expect(call).toBeLessThan(CALLS_MAX);
      const samples = processes[call % 2]!;
      isMore = await bed.write((tx) => compactNow(samples, tx, tx.lastCommit, { isEager: true }), call % 2);
    }
    await expectAll(timeseriesId, world, ranges);
  }

  async function advance({ process, rowCountMax }: Extract<Step, { kind: 'advance' }>): Promise<void> {
    const samples = process === 0 ? bed.samples : bed.other;
    while (await bed.read((tx) => samples.log.loadNext(tx, { rowCountMax }), process));
  }

  async function prepare({ process, isEager, backBy }: Extract<Step, { kind: 'prepare' }>): Promise<void> {
    const samples = process === 0 ? bed.samples : bed.other;
    prepared[process] = await bed.read((tx) => samples.prepareMove(tx, tx.lastCommit - backBy, { isEager }), process);
  }

  /** What both processes see. */
  async function expectAll(timeseriesId: string, world: World, ranges: readonly SampleRange[]): Promise<void> {
    for (const [process, samples] of [bed.samples, bed.other].entries()) {
      await bed.read((tx) => expectWorld(tx, samples, timeseriesId, world, ranges), process);
    }
  }

  /** Works that share a commit; some throw at their end, or the disk undoes all of them. */
  async function takeGroup(
    timeseriesId: string,
    before: World,
    { works, isDiskFailing, process }: Extract<Step, { kind: 'group' }>,
  ): Promise<World> {
    const samples = process === 0 ? bed.samples : bed.other;
    if (isDiskFailing) bed.failCommit();
    let world = before;
    const ends = works.map(({ act, isUndone }) =>
      bed.write(async (tx) => {
        const draft = { ...world, finals: new Map([...world.finals].map(([of, model]) => [of, new Map(model)])) };
        if (act.kind === 'store') await store(tx, act);
        else await take(tx, samples, timeseriesId, draft, act);
        // A transaction sees what it has written itself.
        await expectWorld(tx, samples, timeseriesId, draft, []);
        if (isUndone) throw new Error('undone');
        world = draft;
      }, process),
    );
    const reasons = (await Promise.allSettled(ends)).map((end) =>
      end.status === 'rejected' ? String(end.reason) : '',
    );
    const expected = works.map(({ isUndone }) => (isDiskFailing ? 'the disk is full' : isUndone ? 'undone' : ''));
    for (const [i, reason] of reasons.entries()) expect(reason).toContain(expected[i]);
    expect(reasons.filter((reason) => reason !== '').length).toBe(expected.filter((reason) => reason !== '').length);
    return isDiskFailing ? before : world;
  }

  async function store(tx: Transaction, { preparedBy }: Extract<Act, { kind: 'store' }>): Promise<void> {
    const move = prepared[preparedBy];
    if (move !== undefined) await storeMove(tx, move);
  }
});

async function take(
  tx: Transaction,
  samples: SampleStore,
  timeseriesId: string,
  world: World,
  act: Exclude<Act, { kind: 'store' }>,
): Promise<void> {
  switch (act.kind) {
    case 'append': {
      const named = (isResult: boolean) =>
        act.changes
          .filter(([metric]) => (metric === RESULT) === isResult)
          .map(([metric, change]) => ({ timeseriesId, metric, ...change }));
      await samples.append(tx, ORGANISATION, named(false));
      await samples.append(tx, ORGANISATION, named(true), { itemId: 'item' });
      for (const [metric, change] of act.changes) {
        if (!world.finals.has(metric)) {
          world.finals.set(metric, new Map());
          if (metric === RESULT) world.isResult = true;
        }
        applyToModel(world.finals.get(metric)!, change);
      }
      return;
    }
    case 'compact':
      for (let call = 0; call < act.calls; call++) {
        if (!(await compactNow(samples, tx, tx.lastCommit - act.backBy, { isEager: act.isEager }))) return;
      }
      return;
    case 'provisional': {
      if (!world.isResult) return;
      await samples.setProvisional(tx, ORGANISATION, { timeseriesId, metric: RESULT, ...act.columns });
      world.provisional = new Map();
      applyToModel(world.provisional, act.columns);
      return;
    }
    case 'release':
      await samples.release(tx, ORGANISATION, { timeseriesId, metric: RESULT });
      if (!world.isResult) return;
      world.finals.set(RESULT, new Map([...world.provisional, ...world.finals.get(RESULT)!]));
      world.provisional = new Map();
      world.isResult = false;
      return;
    case 'drop':
      expect(await samples.drop(tx, ORGANISATION, { timeseriesId, metric: act.metric })).toBe(
        world.finals.delete(act.metric),
      );
      if (act.metric !== RESULT) return;
      world.provisional = new Map();
      world.isResult = false;
  }
}

async function expectWorld(
  tx: Reader,
  samples: SampleStore,
  timeseriesId: string,
  world: World,
  ranges: readonly SampleRange[],
): Promise<void> {
  const infos = await listAll(samples, tx, ORGANISATION, { timeseriesId });
  expectEqual(
    infos.map(({ metric }) => metric),
    [...world.finals.keys()].sort(),
  );
  for (const metric of METRICS) {
    const reference = { timeseriesId, metric };
    const finals = world.finals.get(metric) ?? new Map<number, number>();
    const all = new Map([...(metric === RESULT ? world.provisional : []), ...finals]);
    const info = await samples.info(tx, ORGANISATION, reference);
    expect(info).toEqual(infos.find((one) => one.metric === metric));
    if (info !== undefined) expect(info).toMatchObject(rangeOf(modelColumns(all).timeMs));
    if (metric === RESULT) expect(info?.itemId ?? null).toBe(world.isResult ? 'item' : null);
    const found = await samples.read(tx, ORGANISATION, reference);
    expectSameColumns(found, modelColumns(all));
    for (const range of ranges) {
      const expected = select(range.isFinalOnly === true ? finals : all, range);
      expectSameColumns(await samples.read(tx, ORGANISATION, reference, range), expected);
      const { fromMs = -Infinity, untilMs = Infinity } = range;
      const { timeMs } = select(finals, { fromMs, untilMs });
      expect(await samples.count(tx, ORGANISATION, reference, { fromMs, untilMs })).toBe(timeMs.length);
      expect(await samples.check(tx, ORGANISATION, reference, { fromMs, untilMs })).toBeUndefined();
    }
  }
}

function rangeOf(timeMs: Float64Array) {
  return { sampleCount: timeMs.length, firstMs: timeMs[0] ?? null, lastMs: timeMs.at(-1) ?? null };
}

function select(model: Model, { fromMs = -Infinity, untilMs = Infinity, limit = Infinity, isDescending }: SampleRange) {
  const { timeMs, value } = modelColumns(new Map([...model].filter(([time]) => time >= fromMs && time < untilMs)));
  const [from, until] = isDescending ? [Math.max(0, timeMs.length - limit), timeMs.length] : [0, limit];
  return { timeMs: timeMs.slice(from, until), value: value.slice(from, until) };
}
