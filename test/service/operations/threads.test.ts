import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { CheckpointError, createPlan, OutputLimitError } from '../../../src/index.js';
import { explain, type Question } from '../../../src/service/operations/compute/explain.js';
import { createInlinePool, createThreadPool, type StepPool } from '../../../src/service/operations/compute/pool.js';
import { step } from '../../../src/service/operations/compute/step.js';
import { systemScheduler } from '../../../src/service/system.js';
import { expectSame } from '../../laws/running.js';
import { createTestClock } from '../app.js';
import { item, minutes } from './posted.js';
import { openRig, smallSizes } from './rig.js';

// The published script of a thread, which `npm test` has built.
const url = new URL('../../../dist/cli/step-worker.js', import.meta.url);
const options = { maxOutputSamples: 1_000_000 };
const plan = createPlan([item('Aggregate', { function: 'Average', interval: 'QuarterHourly' }, ['room'], 'out')]);
const room = minutes('room', 5000, (i) => (i * 37) % 101);

const directory = mkdtempSync(join(tmpdir(), 'windrow-threads-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A script whose first step does something else. */
function failingScript(name: string, statement: string) {
  const path = join(directory, `${name}.mjs`);
  const marker = join(directory, `${name}-begun`);
  const lines = [
    "import { existsSync, writeFileSync } from 'node:fs';",
    `import { computeStep as compute } from ${JSON.stringify(url.href)};`,
    `const marker = ${JSON.stringify(marker)};`,
    'export function computeStep(message) {',
    '  if (existsSync(marker)) return compute(message);',
    "  writeFileSync(marker, '');",
    `  ${statement}`,
    '}',
  ];
  writeFileSync(path, lines.join('\n'));
  return { script: pathToFileURL(path), hasBegun: () => existsSync(marker) };
}

/** Asks for the eighth result of the plan, over all samples. */
function eighthResult(): Question {
  const { results } = step(plan, undefined, [room], options);
  return {
    plan,
    read: [room],
    of: plan.items[0]!.output,
    stored: { timeMs: results.timeMs[7]!, value: results.value[7]! },
    cuts: [{ firstMs: undefined, lastMs: undefined }],
    until: undefined,
  };
}

describe('threads', () => {
  it('give what a step gives here, bit for bit, and do not take over what they are sent', async () => {
    const pool = createThreadPool(url, 2, systemScheduler);
    const withPreview = { ...options, tail: [] };
    const here = step(plan, undefined, [room], withPreview);
    const there = await Promise.all([1, 2, 3].map(() => pool.run(plan, undefined, [room], withPreview)));
    for (const { state, results, preview, counts } of there) {
      expect(state).toEqual(here.state);
      expect(counts).toEqual(here.counts);
      for (const [a, b] of [
        [results, here.results],
        [preview, here.preview],
      ] as const) {
        expectSame([{ ...room, ...a }], [{ ...room, ...b }]);
      }
    }
    expect(room.timeMs.length).toBe(5000);
    const { state, preview } = await pool.run(plan, undefined, [room], { ...withPreview, needsState: false });
    expect([state.length, preview]).toEqual([0, here.preview]);
    await pool.close();
  });

  it('explain a result as it is explained here', async () => {
    const pool = createThreadPool(url, 1, systemScheduler);
    const question = eighthResult();
    const here = explain(question);
    expect(here?.explanation.sources[0]).toMatchObject({ timeseriesId: 'room', used: { count: 15 } });
    expect(here?.isCut).toBe(false);
    expect(explain({ ...question, cuts: [{ firstMs: question.stored.timeMs, lastMs: undefined }] })?.isCut).toBe(true);
    expect(await pool.explain(question)).toEqual(here);
    expect(await pool.explain({ ...question, read: [minutes('room', 1, () => 0)] })).toBeUndefined();
    expect(await pool.explain({ ...question, stored: { ...question.stored, value: -1 } })).toBeUndefined();
    await pool.close();
  });

  it('that explain a result are waited for by a stop, and refuse more once they are closed', async () => {
    const pool = createThreadPool(url, 1, systemScheduler);
    const question = eighthResult();
    const ended: string[] = [];
    const twice = async () => {
      await pool.explain(question);
      await pool.explain(question);
      ended.push('explained');
    };
    const running = pool.track(twice());
    await pool.settled();
    ended.push('settled');
    await running;
    expect(ended).toEqual(['explained', 'settled']);
    const cut = pool.track(pool.explain(question));
    const [, ...late] = await Promise.allSettled([pool.close(), cut, pool.explain(question)]);
    for (const one of late) {
      expect(one).toMatchObject({ reason: { statusCode: 503, message: 'the service is stopping' } });
    }
    await pool.settled();
  });

  it('report failures with their type', async () => {
    const pool = createThreadPool(url, 1, systemScheduler);
    await expect(pool.run(plan, new Uint8Array(40), [], options)).rejects.toThrow(CheckpointError);
    const limited = pool.run(plan, undefined, [room], { maxOutputSamples: 1 });
    await expect(limited).rejects.toThrow(OutputLimitError);
    await expect(limited).rejects.toMatchObject({ limit: 1, pointer: '/0/operations/0' });
    await pool.close();
  });

  it('that die fail their step, and others replace them', async () => {
    const { script } = failingScript('dying', 'process.exit(1);');
    const pool = createThreadPool(script, 1, systemScheduler);
    const [first, second] = await Promise.allSettled([
      pool.run(plan, undefined, [room], options),
      pool.run(plan, undefined, [room], options),
    ]);
    expect(first).toMatchObject({ status: 'rejected', reason: { message: 'a worker thread died' } });
    expect(second.status).toBe('fulfilled');
    await pool.close();
    await expect(pool.run(plan, undefined, [room], options)).rejects.toThrow('stopping');
  });

  it('that hang are ended when their time is over, and others replace them', async () => {
    const { script, hasBegun } = failingScript('hanging', 'for (;;);');
    const time = createTestClock(0);
    const pool = createThreadPool(script, 1, time.scheduler);
    const hung = pool.run(plan, undefined, [room], options);
    await expect.poll(hasBegun).toBe(true);
    time.advance(300_000);
    await expect(hung).rejects.toThrow('computeStep: the thread did not answer for 300 s and was ended');
    expect((await pool.run(plan, undefined, [room], options)).counts.samplesIn).toBe(5000);
    await pool.close();
  });

  it('that hang hold up no stop; their step is computed after the next start, and is no failure', async () => {
    const { script, hasBegun } = failingScript('stopped', 'for (;;);');
    const time = createTestClock(0);
    const rig = await openRig({
      sizes: { ...smallSizes, sliceSamples: 1000, sourceSamplesMin: 100 },
      pool: () => createThreadPool(script, 1, time.scheduler),
      scheduler: time.scheduler,
      // The first failure would be the last.
      settings: { retryCountMax: 0 },
    });
    try {
      await rig.append(room);
      await rig.register([item('Mul', { scalar: 3 }, ['room'], 'thrice')]);
      await expect.poll(hasBegun).toBe(true);
      const restarting = rig.restart();
      time.advance(2000);
      await restarting;
      await rig.worker().onIdle();
      const { expected, found } = await rig.compare();
      expectSame(found, expected);
      expect((await rig.items()).map(({ state }) => state)).toEqual(['Active']);
    } finally {
      await rig.close();
    }
  });

  it('compute the history of items', async () => {
    const rig = await openRig({
      sizes: { ...smallSizes, sliceSamples: 1000, sourceSamplesMin: 100, stepsMax: 4 },
      pool: () => createThreadPool(url, 2, systemScheduler),
      settings: { workerCount: 2 },
    });
    try {
      await rig.append(room);
      await rig.register([
        item('Aggregate', { function: 'Average', interval: 'QuarterHourly' }, ['room'], 'averages'),
        item('Mul', { scalar: 3 }, ['room'], 'thrice', { processingType: 'Batch' }),
        item('Round', { roundtodigits: -1 }, ['room'], 'rounded'),
      ]);
      await rig.worker().onIdle();
      const { expected, found } = await rig.compare();
      expectSame(found, expected);
      expect((await rig.items()).map(({ state }) => state).sort()).toEqual(['Active', 'Active', 'Completed']);
    } finally {
      await rig.close();
    }
  });

  it.each([
    ['takes long', ['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b'], 300],
    ['is quick', ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b'], 1],
  ])('compute two histories, each step of which %s, in this order: %j', async (_, order, stepMs) => {
    const computed: string[] = [];
    const inline = createInlinePool();
    const pool: StepPool = {
      ...inline,
      run: (plan, ...rest) => {
        rig.advance(stepMs);
        computed.push(plan.steps[0]!.output.timeseriesId);
        return inline.run(plan, ...rest);
      },
    };
    const rig = await openRig({
      sizes: { ...smallSizes, sliceSamples: 1000, sourceSamplesMin: 100, stepsMax: 1000 },
      pool: () => pool,
      settings: { workerCount: 1 },
      groups: 1,
    });
    try {
      await rig.append(minutes('room', 4500, (i) => i));
      await rig.register(['a', 'b'].map((metric) => item('Mul', { scalar: 3 }, ['room'], metric)));
      await rig.worker().onIdle();
      expect(computed.slice(0, 8)).toEqual(order);
      const { expected, found } = await rig.compare();
      expectSame(found, expected);
    } finally {
      await rig.close();
    }
  });
});
