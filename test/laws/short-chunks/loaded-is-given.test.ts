import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createPlan, loadSeries, OutputLimitError, type Run, runBatch, type Series } from '../../../src/index.js';
import { expectSame, type Scene, sceneArbitrary, seriesOf } from '../running.js';
import { delayed } from '../samples.js';

// Short chunks, so that even short series have several.
vi.mock('../../../src/core/chunk.js', () => ({ CHUNK_LENGTH: 64 }));
// Small arenas, as each loading takes one of its own.
vi.mock('../../../src/kernels/memory-layout.js', async (original) => ({
  ...(await original<object>()),
  SCRATCH_PAGE_COUNT: 24,
  ARENA_SAMPLES_MIN: 64,
}));

const delays = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

/** Ways to load series: all together, each alone, only the first, and some more than once. */
const loadings: Readonly<Record<string, (series: readonly Series[]) => readonly Series[]>> = {
  together: loadSeries,
  apart: (series) => series.flatMap((one) => loadSeries([one])),
  'in part': ([first, ...rest]) => [...loadSeries([first!]), ...rest],
  again: (series) => loadSeries(loadSeries(series)),
  'as two parts': (series) => series.flatMap((one) => loadSeries([part(one, 0, 5), part(one, 5)])),
};

function part(series: Series, from: number, to?: number): Series {
  return { ...series, timeMs: series.timeMs.slice(from, to), value: series.value.slice(from, to) };
}

function copiesOf(series: readonly Series[]): Series[] {
  return series.map((one) => part(one, 0));
}

const LIMIT = 4000;

/** The runs of a scene, or the pointer of the step that would exceed the limit. */
function outcomeOf(
  { request, options }: Scene,
  series: readonly Series[],
  times: number,
  maxOutputSamples = LIMIT,
): readonly Run[] | string {
  const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
  try {
    return Array.from({ length: times }, () => runBatch(plan, series, { ...options, maxOutputSamples }));
  } catch (error) {
    if (!(error instanceof OutputLimitError)) throw error;
    // By how much it would be exceeded depends on the chunks.
    return error.pointer;
  }
}

/** Of several steps over the limit, which is met first depends on the chunks, too; whichever is named is over it. */
function expectOverLimit(pointer: unknown, scene: Scene, series: readonly Series[]): void {
  const [whole] = outcomeOf(scene, series, 1, 1_000_000);
  if (typeof whole !== 'object') return; // far over the limit
  const over = whole.report.steps.filter(({ samplesOut }) => samplesOut > LIMIT);
  expect(over.map((step) => step.pointer)).toContain(pointer);
}

test.each(Object.entries(loadings))(
  'series loaded %s give the bits and the report of series that are not loaded',
  (_name, load) => {
    const property = fc.property(sceneArbitrary(6), delays, fc.boolean(), (scene, late, areTimesShared) => {
      const given = seriesOf(scene.samples.map((own) => delayed(own, late, 7_200_000)));
      const [{ timeMs }] = given as [Series];
      const series = given.map((one) =>
        areTimesShared && one.value.length === timeMs.length ? { ...one, timeMs } : one,
      );
      const before = copiesOf(series);
      const expected = outcomeOf(scene, series, 1);
      const loaded = load(series);
      const columns = copiesOf(loaded);
      const twice = outcomeOf(scene, loaded, 2);
      if (typeof expected === 'string' || typeof twice === 'string') {
        expect(typeof twice).toBe(typeof expected);
        if (twice !== expected) expectOverLimit(twice, scene, series);
        return;
      }
      expect(twice).toHaveLength(2);
      for (const run of twice) {
        expectSame(run.series, expected[0]!.series);
        expect(run.report).toEqual(expected[0]!.report);
      }
      expectSame(series, before);
      expectSame(loaded, columns);
    });
    fc.assert(property, { numRuns: 300 });
  },
);

test.each([
  ['what is not a list', 'x', 'inputs: expected an array of series'],
  ['what is not a series', [null], 'inputs: expected an array of series'],
  [
    'a series without columns',
    [{ timeseriesId: 'a', metric: 'Raw', timeMs: [1], value: [2] }],
    'a/Raw: expected timeMs and value as',
  ],
])('loading %s is refused with an error that names it', (_name, given, message) => {
  const series = given as unknown as Series[]; // a program without types may pass this
  expect(() => loadSeries(series)).toThrow(message);
});
