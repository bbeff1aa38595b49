/** Whether two rivals found the same: the same number of samples and times, and values within 1e-9 of each other. */
import { readFileSync } from 'node:fs';

const TOLERANCE = 1e-9;

/** An answer file: pairs of float64, time and value. */
export function readPairs(path) {
  const bytes = readFileSync(path);
  return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
}

/**
 * Reads a CSV of the long or wide layout, in any order and with any form of UTC times, into pairs, series by series.
 */
export function readCsvPairs(path) {
  const text = readFileSync(path, 'utf8').replaceAll('"', '').trim();
  const [header, ...lines] = text.split('\n').map((line) => line.split(','));
  const columns = new Map(header.map((name, index) => [name, index]));
  const timeIndex = columns.get('timestamp') ?? columns.get('start');
  const nameIndex = columns.get('timeseriesId');
  const bySeries = new Map();
  const add = (name, cells, index) => {
    if (!bySeries.has(name)) bySeries.set(name, []);
    bySeries.get(name).push([epochMs(cells[timeIndex]), Number(cells[index])]);
  };
  const values = header.flatMap((name, index) => (index === timeIndex ? [] : [[name, index]]));
  for (const cells of lines) {
    if (nameIndex !== undefined) add(cells[nameIndex], cells, columns.get('value'));
    else for (const [name, index] of values) add(name, cells, index);
  }
  const names = [...bySeries.keys()].sort();
  return Float64Array.from(names.flatMap((name) => bySeries.get(name).sort((x, y) => x[0] - y[0])).flat());
}

function epochMs(text) {
  const instant = text.replace(' ', 'T');
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(instant) ? instant : `${instant}Z`);
}

/** Returns undefined if both are the same, else what differs. */
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
