import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/core/instant.js';
import { openEvery, planEvery, restoreEvery, runEvery } from '../../src/engine/every/index.js';
import { createPlan, openStream, pipeline, restoreStream, runBatch, type Series } from '../../src/index.js';
import { verify } from '../../src/inspect/index.js';
import { runWithin, sceneArbitrary, seriesOf } from '../laws/running.js';

const engine = { runBatch, openStream, restoreStream };

function walk(count: number): Series {
  const timeMs = Float64Array.from({ length: count }, (_, i) => 60_000 * ((i * 7919) % count));
  const value = timeMs.map((time, i) => (i % 11 === 3 ? Number.NaN : Math.sin(time)));
  return { timeseriesId: 'office', metric: 'Raw', timeMs, value };
}

const sums = createPlan([pipeline('office').mul(3).aggregate({ function: 'Sum', interval: 'Hourly' }).as('Sum')]);

describe('verify', () => {
  it('every variant gives the bits of the batch, whatever the request, the samples and the seed', () => {
    fc.assert(
      fc.property(sceneArbitrary(4), fc.nat(), (scene, seed) => {
        const plan = createPlan(scene.request);
        const inputs = seriesOf(scene.samples);
        if (runWithin(plan, inputs, scene.options) === undefined) return;
        const { same, different } = verify(plan, inputs, { ...scene.options, seed, variantCount: 8 });
        expect(different).toBeUndefined();
        expect(same).toHaveLength(8);
      }),
      { numRuns: 40 },
    );
  });

  it('names its variants, and draws the same ones from the same seed', () => {
    const names: string[] = [];
    const verified = verify(sums, [walk(500)], { seed: 5, variantCount: 6, onVariant: (name) => names.push(name) });
    expect(verified).toEqual({ seed: 5, same: names });
    expect(names.slice(0, 2)).toEqual(['batch, JavaScript kernels', 'batch, loaded series']);
    expect(names.some((name) => name.includes('other orders within the lateness, '))).toBe(true);
  });

  it('finds a restore that loses state, and shows it by one sample and one restore', () => {
    const forgetful = {
      ...engine,
      restoreStream: (...[plan, , options]: Parameters<typeof restoreStream>) => openStream(plan, options),
    };
    const { different } = verify(sums, [walk(2000)], {}, forgetful);
    expect(different?.actions.map(({ kind }) => kind)).toEqual(['push', 'restore']);
    const [push] = different!.actions;
    const [series] = push?.kind === 'push' ? push.series : [];
    expect(series?.timeMs).toHaveLength(1);
    expect(different!.result).toEqual({
      series: { timeseriesId: 'office', metric: 'Sum' },
      timeMs: Math.floor(series!.timeMs[0]! / 3_600_000) * 3_600_000,
      batch: 3 * series!.value[0]!,
    });
  });

  it('shows a difference that does not come again with all samples, and says so', () => {
    let runCount = 0;
    const flickering = {
      ...engine,
      runBatch: (...given: Parameters<typeof runBatch>): ReturnType<typeof runBatch> => {
        const run = runBatch(...given);
        if (++runCount !== 2) return run;
        const series = run.series.map((one) => ({ ...one, value: one.value.map((x) => x + 1) }));
        return { ...run, series };
      },
    };
    const { different } = verify(sums, [walk(100)], {}, flickering);
    expect(different).toMatchObject({ name: 'batch, JavaScript kernels', recurs: false });
    expect(different!.actions.map((action) => action.kind === 'push' && action.series[0]?.timeMs.length)).toEqual([
      100,
    ]);
    expect(different!.result.variant).toBe(different!.result.batch! + 1);
  });

  it('finds a stream that loses the second sample of a push, and shows it by one push of two', () => {
    const losing = (stream: ReturnType<typeof openStream>): ReturnType<typeof openStream> => {
      const push = stream.push.bind(stream);
      const kept = (column: Float64Array) => column.filter((_, i) => i !== 1);
      return Object.assign(stream, {
        push: (series: readonly Series[]) =>
          push(series.map((one) => ({ ...one, timeMs: kept(one.timeMs), value: kept(one.value) }))),
      });
    };
    const faulty = {
      ...engine,
      openStream: (...given: Parameters<typeof openStream>) => losing(openStream(...given)),
      restoreStream: (...given: Parameters<typeof restoreStream>) => losing(restoreStream(...given)),
    };
    const { same, different } = verify(sums, [walk(700)], { seed: 3 }, faulty);
    expect(same.slice(0, 2)).toEqual(['batch, JavaScript kernels', 'batch, loaded series']);
    expect(
      different?.actions.map((action) => (action.kind === 'push' ? action.series[0]!.timeMs.length : action.kind)),
    ).toEqual([2]);
    expect(different!.result.variant).not.toBe(different!.result.batch);
  });

  it('touches all series at most in proportion to their samples, so the work stays linear', () => {
    const seriesCount = 200;
    const inputs = Array.from({ length: seriesCount }, (_, zone) => ({ ...walk(6), timeseriesId: `zone-${zone}` }));
    const plan = planEvery([pipeline('zone-{n}').aggregate({ function: 'Sum', interval: 'Hourly' }).as('Sum')]);
    let touched = 0;
    const counting = (stream: ReturnType<typeof openEvery>): ReturnType<typeof openEvery> => {
      const { push, advance, preview, checkpoint } = stream;
      const all = <Result>(call: () => Result): Result => {
        touched += seriesCount;
        return call();
      };
      return Object.assign(stream, {
        push: (series: readonly Series[]) => {
          touched += series.length;
          return push.call(stream, series);
        },
        advance: (instant: Instant) => all(() => advance.call(stream, instant)),
        preview: () => all(() => preview.call(stream)),
        checkpoint: () => all(() => checkpoint.call(stream)),
      });
    };
    const counted = {
      runBatch: runEvery,
      openStream: (...given: Parameters<typeof openEvery>) => counting(openEvery(...given)),
      restoreStream: (...given: Parameters<typeof restoreEvery>) => counting(restoreEvery(...given)),
    };
    const variantCount = 8;
    expect(verify(plan, inputs, { variantCount }, counted).same).toHaveLength(variantCount);
    expect(touched).toBeLessThan(4 * variantCount * 6 * seriesCount);
  });

  it('of many samples it looks and restores less often, as a stream may hold them all', () => {
    const heldAtMost = (count: number): number => {
      let [held, given] = [0, 0];
      const counting = (stream: ReturnType<typeof openStream>): ReturnType<typeof openStream> => {
        const { push, preview, checkpoint } = stream;
        return Object.assign(stream, {
          push: (series: readonly Series[]) => {
            for (const { timeMs } of series) given += timeMs.length;
            return push.call(stream, series);
          },
          preview: () => {
            held += given;
            return preview.call(stream);
          },
          checkpoint: () => {
            held += given;
            return checkpoint.call(stream);
          },
        });
      };
      const counted = {
        ...engine,
        openStream: (...[plan, options]: Parameters<typeof openStream>) => {
          given = 0;
          return counting(openStream(plan, options));
        },
        restoreStream: (...given: Parameters<typeof restoreStream>) => counting(restoreStream(...given)),
      };
      verify(sums, [walk(count)], { variantCount: 12 }, counted);
      return held;
    };
    expect(heldAtMost(20_000)).toBeLessThan(8 * 2 ** 22);
    expect(heldAtMost(1000)).toBeGreaterThan(200_000);
  });
});
