import type { Duration } from '../../../core/duration.js';
import { SHORTEST_MS } from '../../../core/interval.js';
import { pow } from '../../../kernels/exact/elementary.js';
import { runningSums } from '../../../kernels/exact/running.js';
import { SUM_SLOTS } from '../../../kernels/exact/sums.js';
import type { Describe, Operation, OperationTexts, RegridRunner, RunContext, StepDraft } from '../../operation.js';
import { duration, durationMsIn, textIn } from '../../parameters.js';
import { FROM_THE_PAST, scanEach } from './scan.js';

/** Averages that move with each sample. */

export interface MovingAverageMethods {
  /** @param window an ISO 8601 duration. */
  movingAverage(window: Duration): StepDraft<{ readonly window: Duration }>;
}

export const movingAverage: Operation<MovingAverageMethods> = {
  name: 'MovingAverage',
  otherNames: ['rolling', 'rollingaverage', 'rollingmean'],
  shape: 'regrid',
  methods: { movingAverage: (window) => ({ parameters: { window } }) },
  parameters: {
    window: duration(SHORTEST_MS),
  },
  open: (parameters, { column }) => movingAverager(durationMsIn(parameters, 'window') ?? 0, column),
};

export const movingAverageTexts: OperationTexts = {
  summary: 'Gives, at each sample, the average of the samples up to it within a span of time.',
  parameters: {
    window: 'How far back the average reaches; a sample exactly that old is left out.',
  },
  examples: [
    {
      title: 'Of the last half hour',
      parameters: { window: 'PT30M' },
      inputs: ['00:00 1, 00:15 2, 00:30 6, 00:45 10'],
      output: '00:00 1, 00:15 1.5, 00:30 4, 00:45 8',
    },
    {
      title: 'After a gap it starts again',
      parameters: { window: 'PT1H' },
      inputs: ['00:00 1, 00:15 3, 06:00 8, 06:15 9'],
      output: '00:00 1, 00:15 2, 06:00 8, 06:15 8.5',
    },
    {
      title: 'A large value leaves no trace once it is out of the window',
      parameters: { window: 'PT20M' },
      inputs: ['00:00 0.1, 00:10 1e300, 00:20 0.1, 00:30 0.3'],
      output: '00:00 0.1, 00:10 5e299, 00:20 5e299, 00:30 0.2',
    },
  ],
};

export const describeMovingAverage: Describe = (parameters) => ({
  does: `the average of the last ${textIn(parameters, 'window')} at each sample`,
  reads: { kind: 'trailing', lengthMs: durationMsIn(parameters, 'window') ?? 0 },
  keeps: 'the samples of that time',
  final: 'with its sample',
});

// Slots: the exact sum of the window, so that samples that leave it leave no trace. Lists: its times, its values, and
// the part of the sum that the slots cannot hold.
function movingAverager(windowMs: number, column: RunContext['column']): RegridRunner {
  return scanEach(
    SUM_SLOTS,
    column,
    ({ slots, lists }, { timeMs, value, count }, results) => {
      const times = lists[0]!;
      const values = lists[1]!;
      const before = times.length;
      times.append(timeMs, 0, count);
      values.append(value, 0, count);
      // Views are safe, as nothing is added while the window goes over them.
      const t = times.view();
      const first = runningSums(slots, 0, lists[2]!, t, values.view(), before, t.length, windowMs, true, results);
      times.shift(first);
      values.shift(first);
      return true;
    },
    3,
  );
}

export interface ExponentialAverageMethods {
  /** @param halflife an ISO 8601 duration. */
  exponentialAverage(halflife: Duration): StepDraft<{ readonly halflife: Duration }>;
}

export const exponentialAverage: Operation<ExponentialAverageMethods> = {
  name: 'ExponentialAverage',
  otherNames: ['ema', 'ewm'],
  shape: 'regrid',
  methods: { exponentialAverage: (halflife) => ({ parameters: { halflife } }) },
  parameters: {
    halflife: duration(SHORTEST_MS),
  },
  open: (parameters, { column }) => exponentialAverager(durationMsIn(parameters, 'halflife') ?? 0, column),
};

export const exponentialAverageTexts: OperationTexts = {
  summary: 'Gives, at each sample, the average of all samples so far, whose weights halve with each half-life of age.',
  parameters: {
    halflife: 'The age at which a sample weighs half as much as a new one.',
  },
  examples: [
    {
      title: 'A sample as old as the half-life counts half',
      parameters: { halflife: 'PT15M' },
      inputs: ['00:00 3, 00:15 6, 00:30 6'],
      output: '00:00 3, 00:15 5, 00:30 5.571428571428571',
    },
    {
      title: 'Age is time, not the number of samples',
      parameters: { halflife: 'PT15M' },
      inputs: ['00:00 3, 00:30 8, 00:30:00.001 8'],
      output: '00:00 3, 00:30 7, 00:30:00.001 7.444444634608288',
    },
    {
      title: 'What stays the same is its own average',
      parameters: { halflife: 'P1D' },
      inputs: ['00:00 0.1, 07:00 0.1, 13:00 0.1'],
      output: '00:00 0.1, 07:00 0.1, 13:00 0.1',
    },
  ],
};

export const describeExponentialAverage: Describe = (parameters) => ({
  ...FROM_THE_PAST,
  does: `the average of all samples, whose weights halve every ${textIn(parameters, 'halflife')}`,
  keeps: 'the average and the sum of its weights',
});

const HAS_LAST = 0;
const LAST_MS = 1;
const AVERAGE = 2;
const WEIGHT = 3;

function exponentialAverager(halflifeMs: number, column: RunContext['column']): RegridRunner {
  // Most samples are equally far apart, so the last decay is kept.
  let stepMs = Number.NaN;
  let decay = 0;
  return scanEach(4, column, ({ slots }, { timeMs, value, count }, results) => {
    let lastMs = slots[HAS_LAST] === 1 ? slots[LAST_MS]! : Number.NEGATIVE_INFINITY;
    let average = slots[AVERAGE]!;
    let weight = slots[WEIGHT]!;
    for (let i = 0; i < count; i++) {
      const t = timeMs[i]!;
      const x = value[i]!;
      if (t - lastMs !== stepMs) {
        stepMs = t - lastMs;
        decay = pow(0.5, stepMs / halflifeMs);
      }
      weight = weight * decay + 1;
      const next = average + (x - average) / weight;
      // The difference of two values may overflow, although their average does not.
      average = weight === 1 ? x : next - next === 0 ? next : average - average / weight + x / weight;
      lastMs = t;
      results[i] = average;
    }
    slots[HAS_LAST] = 1;
    slots[LAST_MS] = lastMs;
    slots[AVERAGE] = average;
    slots[WEIGHT] = weight;
    return true;
  });
}
