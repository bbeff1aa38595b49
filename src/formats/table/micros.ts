import { WindrowError } from '../../core/errors.js';
import { formatInstant } from '../../core/instant.js';

/** A time in microseconds. @throws WindrowError if it is finer, as it would not read back as the same time. */
export function microsOf(timeMs: number): bigint {
  // Towards zero: just before 1970, what lies above the whole millisecond below is rounded.
  const wholeMs = Math.trunc(timeMs);
  const micros = Math.round((timeMs - wholeMs) * 1000);
  if (wholeMs + micros / 1000 === timeMs) return BigInt(wholeMs) * 1000n + BigInt(micros);
  const problem = `${formatInstant(timeMs)} is finer than a microsecond, which timestamps of this format do not hold`;
  throw new WindrowError('file.format', `${problem}; write CSV`);
}
