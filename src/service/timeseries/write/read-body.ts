import type { SeriesReference } from '../../../core/series.js';
import { decodeBody } from '../../http/bodies.js';
import { parseJson } from '../../http/json.js';
import { type BatchCounts, createSampleBatch, takeChanges } from './batch.js';
import { readSamples, type SampleDefaults, SampleIssues } from './json.js';

/** The samples of a body as columns, which pass from thread to thread for the price of their bytes. */
export interface ReadBody {
  readonly series: readonly SeriesReference[];
  /** How many samples each of them has: one after the other in the columns. */
  readonly lengths: readonly number[];
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
  readonly counts: BatchCounts;
}

export interface BodyMessage {
  readonly bytes: Uint8Array;
  readonly defaults: SampleDefaults;
  readonly seriesMax: number;
}

/**
 * What a thread of the pool does; this file is its script. It holds up nobody, so it parses a body at once.
 *
 * @returns undefined for a body with a fault: who reads it again in slices tells which.
 */
export function readBody({ bytes, defaults, seriesMax }: BodyMessage): ReadBody | undefined {
  const batch = createSampleBatch();
  const issues = new SampleIssues();
  try {
    const samples = parseJson(decodeBody(bytes));
    if (!Array.isArray(samples)) return undefined;
    readSamples(samples, 0, samples.length, batch, issues, defaults);
  } catch {
    return undefined;
  }
  if (issues.count > 0 || batch.series.length > seriesMax) return undefined;
  const { changes, counts } = takeChanges(batch);
  const timeMs = new Float64Array(counts.samples);
  const value = new Float64Array(counts.samples);
  let at = 0;
  for (const change of changes) {
    timeMs.set(change.timeMs, at);
    value.set(change.value, at);
    at += change.timeMs.length;
  }
  const series = changes.map(({ timeseriesId, metric }) => ({ timeseriesId, metric }));
  return { series, lengths: changes.map((change) => change.timeMs.length), timeMs, value, counts };
}
