import type { IntervalName } from '../../../core/interval.js';
import { isAllFinite } from '../../../kernels/check.js';
import { runningSums } from '../../../kernels/exact/running.js';
import { clearSum, SUM_SLOTS } from '../../../kernels/exact/sums.js';
import { firstAtOrAfter } from '../../../kernels/search.js';
import type { Operation, StepDraft } from '../../operation.js';
import { timezone } from '../../parameters.js';
import { checkIntervalIn, interval, windowsIn } from '../../windowing.js';
import { onePerSample } from './per-sample.js';

export interface CumulativeSumParameters {
  readonly interval?: IntervalName;
  readonly timezone?: string;
}

export interface CumulativeSumMethods {
  cumulativeSum(parameters?: CumulativeSumParameters): StepDraft<CumulativeSumParameters>;
}

export const cumulativeSum: Operation<CumulativeSumMethods> = {
  name: 'CumulativeSum',
  otherNames: ['cumsum'],
  shape: 'regrid',
  methods: { cumulativeSum: (parameters = {}) => ({ parameters }) },
  parameters: {
    interval: interval({ optional: true }),
    timezone: timezone(),
  },
  check: checkIntervalIn,
  open: (parameters, { column }) => {
    const windows = parameters.interval === undefined ? undefined : windowsIn(parameters);
    return {
      ...onePerSample(
        1 + SUM_SLOTS,
        column,
        ({ slots, lists }, chunk, results) => {
          const { timeMs, count } = chunk;
          const wide = lists[0]!;
          for (let from = 0; from < count; ) {
            if (windows !== undefined && !(timeMs[from]! < slots[END_MS]!)) {
              slots[END_MS] = windows.next(windows.startOf(timeMs[from]!));
              clearSum(slots, TOTAL, wide);
            }
            const to = windows === undefined ? count : firstAtOrAfter(timeMs, from, count, slots[END_MS]!);
            const part = from === 0 ? results : results.subarray(from);
            runningSums([slots, TOTAL, wide], chunk, from, to, Number.POSITIVE_INFINITY, false, part);
            from = to;
          }
          return isAllFinite(results, 0, count);
        },
        1,
      ),
      start: ({ slots }) => {
        slots[END_MS] = Number.NEGATIVE_INFINITY;
      },
    };
  },
};

const END_MS = 0;
const TOTAL = 1;
