import { CHUNK_LENGTH } from '../../../core/chunk.js';
import type { Series, SeriesReference } from '../../../core/series.js';
import { openStream, restoreStream, type Stream } from '../../../engine/stream/stream.js';
import type { Plan } from '../../../plan/plan.js';
import { type Columns, concatenate, NO_COLUMNS } from '../../../storage/samples/samples.js';

/** What the engine computes from the next samples of an item: a pure function, in whichever thread it runs. */
export interface StepResult {
  /** The checkpoint after the samples; empty where the options do not need it. */
  readonly state: Uint8Array;
  /** The new final samples of the item's own result. */
  readonly results: Columns;
  /** What the result would be if no more samples came; without a tail, none. */
  readonly preview: Columns;
  readonly counts: { readonly samplesIn: number; readonly samplesOut: number };
  /** How long all of it took, and the preview, in milliseconds. */
  readonly workMs: number;
  readonly previewMs: number;
}

export interface StepOptions {
  readonly maxOutputSamples: number;
  /** Provisional samples of sources that are results, which follow the last samples: for the preview. */
  readonly tail?: readonly Series[] | undefined;
  /** True by default. A large checkpoint takes as long as a preview. */
  readonly needsState?: boolean | undefined;
}

const NO_STATE = new Uint8Array();

/**
 * @param plan of an item: its last result is the item's own.
 * @param state after the step before; undefined at the start.
 * @param chunks the next samples of each source, in time order.
 * @param nowMs of a clock that never goes back.
 */
export function step(
  plan: Plan,
  state: Uint8Array | undefined,
  chunks: readonly Series[],
  options: StepOptions,
  nowMs = () => 0,
): StepResult {
  const startMs = nowMs();
  const stream = openAt(plan, state, options);
  const results = pushChunks(plan, stream, chunks);
  const samplesIn = chunks.reduce((sum, { timeMs }) => sum + timeMs.length, 0);
  const counts = { samplesIn, samplesOut: results.timeMs.length };
  const after = options.needsState === false ? NO_STATE : stream.checkpoint();
  const previewStartMs = nowMs();
  const preview = options.tail === undefined ? NO_COLUMNS : previewOf(plan, stream, options.tail, options);
  const endMs = nowMs();
  return { state: after, results, preview, counts, workMs: endMs - startMs, previewMs: endMs - previewStartMs };
}

export function openAt(plan: Plan, state: Uint8Array | undefined, { maxOutputSamples }: StepOptions): Stream {
  return state === undefined
    ? openStream(plan, { maxOutputSamples })
    : restoreStream(plan, state, { maxOutputSamples });
}

/** Pushes samples into a stream; returns the new final samples of the item's own result. */
export function pushChunks(plan: Plan, stream: Stream, chunks: readonly Series[]): Columns {
  return ownOf(plan, stream.push(interleave(chunks)));
}

/**
 * What the result would be if no more samples came, with provisional samples appended: the tail of a source that is
 * itself a result.
 */
export function previewOf(plan: Plan, stream: Stream, tail: readonly Series[], options: StepOptions): Columns {
  if (tail.every(({ timeMs }) => timeMs.length === 0)) return ownOf(plan, stream.preview());
  const copy = openAt(plan, stream.checkpoint(), options);
  const results = pushChunks(plan, copy, tail);
  return concatenate([results, ownOf(plan, copy.close().series)]);
}

/** The result series of an item's plan: that of its last item. */
export function outputOf({ items }: Plan): SeriesReference {
  const last = items[items.length - 1];
  if (last === undefined) throw new Error('assertion failed: a plan without items');
  return last.output;
}

function ownOf(plan: Plan, series: readonly Series[]): Columns {
  const { timeseriesId, metric } = outputOf(plan);
  const own = series.find((one) => one.timeseriesId === timeseriesId && one.metric === metric);
  return own === undefined ? NO_COLUMNS : { timeMs: own.timeMs, value: own.value };
}

// Chunks of the engine's length, the earliest first, so that steps with two inputs buffer little.
function interleave(chunks: readonly Series[]): readonly Series[] {
  const some = chunks.filter(({ timeMs }) => timeMs.length > 0);
  if (some.length < 2) return some;
  const pieces: Series[] = [];
  for (const series of some) {
    for (let from = 0; from < series.timeMs.length; from += CHUNK_LENGTH) {
      const to = from + CHUNK_LENGTH;
      pieces.push({ ...series, timeMs: series.timeMs.subarray(from, to), value: series.value.subarray(from, to) });
    }
  }
  // The sort is stable: the pieces of one series stay in order, and ties follow the order of the sources.
  return pieces.sort((a, b) => a.timeMs[0]! - b.timeMs[0]!);
}
