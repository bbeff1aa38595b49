import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPlan, openStream, restoreStream, type Series } from '../../src/index.js';
import { joinParts } from '../conformance/conformance.js';
import { countsOf, expectSame, runWithin, sceneArbitrary, seriesOf as sourcesOf } from '../laws/running.js';
import { chainPlan, pairsOf, seriesOf } from './streams.js';

function partsOf(sources: readonly Series[], cuts: readonly number[]): Series[][] {
  const borders = [...cuts, Number.POSITIVE_INFINITY].sort((a, b) => a - b);
  return borders.map((to, index) => {
    const from = borders[index - 1] ?? 0;
    return sources.map((one) => ({ ...one, timeMs: one.timeMs.slice(from, to), value: one.value.slice(from, to) }));
  });
}

const cutsArbitrary = fc.array(fc.nat(40), { maxLength: 4 });

test('results so far and the preview equal one batch over the samples so far, and the stream is not disturbed', () => {
  const property = fc.property(sceneArbitrary(5), cutsArbitrary, ({ request, samples, options }, cuts) => {
    const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
    const sources = sourcesOf(samples);
    if (runWithin(plan, sources, options) === undefined) return;
    const [stream, undisturbed] = [openStream(plan, options), openStream(plan, options)];
    const results: Series[] = [];
    const pushed: Series[] = [];
    for (const part of partsOf(sources, cuts)) {
      results.push(...stream.push(part));
      undisturbed.push(part);
      pushed.push(...part);
      const batch = runWithin(plan, pushed, { ...options, maxOutputSamples: 100_000_000 });
      const parts = [...results, ...stream.preview()];
      const seen = plan.items.map(({ output }) => joinParts(output, parts));
      expectSame(seen, batch!.series);
      expect(stream.checkpoint()).toEqual(undisturbed.checkpoint());
    }
    const [run, expected] = [stream.close(), undisturbed.close()];
    expectSame(run.series, expected.series);
    expect(countsOf(run.report)).toEqual(countsOf(expected.report));
  });
  fc.assert(property, { numRuns: 600 });
});

const plan = chainPlan([['HoldLastValue', { interval: 'Hourly' }]]);

test('a preview reaches as far as the last advance', () => {
  const stream = openStream(plan, { until: 20_000_000 });
  stream.push([seriesOf([0], [5])]);
  stream.advance(8_000_000);
  expect(stream.preview().map(pairsOf)).toEqual(openAndClose(8_000_000));
  expect(stream.preview()).toEqual(stream.preview());
});

function openAndClose(advancedMs: number): [number, number][][] {
  const stream = openStream(plan, { until: 20_000_000 });
  stream.push([seriesOf([0], [5])]);
  stream.advance(advancedMs);
  return stream.close().series.map(pairsOf);
}

test('a preview of too many samples throws, and the stream goes on', () => {
  const options = { maxOutputSamples: 10, until: 100_000_000 };
  const stream = openStream(plan, options);
  stream.push([seriesOf([0, 3_600_000], [5, 6])]);
  const bytes = stream.checkpoint();
  for (const one of [stream, restoreStream(plan, bytes, options)]) {
    expect(() => one.preview()).toThrow(expect.objectContaining({ code: 'output.limit' }));
    expect(one.checkpoint()).toEqual(bytes);
    expect(one.push([seriesOf([7_200_000], [7])]).map(pairsOf)).toEqual([[[3_600_000, 6]]]);
  }
});

test('a closed stream has no preview', () => {
  const stream = openStream(plan);
  stream.close();
  expect(() => stream.preview()).toThrow(expect.objectContaining({ code: 'stream.closed' }));
});
