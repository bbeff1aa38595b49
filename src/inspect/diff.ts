import { type Series, type SeriesReference, seriesKey } from '../core/series.js';
import { runEvery } from '../engine/every/index.js';
import type { RunOptions } from '../engine/options.js';
import type { Plan } from '../plan/plan.js';

/** A sample in two results; undefined on the side that lacks it. */
export interface ChangedSample {
  readonly timeMs: number;
  readonly before?: number;
  readonly after?: number;
}

/** How a result changes when another plan runs over the same samples. */
export interface ChangedResult {
  readonly series: SeriesReference;
  /** Which plans give the result. */
  readonly isIn: 'both' | 'before' | 'after';
  readonly sameCount: number;
  readonly addedCount: number;
  readonly goneCount: number;
  readonly differentCount: number;
  /** The first ten samples that were added or are gone, in order of time. */
  readonly addedOrGone: readonly ChangedSample[];
  /** The ten samples whose values differ most, the greatest difference first. */
  readonly largest: readonly ChangedSample[];
}

const SHOWN = 10;

/**
 * Runs two plans over the same series and compares their results by name.
 *
 * @throws InputError as `runEvery` does.
 */
export function diff(before: Plan, after: Plan, inputs: readonly Series[], options: RunOptions = {}): ChangedResult[] {
  const resultsOf = (plan: Plan) => new Map(runEvery(plan, inputs, options).series.map((one) => [seriesKey(one), one]));
  const [old, recent] = [resultsOf(before), resultsOf(after)];
  return [...new Set([...old.keys(), ...recent.keys()])].map((key) => compare(old.get(key), recent.get(key)));
}

function compare(before: Series | undefined, after: Series | undefined): ChangedResult {
  const { timeseriesId, metric } = (before ?? after)!;
  const addedOrGone: ChangedSample[] = [];
  let largest: Required<ChangedSample>[] = [];
  let [sameCount, addedCount, goneCount, differentCount] = [0, 0, 0, 0];
  for (const sample of aligned(before, after)) {
    if (sample.before === undefined || sample.after === undefined) {
      if (sample.before === undefined) addedCount++;
      else goneCount++;
      if (addedOrGone.length < SHOWN) addedOrGone.push(sample);
    } else if (Object.is(sample.before, sample.after)) sameCount++;
    else {
      differentCount++;
      largest.push({ timeMs: sample.timeMs, before: sample.before, after: sample.after });
      if (largest.length === 100 * SHOWN) largest = mostDifferent(largest);
    }
  }
  const isIn = before === undefined ? 'after' : after === undefined ? 'before' : 'both';
  const counts = { sameCount, addedCount, goneCount, differentCount };
  return { series: { timeseriesId, metric }, isIn, ...counts, addedOrGone, largest: mostDifferent(largest) };
}

function mostDifferent(samples: readonly Required<ChangedSample>[]): Required<ChangedSample>[] {
  const by = ({ before, after }: Required<ChangedSample>): number => Math.abs(after - before);
  return [...samples].sort((a, b) => by(b) - by(a) || a.timeMs - b.timeMs).slice(0, SHOWN);
}

/** The samples of two series side by side, in order of time. */
function* aligned(before: Series | undefined, after: Series | undefined): Generator<ChangedSample> {
  const [a, b] = [before?.timeMs ?? [], after?.timeMs ?? []];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const timeMs = Math.min(a[i] ?? Number.POSITIVE_INFINITY, b[j] ?? Number.POSITIVE_INFINITY);
    const old = a[i] === timeMs ? before!.value[i++] : undefined;
    const recent = b[j] === timeMs ? after!.value[j++] : undefined;
    yield { timeMs, ...(old === undefined ? {} : { before: old }), ...(recent === undefined ? {} : { after: recent }) };
  }
}

/** The first sample in which two runs differ, bit for bit. */
export function firstDifference(
  before: readonly Series[],
  after: readonly Series[],
): (ChangedSample & { readonly series: SeriesReference }) | undefined {
  const others = new Map(after.map((one) => [seriesKey(one), one]));
  for (const one of before) {
    const { timeseriesId, metric } = one;
    for (const sample of aligned(one, others.get(seriesKey(one)))) {
      if (!Object.is(sample.before, sample.after)) return { ...sample, series: { timeseriesId, metric } };
    }
  }
  return undefined;
}
