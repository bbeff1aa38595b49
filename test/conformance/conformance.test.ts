import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../src/core/duration.js';
import { parseInstant } from '../../src/core/instant.js';
import { zoneOf } from '../../src/core/zone.js';
import type { Series } from '../../src/index.js';
import {
  type CaseSeries,
  readComputationCases,
  readTextCases,
  runInBatch,
  runInStream,
  toSeries,
} from './conformance.js';

describe('batch runs give the results of other projects', () => {
  test.each(readComputationCases().map((one) => [`${one.file}: ${one.name}`, one] as const))('%s', (_name, one) => {
    const results = runInBatch(one);
    for (const expected of one.expected) expectSamples(results, expected, one.tolerance);
  });
});

describe('streams cut into chunks of 1, 2, 7 and all samples give the same bits as batch', () => {
  test.each(readComputationCases().map((one) => [`${one.file}: ${one.name}`, one] as const))('%s', (_name, one) => {
    const batch = runInBatch(one).map(bits);
    for (const chunkLength of [1, 2, 7, Number.MAX_SAFE_INTEGER]) {
      expect(runInStream(one, chunkLength).map(bits)).toEqual(batch);
    }
  });
});

describe('time as text', () => {
  test.each(readTextCases().map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const zone = one.timezone === undefined ? undefined : zoneOf(one.timezone);
    const read = one.kind === 'duration' ? parseDuration(one.text) : parseInstant(one.text, zone);
    expect(read).toBe(one.valid ? one.ms : undefined);
  });
});

function bits({ timeMs, value }: Series): [bigint, bigint][] {
  const view = new DataView(new ArrayBuffer(8));
  const bitsOf = (x: number): bigint => {
    view.setFloat64(0, x);
    return view.getBigUint64(0);
  };
  return [...timeMs].map((t, i) => [bitsOf(t), bitsOf(value[i]!)]);
}

function expectSamples(results: readonly Series[], expected: CaseSeries, tolerance: number): void {
  const wanted = toSeries(expected);
  const found = results.find((one) => one.timeseriesId === expected.timeseriesId && one.metric === expected.metric);
  expect(found, `no result ${expected.timeseriesId}/${expected.metric}`).toBeDefined();
  const { timeMs, value } = found!;
  expect([...timeMs].length).toBe(wanted.timeMs.length);
  for (const [i, t] of wanted.timeMs.entries()) {
    expect(Math.abs(timeMs[i]! - t)).toBeLessThanOrEqual(Math.abs(t) * 2 ** -52);
    const [a, b] = [value[i]!, wanted.value[i]!];
    const isEqual = a === b || Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
    expect(isEqual, `${a} for ${b} at ${new Date(t).toISOString()}`).toBe(true);
  }
}
