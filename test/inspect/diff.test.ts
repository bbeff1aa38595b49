import { expect, it } from 'vitest';
import { createPlan, pipeline, type Series } from '../../src/index.js';
import { diff } from '../../src/inspect/index.js';

const office: Series = {
  timeseriesId: 'office',
  metric: 'Raw',
  timeMs: Float64Array.of(0, 1000, 2000, 3000),
  value: Float64Array.of(1, 20, 3, -40),
};
const named = (metric: string) => ({ timeseriesId: 'office', metric });

it('lists for each result the samples that a changed request adds, removes and changes, and by how much', () => {
  const before = createPlan([
    pipeline('office')
      .where({ valuerangelist: [{ lower: 0 }] })
      .as('Kept'),
    pipeline('office').add(1).as('Gone'),
  ]);
  const after = createPlan([
    pipeline('office')
      .where({ valuerangelist: [{ upper: 10 }] })
      .mul(2)
      .as('Kept'),
    pipeline('office').sub(1).as('New'),
  ]);
  const [kept, gone, added] = diff(before, after, [office]);
  expect(kept).toEqual({
    series: named('Kept'),
    isIn: 'both',
    sameCount: 0,
    addedCount: 1,
    goneCount: 1,
    differentCount: 2,
    addedOrGone: [
      { timeMs: 1000, before: 20 },
      { timeMs: 3000, after: -80 },
    ],
    largest: [
      { timeMs: 2000, before: 3, after: 6 },
      { timeMs: 0, before: 1, after: 2 },
    ],
  });
  expect(gone).toMatchObject({ series: named('Gone'), isIn: 'before', goneCount: 4 });
  expect(added).toMatchObject({ series: named('New'), isIn: 'after', addedCount: 4 });
});

it('finds no difference between equal requests', () => {
  const plan = createPlan([pipeline('office').add(1).as('Sum')]);
  const same = { sameCount: 4, addedCount: 0, goneCount: 0, differentCount: 0, addedOrGone: [], largest: [] };
  expect(diff(plan, plan, [office])).toEqual([{ series: named('Sum'), isIn: 'both', ...same }]);
});
