import type { DoubleList } from '../../../core/list.js';
import { copyInto } from '../../../kernels/columns.js';
import { correlationOf, covarianceOf } from '../../../kernels/exact/pairs.js';
import type { ExactSum } from '../../../kernels/exact/results.js';
import { addProduct, addTo, SUM_SLOTS, tidySum } from '../../../kernels/exact/sums.js';
import type { Accumulator } from '../../aggregate/functions.js';
import type { CombineRunner } from '../../operation.js';

/** The aggregate functions of two inputs, which work on pairs of values. */

/**
 * Passes pairs on to the windows: the first input's values in the chunk, the second's in the column `second`, which the
 * windows read before the next chunk comes.
 */
export function pairsInto(second: Float64Array): CombineRunner {
  return {
    kind: 'combine',
    apply: (left, right, count, out) => {
      copyInto(second, right, count);
      if (out !== left) copyInto(out, left, count);
      return true;
    },
  };
}

// Exact sums of x, y and xy and, for a correlation, x² and y².
const X = 0;
const Y = 1;
const XY = 2;
const XX = 3;
const YY = 4;

function ofPairs(
  sumCount: 3 | 5,
  second: Float64Array,
  result: (sums: readonly ExactSum[], count: number) => number | undefined,
): Accumulator {
  function addPair(slots: Float64Array, at: number, lists: readonly DoubleList[], x: number, y: number, sign: 1 | -1) {
    addTo(slots, at, lists[X]!, sign * x);
    addTo(slots, at + Y * SUM_SLOTS, lists[Y]!, sign * y);
    addProduct(slots, at + XY * SUM_SLOTS, lists[XY]!, sign * x, y);
    if (sumCount === 3) return;
    addProduct(slots, at + XX * SUM_SLOTS, lists[XX]!, sign * x, x);
    addProduct(slots, at + YY * SUM_SLOTS, lists[YY]!, sign * y, y);
  }
  const sumsOf = (slots: Float64Array, at: number, lists: readonly DoubleList[]): ExactSum[] =>
    lists.slice(0, sumCount).map((list, index) => [slots, at + index * SUM_SLOTS, list]);
  return {
    slotCount: sumCount * SUM_SLOTS,
    listCount: sumCount,
    sampleCountMin: 2,
    second,
    add: ({ slots, lists }, at, { value }, from, to) => {
      for (let i = from; i < to; i++) addPair(slots, at, lists, value[i]!, second[i]!, 1);
    },
    remove: ({ slots, lists }, at, { values, seconds }) => {
      addPair(slots, at, lists, values.at(0), seconds.at(0), -1);
      for (const sum of sumsOf(slots, at, lists)) tidySum(...sum);
    },
    result: ({ slots, lists }, at, count) => result(sumsOf(slots, at, lists), count),
  };
}

/** The functions of two inputs. */
export const pairFunctionNames = ['Covariance', 'Correlation'] as const;

/** Their code, given the column of the second input's values. */
export const pairFunctions: ReadonlyMap<string, (second: Float64Array) => Accumulator> = new Map([
  [
    'Covariance',
    (second: Float64Array) => ofPairs(3, second, (sums, count) => covarianceOf(sums[X]!, sums[Y]!, sums[XY]!, count)),
  ],
  [
    'Correlation',
    (second: Float64Array) =>
      ofPairs(5, second, (sums, count) => correlationOf(sums[X]!, sums[Y]!, sums[XY]!, sums[XX]!, sums[YY]!, count)),
  ],
]);
