import type { IntervalName } from '../../../core/interval.js';
import type { DoubleList } from '../../../core/list.js';
import type { Windows } from '../../../core/windows.js';
import type { Operation, Output, RegridRunner, State, StepDraft } from '../../operation.js';
import { choice, timezone } from '../../parameters.js';
import { checkIntervalIn, interval, windowsIn } from '../../windowing.js';

/** `timezone` is an IANA zone. */
export interface DownsampleParameters {
  readonly interval: IntervalName;
  readonly method?: 'lttb' | 'minmax';
  readonly timezone?: string;
}

export interface DownsampleMethods {
  downsample(parameters: DownsampleParameters): StepDraft<DownsampleParameters>;
}

export const downsample: Operation<DownsampleMethods> = {
  name: 'Downsample',
  shape: 'regrid',
  methods: { downsample: (parameters) => ({ parameters }) },
  parameters: {
    interval: interval(),
    method: choice(['lttb', 'minmax'], { default: 'lttb' }),
    timezone: timezone(),
  },
  check: checkIntervalIn,
  open: (parameters) => {
    const windows = windowsIn(parameters);
    return parameters.method === 'minmax' ? extremes(windows) : largestTriangles(windows);
  },
};

const END_MS = 0; // of the open window

/** What a method adds to `byWindows`. */
interface Method extends Pick<RegridRunner, 'close' | 'watermark' | 'slotCount' | 'listCount'> {
  /** Whether it has taken a sample itself, so that no window gathers it. */
  readonly takeFirst?: (state: State, timeMs: number, value: number, out: Output) => boolean;
}

// Gathers the samples of a window in the first two lists; `finish` turns a window that has ended into results.
function byWindows(windows: Windows, finish: (state: State, out: Output) => void, method: Method): RegridRunner {
  return {
    kind: 'regrid',
    start: ({ slots }) => {
      slots[END_MS] = Number.NEGATIVE_INFINITY;
    },
    push: (state, { timeMs, value, count }, out) => {
      const { slots, lists } = state;
      const [times, values] = lists;
      for (let i = 0; i < count; i++) {
        const t = timeMs[i]!;
        if (!(t < slots[END_MS]!)) {
          finish(state, out);
          slots[END_MS] = windows.next(windows.startOf(t));
        }
        if (method.takeFirst?.(state, t, value[i]!, out) === true) continue;
        times!.push(t);
        values!.push(value[i]!);
      }
    },
    advance: (state, watermarkMs, out) => {
      if (watermarkMs >= state.slots[END_MS]!) finish(state, out);
    },
    ...method,
  };
}

function extremes(windows: Windows): RegridRunner {
  function finish({ lists }: State, out: Output): void {
    const [times, values] = lists;
    let least = 0;
    let greatest = 0;
    for (let i = 1; i < values!.length; i++) {
      if (values!.at(i) < values!.at(least)) least = i;
      if (values!.at(i) > values!.at(greatest)) greatest = i;
    }
    if (values!.length > 0) {
      const [one, two] = least < greatest ? [least, greatest] : [greatest, least];
      out.add(times!.at(one), values!.at(one));
      if (one !== two) out.add(times!.at(two), values!.at(two));
    }
    for (const list of lists) list.clear();
  }
  return byWindows(windows, finish, {
    slotCount: 1,
    listCount: 2,
    close: (state, _advancedMs, out) => finish(state, out),
    watermark: ({ lists: [times] }, watermarkMs) =>
      times!.length > 0 ? Math.min(watermarkMs, times!.at(0)) : watermarkMs,
  });
}

// More slots: the sample that was kept last.
const KEPT_COUNT = 1; // 0 or 1
const KEPT_MS = 2;
const KEPT_VALUE = 3;

// Lists: the samples of the open window, then those of the one before, of which one is kept when the open one ends.
function largestTriangles(windows: Windows): RegridRunner {
  function keep(slots: Float64Array, timeMs: number, value: number, out: Output): void {
    slots[KEPT_COUNT] = 1;
    slots[KEPT_MS] = timeMs;
    slots[KEPT_VALUE] = value;
    out.add(timeMs, value);
  }
  function choose({ slots, lists }: State, count: number, nextMs: number, nextValue: number, out: Output): void {
    const [, , times, values] = lists;
    const at = largestTriangle(slots[KEPT_MS]!, slots[KEPT_VALUE]!, times!, values!, count, nextMs, nextValue);
    keep(slots, times!.at(at), values!.at(at), out);
  }
  function finish(state: State, out: Output): void {
    const [times, values, timesBefore, valuesBefore] = state.lists;
    if (times!.length === 0) return;
    if (timesBefore!.length > 0) choose(state, timesBefore!.length, meanOf(times!), meanOf(values!), out);
    timesBefore!.clear();
    valuesBefore!.clear();
    timesBefore!.append(times!.view(), 0, times!.length);
    valuesBefore!.append(values!.view(), 0, values!.length);
    times!.clear();
    values!.clear();
  }
  return byWindows(windows, finish, {
    slotCount: 4,
    listCount: 4,
    // The first sample of all is always kept.
    takeFirst: ({ slots }, timeMs, value, out) => {
      if (slots[KEPT_COUNT] === 1) return false;
      keep(slots, timeMs, value, out);
      return true;
    },
    close: (state, _advancedMs, out) => {
      finish(state, out);
      const [, , times, values] = state.lists;
      const last = times!.length - 1;
      if (last > 0) choose(state, last, times!.at(last), values!.at(last), out);
      if (last >= 0) keep(state.slots, times!.at(last), values!.at(last), out);
      for (const list of state.lists) list.clear();
    },
    watermark: ({ lists: [times, , timesBefore] }, watermarkMs) => {
      const waiting = timesBefore!.length > 0 ? timesBefore! : times!;
      return waiting.length > 0 ? Math.min(watermarkMs, waiting.at(0)) : watermarkMs;
    },
  });
}

// The sample, of the first `count`, whose triangle with the last sample kept and the next window's mean is the largest.
function largestTriangle(
  keptMs: number,
  keptValue: number,
  times: DoubleList,
  values: DoubleList,
  count: number,
  nextMs: number,
  nextValue: number,
): number {
  let best = 0;
  let bestArea = -1;
  for (let i = 0; i < count; i++) {
    const area = Math.abs(
      (keptMs - nextMs) * (values.at(i) - keptValue) - (keptMs - times.at(i)) * (nextValue - keptValue),
    );
    if (area > bestArea) {
      best = i;
      bestArea = area;
    }
  }
  return best;
}

function meanOf(list: DoubleList): number {
  const first = list.at(0);
  let sum = 0;
  for (let i = 0; i < list.length; i++) sum += list.at(i) - first;
  return first + sum / list.length;
}
