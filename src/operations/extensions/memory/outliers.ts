import { lerp } from '../../../kernels/interpolate.js';
import type { Describe, Operation, OperationTexts, RegridRunner, State, StepDraft } from '../../operation.js';
import { choice, duration, durationMsIn, number, numberIn, textIn } from '../../parameters.js';
import { FROM_THE_PAST, scan } from './scan.js';

/** Sensors that fail: StuckValue finds values that no longer change, Hampel those that stand out. */

export interface StuckValueMethods {
  /** @param duration an ISO 8601 duration. */
  stuckValue(duration: string, parameters?: { readonly tolerance?: number }): StepDraft;
}

export const stuckValue: Operation<StuckValueMethods> = {
  name: 'StuckValue',
  shape: 'regrid',
  results: 'at most one a sample',
  methods: { stuckValue: (text, parameters = {}) => ({ parameters: { duration: text, ...parameters } }) },
  parameters: {
    duration: duration(0),
    tolerance: number({ minimum: 0, default: 0 }),
  },
  open: (parameters) => {
    const durationMs = durationMsIn(parameters, 'duration') ?? 0;
    const tolerance = numberIn(parameters, 'tolerance');
    return {
      ...scan(2, ({ slots }, { timeMs, value, count }, out) => {
        let firstMs = slots[0]!;
        let first = slots[1]!;
        for (let i = 0; i < count; i++) {
          const t = timeMs[i]!;
          const x = value[i]!;
          if (!(Math.abs(x - first) <= tolerance)) {
            firstMs = t;
            first = x;
          }
          out.add(t, t - firstMs >= durationMs ? 1 : 0);
        }
        slots[0] = firstMs;
        slots[1] = first;
      }),
      start: ({ slots }) => {
        slots[1] = Number.NaN; // no value is near
      },
    };
  },
};

export const stuckValueTexts: OperationTexts = {
  summary: 'Gives 1 where a value has not changed for a time, and 0 elsewhere.',
  parameters: {
    duration: 'How long values must have stayed the same.',
    tolerance: 'How far from the first of them they may be to count as the same.',
  },
  examples: [
    {
      title: 'No change for an hour',
      parameters: { duration: 'PT1H' },
      inputs: ['00:00 21.5, 00:30 21.5, 01:00 21.5, 01:30 21.5, 02:00 21.6'],
      output: '00:00 0, 00:30 0, 01:00 1, 01:30 1, 02:00 0',
    },
    {
      title: 'With a tolerance, which is measured from the first value',
      parameters: { duration: 'PT30M', tolerance: 0.1 },
      inputs: ['00:00 5, 00:15 5.0625, 00:30 5.09375, 00:45 5.125'],
      output: '00:00 0, 00:15 0, 00:30 1, 00:45 0',
    },
    {
      title: 'Time counts, not the number of samples',
      parameters: { duration: 'PT10M' },
      inputs: ['00:00 1, 00:01 1, 00:02 1, 00:03 1, 06:00 1'],
      output: '00:00 0, 00:01 0, 00:02 0, 00:03 0, 06:00 1',
    },
  ],
};

export const describeStuckValue: Describe = (parameters) => ({
  ...FROM_THE_PAST,
  does: `1 where the value has not changed for ${textIn(parameters, 'duration')}, else 0`,
  keeps: 'the value and since when it has been so',
});

/** How many samples on each side; how many deviations are too many; what becomes of outliers. */
export interface HampelParameters {
  readonly samples?: number;
  readonly threshold?: number;
  readonly action?: 'replace' | 'remove' | 'flag';
}

export interface HampelMethods {
  hampel(parameters?: HampelParameters): StepDraft;
}

export const hampel: Operation<HampelMethods> = {
  name: 'Hampel',
  shape: 'regrid',
  results: 'at most one a sample',
  methods: { hampel: (parameters = {}) => ({ parameters }) },
  parameters: {
    samples: number({ integer: true, minimum: 1, maximum: 1000, default: 3 }),
    threshold: number({ minimum: 0, default: 3 }),
    action: choice(['replace', 'remove', 'flag'], { default: 'replace' }),
  },
  open: (parameters) => {
    const action = textIn(parameters, 'action');
    return hampelFilter(numberIn(parameters, 'samples'), numberIn(parameters, 'threshold'), (x, median, isOutlier) => {
      if (action === 'flag') return isOutlier ? 1 : 0;
      return isOutlier ? (action === 'replace' ? median : undefined) : x;
    });
  },
};

