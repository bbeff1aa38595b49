import { describeValue, InputError } from '../core/errors.js';
import { isKnownTime, type Series, seriesName } from '../core/series.js';
import { isTyped } from '../core/typed-array.js';
import { isRising } from '../kernels/check.js';

/** Fewer times are checked one by one. */
const KERNEL_COUNT_MIN = 8;

/** Checks that `inputs` is a list of series. @throws InputError */
export function checkList(inputs: unknown): void {
  if (Array.isArray(inputs)) return;
  const expected = 'an array of series {timeseriesId, metric, timeMs, value}';
  throw new InputError('input.columns', `inputs: expected ${expected}, received ${describeValue(inputs)}`);
}

/** Checks that the columns of a series fit together. @throws InputError */
export function checkColumns(series: Series): void {
  if (!series) checkList(series);
  const { timeseriesId, metric, timeMs, value } = series;
  const isNamed = typeof timeseriesId === 'string' && typeof metric === 'string';
  if (!isNamed || !isTyped(timeMs, 'Float64Array') || !isTyped(value, 'Float64Array')) {
    const expected = isNamed ? 'timeMs and value as Float64Array' : 'timeseriesId and metric as texts';
    throw new InputError('input.columns', `${seriesName(series)}: expected ${expected}`);
  }
  if (timeMs.length === 0) checkAttached(timeMs, seriesName(series));
  if (timeMs.length !== value.length) {
    const expected = `expected columns of equal length, received ${timeMs.length} times and ${value.length} values`;
    throw new InputError('input.columns', `${seriesName(series)}: ${expected}`);
  }
}

/** Checks that an empty column has not lost its samples. @throws InputError */
export function checkAttached(column: Float64Array, name: string): void {
  try {
    column.at(0);
  } catch {
    const received = 'detached ones: transferred, or of a disposed run';
    throw new InputError('input.columns', `${name}: expected columns, received ${received}`);
  }
}

/** Checks every time of a series before any sample is taken. @throws InputError naming the index and the time. */
export function checkTimes(series: Series): void {
  checkEachTime(series.timeMs, () => seriesName(series));
}

export function checkEachTime(timeMs: Float64Array, nameOf: () => string): void {
  const count = timeMs.length;
  // Rising times lie within the known years if the first and the last do; for many times this check is faster.
  const isMany = count >= KERNEL_COUNT_MIN && isKnownTime(timeMs[0]!) && isKnownTime(timeMs[count - 1]!);
  if (isMany && isRising(timeMs, 0, count, Number.NEGATIVE_INFINITY)) return;
  for (let i = 0; i < count; i++) {
    const t = timeMs[i]!;
    if (isKnownTime(t)) continue;
    const expected = 'epoch milliseconds within the years 0001 to 9999';
    throw new InputError('input.time', `${nameOf()}: expected ${expected}, received ${t} at index ${i}`);
  }
}
