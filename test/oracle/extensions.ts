// The operations that the interface does not have.

import { coalesce, type JoinParameters, joinAll, type ValueParameters, valueFunction } from './each-value.js';
import { fill, gaps, type ScheduleParameters, schedule } from './of-times.js';
import { durationOr, mapValues } from './operations.js';
import type { Outcome, Sample } from './series.js';
import { windowsOf } from './windows.js';
import {
  counted,
  cumulativeSum,
  deadband,
  delay,
  downsample,
  edge,
  exponentialAverage,
  hampel,
  hysteresis,
  movingAverage,
  stuckValue,
  swingingDoor,
  withLast,
} from './with-memory.js';

export type ExtensionParameters = ValueParameters &
  JoinParameters &
  MemoryParameters &
  ScheduleParameters & { readonly timezone?: string | undefined; readonly untilMs?: number | undefined };

interface MemoryParameters {
  readonly maxgap?: string;
  readonly unit?: string;
  readonly max?: number;
  readonly window?: string;
  readonly on?: number | string;
  readonly off?: number | string;
  readonly interval?: string;
  readonly halflife?: string;
  readonly direction?: string;
  readonly duration?: string;
  readonly tolerance?: number | undefined;
  readonly samples?: number;
  readonly threshold?: number;
  readonly action?: string;
  readonly method?: string;
  readonly frequency?: string;
  readonly value?: number;
  readonly gap?: string;
}

/** The result of an extension; undefined for any other operation. */
export function runExtension(
  operation: string,
  inputs: readonly (readonly Sample[])[],
  parameters: ExtensionParameters,
): Outcome | undefined {
  const first = inputs[0]!;
  const ofValue = valueFunction(operation, parameters);
  if (ofValue !== undefined) return mapValues(first, ofValue);
  switch (operation) {
    case 'min':
      return joinAll(inputs, parameters, (values) => Math.min(...values));
    case 'max':
      return joinAll(inputs, parameters, (values) => Math.max(...values));
    case 'select':
      return joinAll(inputs, parameters, ([value, condition, other]) =>
        condition !== 0 ? value : (other ?? parameters.else),
      );
    case 'coalesce':
      return coalesce(inputs, parameters.maxhold);
    default:
      return withMemory(operation, first, parameters) ?? ofTimes(operation, inputs, parameters);
  }
}

function withMemory(
  operation: string,
  samples: readonly Sample[],
  parameters: ExtensionParameters,
): Outcome | undefined {
  const { interval, timezone, max, on, off, tolerance = 0, untilMs = Number.POSITIVE_INFINITY } = parameters;
  const maxgapMs = durationOr(parameters.maxgap, Number.POSITIVE_INFINITY);
  switch (operation) {
    case 'difference':
      return withLast(samples, maxgapMs, (now, last) => now.value - last.value);
    case 'derivative': {
      const unitMs = durationOr(parameters.unit, 1000);
      return withLast(samples, maxgapMs, (now, last) => {
        return (now.value - last.value) / ((now.timeMs - last.timeMs) / unitMs);
      });
    }
    case 'counter':
      return withLast(samples, maxgapMs, (now, last) => counted(now, last, max));
    case 'cumulativesum':
      return cumulativeSum(samples, interval === undefined ? undefined : windowsOf(interval, timezone));
    case 'movingaverage':
      return movingAverage(samples, durationOr(String(parameters.window), 0));
    case 'exponentialaverage':
      return exponentialAverage(samples, durationOr(parameters.halflife, 0));
    case 'hysteresis':
      return hysteresis(samples, Number(on), Number(off));
    case 'delay':
      return delay(samples, durationOr(textOf(on), 0), durationOr(textOf(off), 0), untilMs);
    case 'edge':
      return edge(samples, parameters.direction);
    case 'stuckvalue':
      return stuckValue(samples, durationOr(parameters.duration, 0), tolerance);
    case 'hampel': {
      const { samples: sideCount = 3, threshold = 3, action = 'replace' } = parameters;
      return hampel(samples, sideCount, threshold, action.toLowerCase());
    }
    case 'deadband':
      return deadband(samples, tolerance);
    case 'swingingdoor':
      return swingingDoor(samples, tolerance);
    case 'downsample':
      return downsample(samples, windowsOf(String(interval), timezone), parameters.method);
    default:
      return undefined;
  }
}

function textOf(duration: string | number | undefined): string | undefined {
  return typeof duration === 'string' ? duration : undefined;
}

function ofTimes(
  operation: string,
  inputs: readonly (readonly Sample[])[],
  parameters: ExtensionParameters,
): Outcome | undefined {
  const first = inputs[0]!;
  switch (operation) {
    case 'schedule':
      return schedule(first, parameters, parameters.timezone, parameters.untilMs);
    case 'fill': {
      const everyMs = durationOr(parameters.frequency, 0);
      const maxgapMs = durationOr(parameters.maxgap, Number.POSITIVE_INFINITY);
      const { method = 'previous', value } = parameters;
      return fill(first, inputs[1] ?? [], { everyMs, maxgapMs, method: method.toLowerCase(), value });
    }
    case 'gaps':
      return gaps(first, durationOr(parameters.gap, 0), durationOr(parameters.unit, 1000));
    default:
      return undefined;
  }
}
