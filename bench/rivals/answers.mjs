/** Whether two rivals found the same: as many samples, the same times, values within a part in 10^9. */
import { readFileSync } from 'node:fs';

const TOLERANCE = 1e-9;

/** An answer file: float64 pairs, time and value. */
export function readPairs(path) {
  const bytes = readFileSync(path);
  return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
}

/** A CSV with a header, its time first and its value last; times in any of the rivals' forms, all UTC. */
export function readCsvPairs(path) {
  const lines = readFileSync(path, 'utf8').trim().split('\n').slice(1);
  return Float64Array.from(lines.flatMap((line) => [epochMs(line), Number(line.slice(line.lastIndexOf(',') + 1))]));
}

function epochMs(line) {
  const text = line.slice(0, line.indexOf(',')).replaceAll('"', '').replace(' ', 'T');
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

/** undefined when the same; else what differs. */
export function difference(expected, found) {
  if (expected.length !== found.length) return `${found.length / 2} samples, not ${expected.length / 2}`;
  for (let i = 0; i < expected.length; i += 2) {
    const near = Math.abs(expected[i + 1] - found[i + 1]) <= TOLERANCE * Math.max(1, Math.abs(expected[i + 1]));
    if (expected[i] !== found[i] || !near) {
      return `sample ${i / 2}: ${found[i]} ${found[i + 1]}, not ${expected[i]} ${expected[i + 1]}`;
    }
  }
  return undefined;
}
