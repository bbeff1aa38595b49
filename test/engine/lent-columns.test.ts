import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { lendColumn, takeColumn } from '../../src/engine/lent-columns.js';
import { createPlan, loadSeries, type Plan, runBatch, type Series } from '../../src/index.js';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');
/** A weak reference holds its target until the task ends. */
const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

const LENGTH = 150_000;

/** Lends a column of one number, keeps what `use` makes of the view and forgets the view itself. */
async function forgotten(fill: number, use: (view: Float64Array) => unknown = () => undefined): Promise<unknown> {
  const column = new Float64Array(LENGTH).fill(fill);
  const kept = use(lendColumn(column, LENGTH - 1));
  await nextTask();
  collect();
  return kept;
}

function planOf(operation: string, parameters: Readonly<Record<string, unknown>>): Plan {
  const input = [{ timeseriesId: 'a', metric: 'Raw' }];
  const output = [{ timeseriesId: 'a', metric: 'Result' }];
  return createPlan([
    { metric: 'Result', processingType: 'Batch', operations: [{ operation, input, output, parameters }] },
  ]);
}

function seriesOf(level: number): Series {
  const timeMs = Float64Array.from({ length: LENGTH }, (_, i) => i);
  return { timeseriesId: 'a', metric: 'Raw', timeMs, value: new Float64Array(LENGTH).fill(level) };
}

describe('columns of results', () => {
  it('come back when nobody can see them any more', async () => {
    await forgotten(7);
    expect(takeColumn(LENGTH)[0]).toBe(7);
    expect(takeColumn(LENGTH)[0]).toBe(0);
  });

  it('stay while the view is held', async () => {
    const view = (await forgotten(8, (one) => one)) as Float64Array;
    takeColumn(LENGTH).fill(1);
    expect(view[0]).toBe(8);
    expect(view).toStrictEqual(new Float64Array(LENGTH - 1).fill(8));
  });

  it.each([
    ['its buffer', (view: Float64Array) => view.buffer],
    ['a part of it', (view: Float64Array) => view.subarray(3)],
    ['a view of its buffer', (view: Float64Array) => new Float64Array(view.buffer, 8, 5)],
    ['bytes over its buffer', (view: Float64Array) => Buffer.from(view.buffer)],
    ['an iterator over it', (view: Float64Array) => view.values()],
  ])('stay while %s is held', async (_name, use) => {
    const kept = await forgotten(9, use);
    expect(takeColumn(LENGTH)[0]).not.toBe(9);
    expect(kept).toBeDefined();
  });

  it('answer as any array does', () => {
    const view = lendColumn(new Float64Array(LENGTH).fill(7), 10);
    expect(Object.keys(view)).toHaveLength(10);
    expect(view.subarray(2, 4)).toStrictEqual(new Float64Array([7, 7]));
    expect(view.buffer.byteLength).toBe(8 * LENGTH);
    expect(structuredClone(view)).toEqual(new Float64Array(10).fill(7));
  });

  it('of one run do not change under those who took a part of them', async () => {
    const plan = planOf('Add', { scalar: 1 });
    const part = runBatch(plan, [seriesOf(1)]).series[0]?.value.subarray(5, 8);
    await nextTask();
    collect();
    runBatch(plan, [seriesOf(2)]);
    expect(part).toStrictEqual(new Float64Array([2, 2, 2]));
  });

  it('that two results share are not written over when one of them is given for reuse', () => {
    const add = planOf('Add', { scalar: 1 });
    const shift = planOf('Shift', { function: 'ShiftByTime', shift: 'PT1H', direction: 'forward' });
    const [first] = runBatch(add, [seriesOf(1)]).series;
    const moved = runBatch(shift, [{ ...first!, metric: 'Raw' }]);
    expect(moved.series[0]!.value.buffer).toBe(first!.value.buffer);
    runBatch(add, [seriesOf(5)], { reuse: moved });
    expect(first!.value).toStrictEqual(new Float64Array(LENGTH).fill(2));
  });

  it.each([
    ['as they are', (series: Series) => [series]],
    ['that were loaded', (series: Series) => loadSeries([series])],
  ])('of one run, given for reuse twice, are written over once: series %s', (_name, given) => {
    const [one, five] = [given(seriesOf(1)), given(seriesOf(5))];
    const add = planOf('Add', { scalar: 1 });
    const first = runBatch(add, one);
    const second = runBatch(add, one, { reuse: first });
    runBatch(add, five, { reuse: first });
    runBatch(planOf('Add', { scalar: 9 }), one, { reuse: first });
    expect(new Set(second.series[0]!.value)).toEqual(new Set([2]));
  });
});
