import type { IntervalName } from '../../../core/interval.js';
import { sumOf } from '../../../kernels/exact/results.js';
import { addTo, clearSum, SUM_SLOTS } from '../../../kernels/exact/sums.js';
import type { Describe, Operation, OperationTexts, StepDraft } from '../../operation.js';
import { textIn, timezone } from '../../parameters.js';
import { checkInterval, interval, inZone, openWindows } from '../../windowing.js';
import { FROM_THE_PAST, scan } from './scan.js';

export interface CumulativeSumMethods {
  cumulativeSum(parameters?: { readonly interval?: IntervalName; readonly timezone?: string }): StepDraft;
}

export const cumulativeSum: Operation<CumulativeSumMethods> = {
  name: 'CumulativeSum',
  shape: 'regrid',
  results: 'at most one a sample',
  methods: { cumulativeSum: (parameters = {}) => ({ parameters }) },
  parameters: {
    interval: interval({ optional: true }),
    timezone: timezone(),
  },
  check: (parameters, report) => {
    if (parameters.interval === undefined) return;
    checkInterval(textIn(parameters, 'interval'), textIn(parameters, 'timezone'), (below, ...problem) =>
      report(`/interval${below}`, ...problem),
    );
  },
  open: (parameters) => {
    const windows =
      parameters.interval === undefined
        ? undefined
        : openWindows(textIn(parameters, 'interval'), textIn(parameters, 'timezone'));
    return {
      ...scan(
        1 + SUM_SLOTS,
        ({ slots, lists }, { timeMs, value, count }, out) => {
          const wide = lists[0]!;
          for (let i = 0; i < count; i++) {
            const t = timeMs[i]!;
            if (windows !== undefined && !(t < slots[END_MS]!)) {
              slots[END_MS] = windows.next(windows.startOf(t));
              clearSum(slots, TOTAL, wide);
            }
            addTo(slots, TOTAL, wide, value[i]!);
            out.add(t, sumOf(slots, TOTAL, wide));
          }
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
  summary: 'Gives the total so far with each sample, from the first one on or from the start of each window.',
  parameters: {
    interval: 'How often the total begins again at 0; never by default.',
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
