import { expect } from 'vitest';
import type { Series } from '../../src/core/series.js';
import { ChartData } from '../../src/plot/index.js';
import type { ChartLine } from '../../src/plot/panels.js';

export function seriesOf(metric: string, samples: readonly (readonly [timeMs: number, value: number])[]): Series {
  return {
    timeseriesId: 'a',
    metric,
    timeMs: Float64Array.from(samples, ([timeMs]) => timeMs),
    value: Float64Array.from(samples, ([, value]) => value),
  };
}

export function linesOf(...series: Series[]): ChartLine[] {
  const data = new ChartData();
  data.add(series);
  return data.lines();
}

/** `count` samples one minute apart. */
export function minutes(
  count: number,
  valueAt: (index: number) => number,
  fromMs = Date.UTC(2024, 2, 1),
): [number, number][] {
  return Array.from({ length: count }, (_, index) => [fromMs + index * 60_000, valueAt(index)]);
}

/** Fails unless all elements are closed in order; no more of XML is needed for these pictures. */
export function expectWellFormed(svg: string): void {
  const open: string[] = [];
  for (const [, close, name = '', rest = ''] of svg.matchAll(/<(\/?)([a-z]+)([^<>]*)>/g)) {
    if (close === '/') expect(open.pop()).toBe(name);
    else if (!rest.endsWith('/')) open.push(name);
  }
  expect(open).toEqual([]);
}
