import { WindrowError } from '../../core/errors.js';
import { formatInstant } from '../../core/instant.js';

/** A time in microseconds. Refused where it would change: what is read back is the time that was written. */
export function microsOf(timeMs: number): bigint {
  const wholeMs = Math.floor(timeMs);
  const micros = Math.round((timeMs - wholeMs) * 1000);
  if (wholeMs + micros / 1000 === timeMs) return BigInt(wholeMs) * 1000n + BigInt(micros);
  const problem = `${formatInstant(timeMs)} is finer than a microsecond, which timestamps of this format do not hold`;
  throw new WindrowError('file.format', `${problem}; write CSV`);
}