export const hampelTexts: OperationTexts = {
  summary: 'Finds values that stand out from their neighbours, and replaces, removes or flags them.',
  parameters: {
    samples: 'How many samples on each side are compared with.',
    threshold: 'How many standard deviations, as the median deviation tells them, are too many.',
    action: 'What becomes of outliers: `replace` by the median, `remove`, `flag` (1 for it, else 0).',
  },
  examples: [
    {
      title: 'A spike is replaced by the median around it',
      parameters: { samples: 2 },
      inputs: ['00:00 20, 00:15 21, 00:30 85, 00:45 22, 01:00 21'],
      output: '00:00 20, 00:15 21, 00:30 21, 00:45 22, 01:00 21',
    },
    {
      title: 'Or removed',
      parameters: { samples: 2, action: 'remove' },
      inputs: ['00:00 20, 00:15 21, 00:30 85, 00:45 22, 01:00 21'],
      output: '00:00 20, 00:15 21, 00:45 22, 01:00 21',
    },
    {
      title: 'Or flagged',
      parameters: { samples: 2, action: 'flag' },
      inputs: ['00:00 20, 00:15 21, 00:30 85, 00:45 22, 01:00 21'],
      output: '00:00 0, 00:15 0, 00:30 1, 00:45 0, 01:00 0',
    },
  ],
};

export const describeHampel: Describe = (parameters) => ({
  does: `${textIn(parameters, 'action')}s values over ${numberIn(parameters, 'threshold')} deviations off the median`,
  reads: { kind: 'neighbours', gapMsMax: undefined },
  keeps: `the last ${2 * numberIn(parameters, 'samples') + 1} samples`,
  final: `when ${numberIn(parameters, 'samples')} samples after it are final`,
});

/** The median deviation of normally distributed values, times this, is their standard deviation. */
const DEVIATIONS = 1.4826;

// Lists: times and values, from those before the next sample to decide on. Slot 0: how many are before it.
function hampelFilter(
  sideCount: number,
  threshold: number,
  resultOf: (x: number, median: number, isOutlier: boolean) => number | undefined,
): RegridRunner {
  const scratch = new Float64Array(2 * sideCount + 1);
  function decide({ slots, lists }: State, out: Parameters<RegridRunner['push']>[2]): void {
    const [times, values] = lists;
    const at = slots[0]!;
    const x = values!.at(at);
    const window = values!.view().subarray(0, at + sideCount + 1);
    const median = medianOf(window, scratch);
    for (const [index, neighbour] of window.entries()) scratch[index] = Math.abs(neighbour - median);
    const deviation = medianOfSorted(scratch.subarray(0, window.length).sort());
    const isOutlier = Math.abs(x - median) > threshold * (DEVIATIONS * deviation);
    const result = resultOf(x, median, isOutlier);
    if (result !== undefined) out.add(times!.at(at), result);
    if (at < sideCount) slots[0] = at + 1;
    else for (const list of lists) list.shift(1);
  }
  return {
    kind: 'regrid',
    slotCount: 1,
    listCount: 2,
    push: (state, { timeMs, value, count }, out) => {
      const [times, values] = state.lists;
      for (let i = 0; i < count; i++) {
        times!.push(timeMs[i]!);
        values!.push(value[i]!);
        if (times!.length > state.slots[0]! + sideCount) decide(state, out);
      }
    },
    advance: () => undefined,
    close: (state, _advancedMs, out) => {
      while (state.slots[0]! < state.lists[0]!.length) decide(state, out);
    },
    watermark: ({ slots, lists }, watermarkMs) => {
      const times = lists[0]!;
      return slots[0]! < times.length ? Math.min(watermarkMs, times.at(slots[0]!)) : watermarkMs;
    },
  };
}

function medianOf(values: Float64Array, scratch: Float64Array): number {
  scratch.set(values);
  return medianOfSorted(scratch.subarray(0, values.length).sort());
}

function medianOfSorted(sorted: Float64Array): number {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : lerp(sorted[middle - 1]!, sorted[middle]!, 0.5);
}
