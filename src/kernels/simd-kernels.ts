import { kernelsText } from './module.js';
import { openModule } from './open-module.js';

type Scalar = (value: number, count: number, scalar: number, out: number) => number;
type Vector = (left: number, right: number, count: number, out: number) => number;

/** The exports of `assembly/`; columns are given by their byte offsets. */
export interface SimdKernels
  extends Record<'addScalar' | 'mulScalar' | 'divScalar', Scalar>,
    Record<'add' | 'sub' | 'mul' | 'div', Vector> {
  ltScalar(value: number, count: number, scalar: number, out: number, yes: number): void;
  gtScalar(value: number, count: number, scalar: number, out: number, yes: number): void;
  nearScalar(value: number, count: number, scalar: number, tolerance: number, out: number, yes: number): void;
  lt(left: number, right: number, count: number, out: number, yes: number): void;
  near(left: number, right: number, count: number, tolerance: number, out: number, yes: number): void;
  /** And if `yes` is 1, Or if it is 0. */
  and(left: number, right: number, count: number, out: number, yes: number): void;
  abs(value: number, count: number, out: number): void;
  clamp(value: number, count: number, lower: number, upper: number, out: number): void;
  roundHalfAway(value: number, count: number, power: number, head: number, rest: number, out: number): number;
  isRising(timeMs: number, count: number, beforeMs: number): number;
  isAllFinite(value: number, count: number): number;
  countRange(value: number, count: number, lower: number, upper: number): number;
  keepRange(
    timeMs: number,
    value: number,
    count: number,
    lower: number,
    upper: number,
    isInside: number,
    outTimeMs: number,
    outValue: number,
  ): number;
  stepPoints(
    timeMs: number,
    value: number,
    outTimeMs: number,
    outValue: number,
    from: number,
    count: number,
    lastValue: number,
    nextMs: number,
    stepMs: number,
    room: number,
  ): number;
  /** The first sample that the last call of `stepPoints` has not used up. */
  readonly pointsEnd: { readonly value: number };
  findWindows(
    timeMs: number,
    count: number,
    startMs: number,
    lengthMs: number,
    borders: number,
    windowCount: number,
    startsMs: number,
  ): number;
  sumWindows(value: number, borders: number, windowCount: number, isMean: number, results: number): void;
  holdWindows(
    timeMs: number,
    value: number,
    borders: number,
    windowCount: number,
    startsMs: number,
    lengthMs: number,
    maxHoldMs: number,
    divisorMs: number,
    results: number,
  ): void;
}

/** The kernels bound to a memory, compiled once for all memories; undefined without WebAssembly SIMD. */
export function openKernels(memory: WebAssembly.Memory): SimdKernels | undefined {
  // The interface above is the one that assembly/index.ts exports.
  return openModule(kernelsText, memory) as SimdKernels | undefined;
}
