import { readdirSync, readFileSync } from 'node:fs';
import { parseInstant } from '../../src/core/instant.js';
import { createPlan, openStream, type RunOptions, runBatch, type Series } from '../../src/index.js';

/** The cases of `test/conformance/*.json`, as its README describes them. */

export interface CaseSeries {
  readonly timeseriesId: string;
  readonly metric: string;
  readonly samples: readonly (readonly [string, number | null])[];
}

export interface ComputationCase {
  readonly file: string;
  readonly name: string;
  readonly request: unknown;
  readonly options?: RunOptions;
  readonly inputs: readonly CaseSeries[];
  readonly expected: readonly CaseSeries[];
  readonly tolerance: number;
}

export interface TextCase {
  readonly kind: 'duration' | 'instant';
  readonly name: string;
  readonly text: string;
  readonly valid: boolean;
  readonly ms?: number;
  readonly timezone?: string;
}

const folder = new URL('.', import.meta.url);

export function readComputationCases(): ComputationCase[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'time-text.json')
    .flatMap((file) => readJson<Omit<ComputationCase, 'file'>[]>(file).map((one) => ({ ...one, file })));
}

export function readTextCases(): TextCase[] {
  return readJson('time-text.json');
}

// We wrote these files; the README describes their form.
function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as T;
}

export function toSeries({ timeseriesId, metric, samples }: CaseSeries): Series {
  const timeMs = Float64Array.from(samples, ([text]) => parseInstant(text) ?? Number.NaN);
  const value = Float64Array.from(samples, ([, given]) => given ?? Number.NaN);
  return { timeseriesId, metric, timeMs, value };
}

/** A stream without lateness needs its samples in time order; samples of equal time keep their order. */
function inTimeOrder(series: Series): Series {
  const order = [...series.timeMs.keys()].sort((a, b) => series.timeMs[a]! - series.timeMs[b]! || a - b);
  const timeMs = Float64Array.from(order, (at) => series.timeMs[at]!);
  const value = Float64Array.from(order, (at) => series.value[at]!);
  return { ...series, timeMs, value };
}

export function runInBatch(one: ComputationCase): readonly Series[] {
  return runBatch(createPlan(one.request, one.options), one.inputs.map(toSeries), one.options).series;
}

/** The same case as a stream: all inputs merged in time order, pushed `chunkLength` samples at a time. */
export function runInStream(one: ComputationCase, chunkLength: number): Series[] {
  const plan = createPlan(one.request, one.options);
  const stream = openStream(plan, one.options);
  const inputs = one.inputs.map(toSeries).map(inTimeOrder);
  const results: Series[] = [];
  for (const part of cutInTime(inputs, chunkLength)) results.push(...stream.push(part));
  results.push(...stream.close().series);
  return plan.items.map(({ output }) => joinParts(output, results));
}

/** Merges the series in time order and cuts them into pushes of `chunkLength` samples. */
export function cutInTime(inputs: readonly Series[], chunkLength: number): Series[][] {
  const places = inputs.flatMap((series, k) =>
    [...series.timeMs.keys()].map((at) => ({ k, at, t: series.timeMs[at]! })),
  );
  places.sort((a, b) => a.t - b.t || a.k - b.k || a.at - b.at);
  const parts: Series[][] = [];
  for (let from = 0; from < places.length; from += chunkLength) {
    const chunk = places.slice(from, from + chunkLength);
    parts.push(
      inputs.map((series, k) => {
        const own = chunk.filter((place) => place.k === k);
        const timeMs = Float64Array.from(own, ({ at }) => series.timeMs[at]!);
        return { ...series, timeMs, value: Float64Array.from(own, ({ at }) => series.value[at]!) };
      }),
    );
  }
  return parts;
}

export function joinParts(output: { timeseriesId: string; metric: string }, parts: readonly Series[]): Series {
  const own = parts.filter((part) => part.timeseriesId === output.timeseriesId && part.metric === output.metric);
  return {
    ...output,
    timeMs: Float64Array.from(own.flatMap((part) => [...part.timeMs])),
    value: Float64Array.from(own.flatMap((part) => [...part.value])),
  };
}
