import type { Extent } from './line.js';

/** Marks of a value axis, and the extent that it spans. */
export interface ValueTicks extends Extent {
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

/** Round values at steps of 1, 2 or 5 times a power of ten, about `wantedCount` of them, around an extent. */
export function valueTicks(extent: Extent, wantedCount: number): ValueTicks {
  const { min, max } = roomy(extent);
  const stepSize = niceStep((max - min) / wantedCount);
  const first = Math.floor(min / stepSize + 1e-9);
  const last = Math.ceil(max / stepSize - 1e-9);
  const values = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * stepSize);
  const ticks = values.map((value) => ({ value, label: formatValue(value, stepSize) }));
  return { min: first * stepSize, max: last * stepSize, ticks };
}

/** The marks of a line of zeros and ones. */
export const binaryTicks: ValueTicks = {
  min: -0.15,
  max: 1.15,
  ticks: [
    { value: 0, label: '0' },
    { value: 1, label: '1' },
  ],
};

// Zero belongs to the axis when the values come near it.
function roomy({ min, max }: Extent): Extent {
  if (min === max) {
    const room = Math.abs(min) / 10 || 1;
    return { min: min - room, max: max + room };
  }
  if (min > 0 && min < max / 3) return { min: 0, max };
  if (max < 0 && max > min / 3) return { min, max: 0 };
  return { min, max };
}

function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((nice) => nice * power >= least * 0.999) ?? 10;
  return factor * power;
}

/** A value as marks show it: digits as the step needs them, thousands apart. */
export function formatValue(value: number, stepSize: number): string {
  const size = Math.max(Math.abs(value), stepSize);
  if (size >= 1e12 || stepSize < 1e-6) {
    return value === 0
      ? '0'
      : withMinus(
          value
            .toExponential(2)
            .replace(/\.?0+e/, 'e')
            .replace('e+', 'e'),
        );
  }
  const digits = Math.max(0, -Math.floor(Math.log10(stepSize) + 1e-9));
  return withMinus(groupThousands(value.toFixed(digits).replace(/^-(?=0\.?0*$)/, '')));
}

/** A value as a sentence shows it: about four digits. */
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
