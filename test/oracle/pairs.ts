// Arithmetic, comparison and logic, and how two inputs are aligned (semantics §3: Two inputs).

import { mod, pow } from './each-value.js';
import { fractionOf, minus } from './numbers.js';
import {
  countDropped,
  type Dropped,
  heldValue,
  latestAtOrBefore,
  linearValue,
  type Outcome,
  type Sample,
  settle,
} from './series.js';
import { parseDuration } from './time.js';

const truth = (condition: boolean): number => (condition ? 1 : 0);

/** |a − b| <= tolerance, for the exact difference. */
function isNear(a: number, b: number, tolerance: number): boolean {
  const { numerator, denominator } = minus(fractionOf(a), fractionOf(b));
  const size = { numerator: numerator < 0n ? -numerator : numerator, denominator };
  return minus(size, fractionOf(tolerance)).numerator <= 0n;
}

/** first `op` second. `tolerance` is for Eq and Ne. */
const BINARY: Readonly<Record<string, (a: number, b: number, tolerance: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  eq: (a, b, tolerance) => truth(isNear(a, b, tolerance)),
  ne: (a, b, tolerance) => truth(!isNear(a, b, tolerance)),
  lt: (a, b) => truth(a < b),
  lte: (a, b) => truth(a <= b),
  gt: (a, b) => truth(a > b),
  gte: (a, b) => truth(a >= b),
  and: (a, b) => truth(a !== 0 && b !== 0),
  or: (a, b) => truth(a !== 0 || b !== 0),
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
  pow: (a, b) => pow(a, b),
  mod: (a, b) => mod(a, b),
};

export interface PairParameters {
  readonly tolerance?: number | undefined;
  readonly align?: string | undefined;
  readonly maxhold?: string | undefined;
  readonly maxgap?: string | undefined;
}

export function isBinary(operation: string): boolean {
  return operation in BINARY;
}

function binaryNamed(operation: string, tolerance = 0): (a: number, b: number) => number {
  const op = BINARY[operation];
  if (op === undefined) throw new Error(`no such operation: ${operation}`);
  return (a, b) => op(a, b, tolerance);
}

/** Each sample `op` scalar. */
export function withScalar(
  operation: string,
  samples: readonly Sample[],
  scalar: number,
  parameters: PairParameters,
): Outcome {
  const op = binaryNamed(operation, parameters.tolerance);
  return settle(
    samples.map(({ timeMs, value }) => ({ timeMs, value: op(value, scalar) })),
    {},
  );
}

/** First input `op` second input, at the times at which both are known. */
export function withSecond(
  operation: string,
  first: readonly Sample[],
  second: readonly Sample[],
  parameters: PairParameters,
): Outcome {
  const op = binaryNamed(operation, parameters.tolerance);
  const dropped: Dropped = {};
  const { pairs, unmatchedCount } = align(first, second, parameters);
  countDropped(dropped, 'unmatched', unmatchedCount);
  const candidates = pairs.map(({ timeMs, a, b }) => {
    // If an interpolated value overflows, the result is unknown too.
    return { timeMs, value: Number.isFinite(a) && Number.isFinite(b) ? op(a, b) : Number.NaN };
  });
  return settle(candidates, dropped);
}

/** The pairs, as samples with two values. */
export function pairsOf(first: readonly Sample[], second: readonly Sample[], parameters: PairParameters): Outcome {
  const dropped: Dropped = {};
  const { pairs, unmatchedCount } = align(first, second, parameters);
  countDropped(dropped, 'unmatched', unmatchedCount);
  const known = pairs.filter(({ a, b }) => Number.isFinite(a) && Number.isFinite(b));
  countDropped(dropped, 'nonFinite', pairs.length - known.length);
  return { samples: known.map(({ timeMs, a, b }) => ({ timeMs, value: a, second: b })), dropped };
}

interface Aligned {
  readonly pairs: { timeMs: number; a: number; b: number }[];
  readonly unmatchedCount: number;
}

function align(first: readonly Sample[], second: readonly Sample[], parameters: PairParameters): Aligned {
  const maxholdMs = parameters.maxhold === undefined ? Number.POSITIVE_INFINITY : parseDuration(parameters.maxhold);
  const held = (samples: readonly Sample[]) => (timeMs: number) => heldValue(samples, timeMs, maxholdMs);
  const maxgapMs = parameters.maxgap === undefined ? Number.POSITIVE_INFINITY : parseDuration(parameters.maxgap);
  const lined = (samples: readonly Sample[]) => (timeMs: number) => linearValue(samples, timeMs, maxgapMs);
  const exact = (samples: readonly Sample[]) => (timeMs: number) => heldValue(samples, timeMs, 0);
  const mode = parameters.align?.toLowerCase() ?? 'inner';
  const union = unionOfTimes(first, second);
  switch (mode) {
    case 'inner':
      return pairsAt(union, exact(first), exact(second));
    case 'hold':
      return pairsAt(union, held(first), held(second));
    case 'linear':
      return pairsAt(union, lined(first), lined(second));
    case 'asof': {
      const times = first.map(({ timeMs }) => timeMs);
      const { pairs, unmatchedCount } = pairsAt(times, exact(first), held(second));
      // Samples of the second input that no sample of the first looks up.
      const lookedUp = new Set(pairs.map(({ timeMs }) => latestAtOrBefore(second, timeMs)));
      return { pairs, unmatchedCount: unmatchedCount + second.length - lookedUp.size };
    }
    default:
      throw new Error(`no such align: ${mode}`);
  }
}

/**
 * The times at which both values are known. Every other time counts as unmatched, once: a sample of just one input has
 * it, since both values are known where both have a sample.
 */
function pairsAt(
  timesMs: readonly number[],
  valueOfFirst: (timeMs: number) => number | undefined,
  valueOfSecond: (timeMs: number) => number | undefined,
): Aligned {
  const pairs = timesMs.flatMap((timeMs) => {
    const a = valueOfFirst(timeMs);
    const b = valueOfSecond(timeMs);
    return a === undefined || b === undefined ? [] : [{ timeMs, a, b }];
  });
  return { pairs, unmatchedCount: timesMs.length - pairs.length };
}

function unionOfTimes(first: readonly Sample[], second: readonly Sample[]): number[] {
  return [...new Set([...first, ...second].map(({ timeMs }) => timeMs))].sort((a, b) => a - b);
}
