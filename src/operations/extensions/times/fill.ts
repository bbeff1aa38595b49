import type { Duration } from '../../../core/duration.js';
import { SHORTEST_MS } from '../../../core/interval.js';
import { lerp } from '../../../kernels/interpolate.js';
import type {
  Describe,
  Operation,
  OperationTexts,
  OtherInput,
  Output,
  RegridRunner,
  StepDraft,
} from '../../operation.js';
import {
  choice,
  duration,
  durationMsIn,
  number,
  numberIn,
  type Parameters,
  type Report,
  textIn,
} from '../../parameters.js';

/** ISO 8601 durations: how far apart samples should be, and the longest gap to fill. */
interface FillSpan {
  readonly frequency: Duration;
  readonly maxgap?: Duration;
}

export type FillParameters = FillSpan &
  ({ readonly method?: 'previous' | 'linear' } | { readonly method: 'constant'; readonly value: number });

export interface FillMethods {
  fill(parameters: FillParameters): StepDraft<FillParameters>;
  /** Fills gaps with the samples of another series. */
  fillFrom(other: OtherInput, parameters: FillSpan): StepDraft<FillSpan & { readonly method: 'series' }>;
}

export const fill: Operation<FillMethods, 'Fill'> = {
  name: 'Fill',
  shape: 'regrid',
  inputs: 'one or two',
  methods: {
    fill: (parameters) => ({ parameters }),
    fillFrom: (other, parameters) => ({ parameters: { ...parameters, method: 'series' }, others: [other] }),
  },
  parameters: {
    frequency: duration(SHORTEST_MS),
    method: choice(['previous', 'linear', 'constant', 'series'], { default: 'previous' }),
    value: number({ optional: true }),
    maxgap: duration(0, { optional: true }),
  },
  check: checkFill,
  open: (parameters) => {
    const everyMs = durationMsIn(parameters, 'frequency') ?? 0;
    const gapMsMax = durationMsIn(parameters, 'maxgap') ?? Number.POSITIVE_INFINITY;
    if (parameters.method === 'series') return fillerFromSeries(everyMs, gapMsMax);
    return filler(everyMs, gapMsMax, valueBetween(parameters));
  },
};

export const fillTexts: OperationTexts = {
  summary: 'Fills gaps between samples with further samples; existing ones stay as they are.',
  parameters: {
    frequency: 'How far apart samples should be.',
    method:
      '`previous`: the value before the gap; `linear`: interpolated; `constant`: `value`; `series`: the samples ' +
      'that the second input has there, at their own times.',
    value: 'The value to fill with, for the method `constant`.',
    maxgap: 'Longer gaps stay as they are.',
  },
  examples: [
    {
      title: 'Short gaps are interpolated, long ones stay',
      parameters: { frequency: 'PT15M', method: 'linear', maxgap: 'PT1H' },
      inputs: ['00:00 1, 00:15 2, 00:45 4, 03:00 8'],
      output: '00:00 1, 00:15 2, 00:30 3, 00:45 4, 03:00 8',
    },
    {
      title: 'The value before the gap',
      parameters: { frequency: 'PT10M' },
      inputs: ['00:00 1, 00:30 2'],
      output: '00:00 1, 00:10 1, 00:20 1, 00:30 2',
    },
    {
      title: 'Zero where a pulse counter was silent',
      parameters: { frequency: 'PT15M', method: 'constant', value: 0 },
      inputs: ['00:00 3, 00:45 5'],
      output: '00:00 3, 00:15 0, 00:30 0, 00:45 5',
    },
    {
      title: 'From a second sensor',
      parameters: { frequency: 'PT15M', method: 'series' },
      inputs: ['00:00 20, 00:15 21, 01:00 22', '00:00 30, 00:15 31, 00:30 32, 00:45 33, 01:00 34, 01:15 35'],
      output: '00:00 20, 00:15 21, 00:30 32, 00:45 33, 01:00 22',
    },
    {
      title: 'Samples that are a little early or late leave no gap',
      parameters: { frequency: 'PT15M' },
      inputs: ['00:00 1, 00:16:30 2, 00:30 3, 00:58 4'],
      output: '00:00 1, 00:16:30 2, 00:30 3, 00:45 3, 00:58 4',
    },
  ],
};

export const describeFill: Describe = (parameters) => ({
  does:
    `fills gaps between samples that should be ${textIn(parameters, 'frequency')} apart (${parameters.method})` +
    (parameters.maxgap === undefined ? '' : `, of up to ${textIn(parameters, 'maxgap')}`),
  reads: { kind: 'neighbours', gapMsMax: durationMsIn(parameters, 'maxgap') },
  keeps: 'the last sample, and those of the second input since',
  final: 'with its sample or, in a gap, with the sample after it',
});

