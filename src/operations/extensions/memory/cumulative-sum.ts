import type { IntervalName } from '../../../core/interval.js';
import { isAllFinite } from '../../../kernels/check.js';
import { runningSums } from '../../../kernels/exact/running.js';
import { clearSum, SUM_SLOTS } from '../../../kernels/exact/sums.js';
import { firstAtOrAfter } from '../../../kernels/search.js';
import type { Describe, Operation, OperationTexts, StepDraft } from '../../operation.js';
import { textIn, timezone } from '../../parameters.js';
import { checkIntervalIn, interval, inZone, windowsIn } from '../../windowing.js';
import { FROM_THE_PAST, scanEach } from './scan.js';

export interface CumulativeSumParameters {
  readonly interval?: IntervalName;
  readonly timezone?: string;
}

export interface CumulativeSumMethods {
  cumulativeSum(parameters?: CumulativeSumParameters): StepDraft<CumulativeSumParameters>;
}

export const cumulativeSum: Operation<CumulativeSumMethods> = {
  name: 'CumulativeSum',
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
      ...scanEach(
        1 + SUM_SLOTS,
        column,
        ({ slots, lists }, { timeMs, value, count }, results) => {
          const wide = lists[0]!;
          for (let from = 0; from < count; ) {
            if (windows !== undefined && !(timeMs[from]! < slots[END_MS]!)) {
              slots[END_MS] = windows.next(windows.startOf(timeMs[from]!));
              clearSum(slots, TOTAL, wide);
            }
            const to = windows === undefined ? count : firstAtOrAfter(timeMs, from, count, slots[END_MS]!);
            const part = from === 0 ? results : results.subarray(from);
            runningSums(slots, TOTAL, wide, timeMs, value, from, to, Number.POSITIVE_INFINITY, false, part);
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

export const cumulativeSumTexts: OperationTexts = {
  summary: 'Gives, at each sample, the total so far, since the first sample or the start of each window.',
  parameters: {
    interval: 'How often the total restarts at 0; never by default.',
    timezone: 'The zone whose local days the windows follow.',
  },
  examples: [
    {
      title: 'The total so far',
      parameters: {},
      inputs: ['00:00 1, 00:15 2.5, 00:30 -1'],
      output: '00:00 1, 00:15 3.5, 00:30 2.5',
    },
    {
      title: 'Anew each hour',
      parameters: { interval: 'Hourly' },
      inputs: ['00:15 1, 00:45 2, 01:00 4, 01:30 8'],
      output: '00:15 1, 00:45 3, 01:00 4, 01:30 12',
    },
    {
      title: 'Anew at local midnight',
      parameters: { interval: 'Daily', timezone: 'Europe/Berlin' },
      inputs: ['2024-03-30T22:30:00Z 1, 2024-03-30T23:00:00Z 2, 2024-03-31T21:30:00Z 4, 2024-03-31T22:00:00Z 8'],
      output: '2024-03-30T22:30:00Z 1, 2024-03-30T23:00:00Z 2, 2024-03-31T21:30:00Z 6, 2024-03-31T22:00:00Z 8',
    },
  ],
};

const END_MS = 0;
const TOTAL = 1;

export const describeCumulativeSum: Describe = (parameters) => ({
  ...FROM_THE_PAST,
  does:
    parameters.interval === undefined
      ? 'the total so far'
      : `the total so far of each ${textIn(parameters, 'interval')} window${inZone(parameters)}`,
  keeps: 'the total, and the end of its window',
});
