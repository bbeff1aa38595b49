// Streams whose previews a thread computes, while samples and other previews change what they read.
import { afterEach, expect, it } from 'vitest';
import { createInlinePool, type StepPool } from '../../../src/service/operations/compute/pool.js';
import { nextTurn } from '../../../src/storage/next-turn.js';
import { expectSame } from '../../laws/running.js';
import { change, item, minutes } from './posted.js';
import { openRig, type Rig, waitingWork } from './rig.js';

let rig: Rig;
afterEach(() => rig.close());

const room = minutes('room', 400, (i) => (i * 37) % 100);
const LONG = { timeseriesId: 'long', metric: 'Result' };

/** Before each step with a preview: how many there were before. */
let duringStep: (count: number) => Promise<void>;

/** Every item whose result is called `long…` takes a second, in steps of 50 samples; others take no time. */
async function open(...requested: readonly object[]): Promise<void> {
  let count = 0;
  duringStep = async () => {};
  const inline = createInlinePool();
  const run: StepPool['run'] = async (plan, state, chunks, options) => {
    const isLong = plan.items.at(-1)!.output.timeseriesId.startsWith(LONG.timeseriesId);
    if (isLong && options.tail !== undefined) await duringStep(count++);
    const ms = isLong ? 1000 : 0;
    return { ...(await inline.run(plan, state, chunks, options)), workMs: ms, previewMs: ms };
  };
  rig = await openRig({
    groups: 1,
    settings: { workerCount: 1 },
    sizes: { inlineSamplesMax: 60, sliceSamples: 50, checkpointSamples: 50 },
    pool: () => ({ ...inline, run }),
  });
  await rig.append(change(room, 0, 300));
  await rig.append({ ...change(room, 0, 300), timeseriesId: 'still' });
  // Each for itself, or one would compute what it reads of another.
  for (const one of requested) await rig.register([one]);
  await rig.worker().onIdle();
}

const sums = item('Aggregate', { function: 'Sum', interval: 'Hourly' }, ['room'], 'long');

/** The sample at a minute once more, with another value. */
const rewritten = (minute: number, value: number) => ({
  ...change(room, minute, minute + 1),
  value: Float64Array.of(value),
});

async function expectBatch(): Promise<void> {
  const { expected, found } = await rig.compare();
  expectSame(found, expected);
  expect(await waitingWork(rig)).toEqual([]);
}

/** Until the worker has taken a sample in. */
async function absorbed(isTaken: () => Promise<boolean>): Promise<void> {
  while (!(await isTaken())) await nextTurn();
}

it('is computed again where the preview of a source changes during the step', async () => {
  const hourly = item('Aggregate', { function: 'Sum', interval: 'Hourly' }, ['room'], 'short');
  const short = { timeseriesId: 'short', metric: 'Result' };
  const input = [short, { timeseriesId: 'still', metric: 'Raw' }];
  const long = {
    metric: 'Result',
    processingType: 'stream',
    operations: [{ operation: 'Coalesce', input, output: [LONG], parameters: {} }],
  };
  await open(hourly, long);
  let stepCount = 0;
  const last = async () => (await rig.stored(short)).value.at(-1);
  duringStep = async () => {
    stepCount++;
    if (stepCount > 1) return;
    const before = await last();
    await rig.append(change(room, 301, 302));
    await absorbed(async () => (await last()) !== before);
  };
  await rig.append(change(room, 300, 301));
  await rig.worker().onIdle();
  expect(stepCount).toBe(2);
  await expectBatch();
});

it('comes to be stored where samples that it has read keep changing', async () => {
  await open(sums);
  const seen = new Set<number>();
  const COUNT = 6;
  duringStep = async (count) => {
    seen.add((await rig.stored(LONG)).value.at(-1)!);
    if (count >= COUNT) return;
    await rig.append(rewritten(310, 1000 + count));
    await rig.append(rewritten(290, 2000 + count));
    expect((await rig.items())[0]!.state).toBe('Active');
    for (let turn = 0; turn < 50; turn++) await nextTurn();
  };
  await rig.append(change(room, 300, 311));
  await rig.worker().onIdle();
  // What the steps before have stored, though each was outdated when it ended.
  expect(seen.size).toBeGreaterThan(COUNT / 2);
  await expectBatch();
});

it('fails for good after some failures in a row only, not after as many over its life', async () => {
  await open(sums);
  duringStep = async (count) => {
    if (count < 12) await rig.append(change(room, 301 + count, 302 + count));
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    if (count % 2 === 0) throw new Error('simulated: the thread died');
  };
  await rig.append(change(room, 300, 301));
  for (let round = 0; round < 10; round++) {
    await rig.worker().onIdle();
    rig.advance(2000);
  }
  await rig.worker().onIdle();
  expect((await rig.items())[0]!.state).toBe('Active');
  await expectBatch();
});

it('lets an item that is new and short have its turn before all others that are long', async () => {
  const hourly = { function: 'Sum', interval: 'Hourly' };
  const ids = Array.from({ length: 8 }, (_, i) => `long${i}`);
  await open(...ids.map((id) => item('Aggregate', hourly, ['room'], id)));
  const [FROM, UNTIL] = [20, 60];
  let isDoneAt: number | undefined;
  duringStep = async (count) => {
    rig.advance(1000);
    if (count < UNTIL) await rig.append(rewritten(301, count));
    if (count === FROM) await rig.register([item('Aggregate', hourly, ['room'], 'short')]);
    const isDone = (await rig.stored({ timeseriesId: 'short', metric: 'Result' })).timeMs.length > 0;
    if (isDone) isDoneAt ??= count;
    for (let turn = 0; turn < 50; turn++) await nextTurn();
  };
  await rig.append(change(room, 300, 302));
  await rig.worker().onIdle();
  expect(isDoneAt).toBeLessThanOrEqual(FROM + 2);
  await expectBatch();
});