function checkFill(parameters: Parameters, report: Report, inputCount: number): void {
  const method = textIn(parameters, 'method');
  if (method === 'constant' && parameters.value === undefined) {
    report('/value', 'request.missing', 'a value with the method constant', 'nothing');
  }
  if (method !== 'constant' && parameters.value !== undefined) {
    report('/value', 'request.conflict', 'value only with the method constant', `the method ${method}`);
  }
  if ((method === 'series') === (inputCount === 2)) return;
  const hint = method === 'series' ? 'add the series to fill from' : 'take the method series';
  report('/method', 'request.conflict', 'a second input with the method series, and only then', `\`${method}\``, hint);
}

/** The value to fill with at a time between two samples. */
type Between = (pointMs: number, lastMs: number, lastValue: number, nextMs: number, nextValue: number) => number;

function valueBetween(parameters: Parameters): Between {
  if (parameters.method === 'linear') {
    return (pointMs, lastMs, lastValue, nextMs, nextValue) =>
      lerp(lastValue, nextValue, (pointMs - lastMs) / (nextMs - lastMs));
  }
  if (parameters.method !== 'constant') return (_pointMs, _lastMs, lastValue) => lastValue;
  const constant = numberIn(parameters, 'value');
  return () => constant;
}

// How many samples are missing: the number that brings their distances nearest to `everyMs`.
function missingIn(lengthMs: number, everyMs: number): number {
  return Math.round(lengthMs / everyMs) - 1;
}

const HAS_LAST = 0;
const LAST_MS = 1;
const LAST_VALUE = 2;

function setLast(slots: Float64Array, timeMs: number, value: number): void {
  slots[HAS_LAST] = 1;
  slots[LAST_MS] = timeMs;
  slots[LAST_VALUE] = value;
}

// The next result may lie in the gap after the last sample.
function watermarkAfter(slots: Float64Array, watermarkMs: number): number {
  return slots[HAS_LAST] === 1 ? Math.min(watermarkMs, slots[LAST_MS]!) : watermarkMs;
}

function filler(everyMs: number, gapMsMax: number, between: Between): RegridRunner {
  function fillTo(slots: Float64Array, nextMs: number, nextValue: number, out: Output): void {
    const lastMs = slots[LAST_MS]!;
    const lastValue = slots[LAST_VALUE]!;
    if (!(nextMs - lastMs <= gapMsMax)) return;
    const missing = missingIn(nextMs - lastMs, everyMs);
    out.expect(missing);
    for (let k = 1; k <= missing; k++) {
      const pointMs = lastMs + k * everyMs;
      out.add(pointMs, between(pointMs, lastMs, lastValue, nextMs, nextValue));
    }
  }
  return {
    kind: 'regrid',
    slotCount: 3,
    listCount: 0,
    push: ({ slots }, { timeMs, value, count }, out) => {
      for (let i = 0; i < count; i++) {
        const t = timeMs[i]!;
        if (slots[HAS_LAST] === 1) fillTo(slots, t, value[i]!, out);
        setLast(slots, t, value[i]!);
        out.add(t, value[i]!);
      }
    },
    advance: () => undefined,
    close: () => undefined,
    watermark: ({ slots }, watermarkMs) => watermarkAfter(slots, watermarkMs),
  };
}

// Lists: the samples of the first input that wait for the second, and those of the second since the first's last.
function fillerFromSeries(everyMs: number, gapMsMax: number): RegridRunner {
  const meet: RegridRunner['advance'] = ({ slots, lists }, endMs, out) => {
    const [times, values, otherTimes, otherValues] = lists;
    let count = 0;
    for (; count < times!.length && times!.at(count) < endMs; count++) {
      const t = times!.at(count);
      const lastMs = slots[HAS_LAST] === 1 ? slots[LAST_MS]! : t;
      const isFilled = t - lastMs <= gapMsMax && missingIn(t - lastMs, everyMs) > 0;
      let used = 0;
      for (; used < otherTimes!.length && otherTimes!.at(used) <= t; used++) {
        const otherMs = otherTimes!.at(used);
        if (isFilled && otherMs > lastMs && otherMs < t) out.add(otherMs, otherValues!.at(used));
      }
      otherTimes!.shift(used);
      otherValues!.shift(used);
      setLast(slots, t, values!.at(count));
      out.add(t, values!.at(count));
    }
    times!.shift(count);
    values!.shift(count);
  };
  return {
    kind: 'regrid',
    inputCount: 2,
    slotCount: 3,
    listCount: 4,
    push: ({ lists }, { timeMs, value, count }, _out, input) => {
      lists[2 * input]!.append(timeMs, 0, count);
      lists[2 * input + 1]!.append(value, 0, count);
    },
    advance: meet,
    close: (state, _advancedMs, out) => {
      meet(state, Number.POSITIVE_INFINITY, out, Number.NEGATIVE_INFINITY);
      for (const list of state.lists) list.clear();
    },
    watermark: ({ slots }, watermarkMs) => watermarkAfter(slots, watermarkMs),
  };
}
