import type { Duration } from '../../../core/duration.js';
import { SHORTEST_MS } from '../../../core/interval.js';
import { lerp } from '../../../kernels/values.js';
import type { Operation, OtherInput, Output, RegridRunner, StepDraft } from '../../operation.js';
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
  otherNames: ['bfill', 'fillna'],
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
  report('/method', 'request.inputs', 'a second input with the method series, and only then', `\`${method}\``, hint);
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
