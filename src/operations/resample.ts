import { DAY_MS } from '../core/calendar.js';
import { CHUNK_LENGTH, type Chunk } from '../core/chunk.js';
import type { Duration } from '../core/duration.js';
import { firstStartFrom, type Windows } from '../core/windows.js';
import { lerp } from '../kernels/values.js';
import { addPoints, evenPoints, HAS_LAST, LAST_MS, LAST_VALUE, NEXT_MS } from './even-points.js';
import type { Operation, Output, RegridRunner, RunContext, StepDraft } from './operation.js';
import {
  choice,
  duration,
  durationHint,
  durationMsIn,
  type Parameter,
  type Parameters,
  refuse,
  textIn,
  timezone,
} from './parameters.js';
import { checkedInterval, interval, openWindows } from './windowing.js';

/** `frequency` and `maxgap` are ISO 8601 durations. */
export interface ResampleParameters {
  readonly function?: 'Resample';
  readonly frequency: Duration;
  readonly timezone?: string;
  readonly method?: 'step' | 'linear';
  readonly maxgap?: Duration;
}

export interface ResampleMethods {
  resample(parameters: ResampleParameters): StepDraft<ResampleParameters>;
}

export const resample: Operation<ResampleMethods> = {
  name: 'Resample',
  otherNames: ['interpolate'],
  shape: 'regrid',
  methods: { resample: (parameters) => ({ parameters: { function: 'Resample', ...parameters } }) },
  parameters: {
    function: choice(['Resample'], { default: 'Resample' }),
    frequency: frequency(),
    timezone: timezone({ extension: true }),
    method: choice(['step', 'linear'], { default: 'step', extension: true }),
    maxgap: duration(0, { optional: true, extension: true }),
  },
  open: (parameters, run) => {
    const gapMsMax = durationMsIn(parameters, 'maxgap') ?? Number.POSITIVE_INFINITY;
    const { window, timezone: zone } = gridOf(parameters);
    return resampler(openWindows(window, zone), isLinear(parameters), gapMsMax, run.column);
  },
  windows: gridOf,
  pointsEveryMs: (parameters) => {
    const { window, timezone: zone } = gridOf(parameters);
    return parameters.maxgap === undefined ? openWindows(window, zone).lengthMsMax : undefined;
  },
};

// A duration that a window can have. Days and weeks follow the zone; everything else lies on the epoch grid.
function frequency(): Parameter {
  const given = interval();
  const expected = 'an ISO 8601 duration like PT15M (weeks, days, hours, minutes, seconds)';
  return {
    ...given,
    schema: { type: 'string', format: 'duration', pattern: '[1-9]' },
    read: (value, report, context) => {
      if (typeof value === 'string' && !/^P(?!\d+[YM])/.test(value)) {
        return refuse(report, 'request.duration', expected, value, durationHint(value));
      }
      return given.read(value, report, context) === undefined ? undefined : String(value);
    },
  };
}

export function gridOf(parameters: Parameters): { readonly window: string; readonly timezone: string } {
  const window = textIn(parameters, 'frequency');
  const found = checkedInterval(window);
  const isDays = found.kind === 'calendar' || found.lengthMs % DAY_MS === 0;
  return { window, timezone: isDays ? textIn(parameters, 'timezone') : 'UTC' };
}

export function isLinear(parameters: Parameters): boolean {
  return textIn(parameters, 'method') === 'linear';
}

function resampler(
  grid: Windows,
  isInterpolated: boolean,
  gapMsMax: number,
  column: RunContext['column'],
): RegridRunner {
  const points = evenPoints(column);
  const stepMs = grid.gridMs ?? 0;
  const isPlain = stepMs > 0 && Number.isInteger(stepMs) && gapMsMax === Number.POSITIVE_INFINITY;

  // Emits the points between the last sample and the one at `t`.
  function fillTo(slots: Float64Array, t: number, x: number, out: Output): void {
    const lastMs = slots[LAST_MS]!;
    const lastValue = slots[LAST_VALUE]!;
    let pointMs = slots[NEXT_MS]!;
    if (t - lastMs > gapMsMax) {
      slots[NEXT_MS] = firstStartFrom(grid, t);
      return;
    }
    out.expect((t - pointMs) / grid.lengthMsMax);
    for (; pointMs < t; pointMs = grid.next(pointMs)) {
      out.add(pointMs, isInterpolated ? lerp(lastValue, x, (pointMs - lastMs) / (t - lastMs)) : lastValue);
    }
    slots[NEXT_MS] = pointMs;
  }

  return {
    kind: 'regrid',
    slotCount: 4,
    listCount: 0,
    push: ({ slots }, chunk, out) => {
      const { timeMs, value, count } = chunk;
      // The usual case: even points, and every gap is filled.
      if (isPlain && slots[HAS_LAST] === 1) {
        if (isInterpolated) return interpolateEvenly(slots, chunk, stepMs, out);
        return addPoints(slots, chunk, stepMs, points, out);
      }
      for (let i = 0; i < count; i++) {
        const t = timeMs[i]!;
        const x = value[i]!;
        if (slots[HAS_LAST] === 0) slots[NEXT_MS] = firstStartFrom(grid, t);
        else if (slots[NEXT_MS]! < t) fillTo(slots, t, x, out);
        if (slots[NEXT_MS] === t) {
          out.add(t, x);
          slots[NEXT_MS] = grid.next(t);
        }
        slots[HAS_LAST] = 1;
        slots[LAST_MS] = t;
        slots[LAST_VALUE] = x;
      }
    },
    advance: ({ slots }, watermarkMs, out, comingMs) => {
      const limitMs = Math.min(watermarkMs, comingMs);
      // A held value is certain before the next sample comes; an interpolated one waits for that sample.
      if (isInterpolated || slots[HAS_LAST] === 0 || comingMs - slots[LAST_MS]! > gapMsMax) return;
      if (slots[NEXT_MS]! < limitMs) fillTo(slots, limitMs, 0, out);
    },
    close: () => undefined,
    watermark: ({ slots }, watermarkMs) => (slots[HAS_LAST] === 1 ? slots[NEXT_MS]! : watermarkMs),
  };
}

function interpolateEvenly(slots: Float64Array, { timeMs, value, count }: Chunk, stepMs: number, out: Output): void {
  let pointMs = slots[NEXT_MS]!;
  let lastMs = slots[LAST_MS]!;
  let lastValue = slots[LAST_VALUE]!;
  for (let i = 0; i < count; i++) {
    const t = timeMs[i]!;
    const x = value[i]!;
    if (t - pointMs > CHUNK_LENGTH * stepMs) out.expect((t - pointMs) / stepMs);
    for (; pointMs < t; pointMs += stepMs) out.add(pointMs, lerp(lastValue, x, (pointMs - lastMs) / (t - lastMs)));
    if (pointMs === t) {
      out.add(t, x);
      pointMs += stepMs;
    }
    lastMs = t;
    lastValue = x;
  }
  slots[NEXT_MS] = pointMs;
  slots[LAST_MS] = lastMs;
  slots[LAST_VALUE] = lastValue;
}
