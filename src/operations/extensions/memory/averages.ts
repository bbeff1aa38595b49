import type { Duration } from '../../../core/duration.js';
import { SHORTEST_MS } from '../../../core/interval.js';
import { pow } from '../../../kernels/exact/elementary.js';
import { runningSums } from '../../../kernels/exact/running.js';
import { SUM_SLOTS } from '../../../kernels/exact/sums.js';
import type { Operation, RegridRunner, RunContext, StepDraft } from '../../operation.js';
import { duration, durationMsIn } from '../../parameters.js';
import { onePerSample } from './per-sample.js';

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

// Slots: the exact sum of the window, so that samples that leave it leave no trace. Lists: its times, its values, and
// the part of the sum that the slots cannot hold.
function movingAverager(windowMs: number, column: RunContext['column']): RegridRunner {
  return onePerSample(
    SUM_SLOTS,
    column,
    ({ slots, lists }, { timeMs, value, count }, results) => {
      const times = lists[0]!;
      const values = lists[1]!;
      const before = times.length;
      times.append(timeMs, 0, count);
      values.append(value, 0, count);
      // Views are safe, as nothing is added while the window goes over them.
      const held = { timeMs: times.view(), value: values.view() };
      const first = runningSums([slots, 0, lists[2]!], held, before, times.length, windowMs, true, results);
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

const HAS_LAST = 0;
const LAST_MS = 1;
const AVERAGE = 2;
const WEIGHT = 3;

function exponentialAverager(halflifeMs: number, column: RunContext['column']): RegridRunner {
  // Most samples are equally far apart, so the last decay is kept.
  let stepMs = Number.NaN;
  let decay = 0;
  return onePerSample(4, column, ({ slots }, { timeMs, value, count }, results) => {
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
