import fc from 'fast-check';
import { expect } from 'vitest';
import { homeArena } from '../../src/kernels/arena.js';

/** Columns for tests of kernels, and ways to compare them. */

/** A column in WebAssembly memory, numbered 0 to 7. */
export function scratchColumn(index: number): Float64Array {
  return homeArena().scratchColumns(8)[index]!;
}

export const anyFinite: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: -50, max: 50 }).map((x) => x / 4),
  fc.integer({ min: -999_999, max: 999_999 }).map((x) => x / 1000),
  fc.constantFrom(0, -0, 5e-324, -5e-324, 1e308, -1e308, 1.7976931348623157e308, 1e14, 1e15, 1e16, 0.5, -0.5, 1e-300),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

/** Values whose sums do not overflow. */
export const tame: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: -999_999, max: 999_999 }).map((x) => x / 1000),
  fc.double({ noNaN: true, min: -1e30, max: 1e30 }),
  fc.constantFrom(1e30, -1e30, 1, -1, 1e-30, 0.1, -0),
);

export const anyDouble: fc.Arbitrary<number> = fc.oneof(
  { weight: 9, arbitrary: anyFinite },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY) },
);

/** Odd and even lengths, on both sides of those at which kernels switch to another loop. */
export const columnOf = (value: fc.Arbitrary<number>): fc.Arbitrary<number[]> =>
  fc.oneof(
    fc.array(value, { maxLength: 12 }),
    fc.array(value, { minLength: 12, maxLength: 70, size: 'max' }),
    fc
      .tuple(fc.array(value, { minLength: 1, maxLength: 9 }), fc.integer({ min: 100, max: 2048 }))
      .map(([own, length]) => Array.from({ length }, (_, i) => own[i % own.length]!)),
  );

/** Strictly ascending times. */
export const risingOf = (lengthMax: number): fc.Arbitrary<Float64Array> =>
  fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: lengthMax, size: 'max' }).map((gaps) => {
    let t = -10;
    return Float64Array.from(gaps, (gap) => (t += gap));
  });

/** Fails unless both have the same bits; all NaN are equal. Writes them out only if they differ. */
export function expectSameBits(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  if (!hasSameBits(found, expected)) expect(textOf(found)).toBe(textOf(expected));
}

function hasSameBits(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
  return true;
}

/** 0 and -0 differ. */
function textOf(column: ArrayLike<number>): string {
  return Array.from(column, (x) => (Object.is(x, -0) ? '-0' : String(x))).join(' ');
}
