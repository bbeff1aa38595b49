import { tickStep, ticks } from 'd3-array';
import type { Extent } from './panels.js';

/** The ticks of a value axis, and the extent that it spans. */
export interface ValueTicks extends Extent {
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

/** The padding above and below the lines, as a share of their extent. */
const PADDING = 0.05;

/** The ticks of an axis that spans the extent with some padding. */
export function valueTicks(extent: Extent, countMax: number): ValueTicks {
  const { min: from, max: to } = padded(extent);
  const [min, max] = [Math.max(from, -Number.MAX_VALUE), Math.min(to, Number.MAX_VALUE)];
  if (Number.isFinite(max - min)) return { min, max, ticks: ticksWithin({ min, max }, countMax) };
  const values = [-1e308, 0, 1e308].filter((value) => value >= min && value <= max);
  return { min, max, ticks: values.map((value) => ({ value, label: formatValue(value, 1e308) })) };
}

/** Round values at steps of 1, 2 or 5 times a power of ten, at most about `countMax`. */
export function ticksWithin({ min, max }: Extent, countMax: number): ValueTicks['ticks'] {
  // d3 takes the step nearest to the count, which may give a third more ticks than there is room for.
  let count = countMax;
  while (ticks(min, max, count).length > countMax + 1) count--;
  const step = tickStep(min, max, count);
  return ticks(min, max, count).map((value) => ({ value, label: formatValue(value, step) }));
}

/** The ticks of a line of zeros and ones. */
export const binaryTicks: ValueTicks = {
  min: -0.15,
  max: 1.15,
  ticks: [
    { value: 0, label: '0' },
    { value: 1, label: '1' },
  ],
};

/** Differences below this share of the values are rounding errors: the line is flat. */
const FLAT_SHARE = 1e-12;
const LEAST_SIZE = 1e-300;

/** Whether a line is drawn flat. */
export function isFlat({ min, max }: Extent): boolean {
  return max - min <= Math.max(Math.abs(min), Math.abs(max)) * FLAT_SHARE;
}

// The axis ends at zero if the values lie on one side of it and come near it.
function padded({ min, max }: Extent): Extent {
  const size = Math.max(Math.abs(min), Math.abs(max));
  if (size < LEAST_SIZE) return { min: -1, max: 1 };
  if (isFlat({ min, max })) return { min: min - size / 10, max: max + size / 10 };
  const padding = max * PADDING - min * PADDING;
  const isAbove = min >= 0 && min < max / 3;
  const isBelow = max <= 0 && max > min / 3;
  return { min: isAbove ? 0 : min - padding, max: isBelow ? 0 : max + padding };
}

/** A tick's value with as many digits as the step needs, and thousands separated. */
export function formatValue(value: number, stepSize: number): string {
  const size = Math.max(Math.abs(value), stepSize);
  const stepExponent = exponentOf(stepSize);
  if (size >= 1e12 || stepSize < 1e-6) {
    return value === 0
      ? '0'
      : withMinus(
          value
            .toExponential(Math.max(0, exponentOf(Math.abs(value)) - stepExponent))
            .replace(/\.0+e/, 'e')
            .replace('e+', 'e'),
        );
  }
  const digits = Math.max(0, -stepExponent);
  return withMinus(groupThousands(value.toFixed(digits).replace(/^-(?=0\.?0*$)/, '')));
}

function exponentOf(value: number): number {
  return Math.floor(Math.log10(value) + 1e-9);
}

/** A value for a sentence, with about four digits. */
export function shortValue(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e12 || size < 1e-4)) return withMinus(value.toExponential(3));
  return withMinus(groupThousands(String(size >= 1000 ? Math.round(value) : Number(value.toPrecision(4)))));
}

export function groupThousands(digits: string): string {
  const [whole = '', fraction] = digits.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function withMinus(text: string): string {
  return text.replace(/^-/, '\u2212').replace('e-', 'e\u2212');
}
