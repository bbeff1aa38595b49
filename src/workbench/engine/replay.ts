import { openStream, type Plan, runBatch, type Series, type Stream } from '../../index.js';
import type { Line, ReplayEnd, ReplayOptions, ReplayState, TimeRange } from './protocol.js';
import { gapOf, noLine, thin } from './thin.js';

const COLUMNS = 700;
const LATE_SHOWN = 2000;

/** A stream over recorded series: samples arrive one by one, some of them delayed. */
export class Replay {
  readonly #plan: Plan;
  readonly #inputs: readonly Series[];
  readonly #stream: Stream;
  /** The input of each sample to come, and its index there, in order of arrival. */
  readonly #arrivals: readonly (readonly [input: number, index: number])[];
  readonly #newestMs: number[];
  readonly #extent: TimeRange;
  readonly #latenessMs: number;
  readonly #results: { readonly timeMs: number[]; readonly value: number[] }[];
  /** The input of each sample that came too late, and its index there. */
  readonly #late: (readonly [input: number, index: number])[] = [];
  #arrived = 0;
  #end: ReplayEnd | undefined;

  constructor(plan: Plan, inputs: readonly Series[], { allowedLateness, delayMsMax, seed }: ReplayOptions) {
    this.#plan = plan;
    this.#inputs = inputs;
    this.#stream = openStream(plan, { allowedLateness });
    this.#latenessMs = durationMs(allowedLateness);
    this.#arrivals = arrivalsOf(inputs, delayMsMax, seed);
    this.#newestMs = inputs.map(() => Number.NEGATIVE_INFINITY);
    this.#extent = {
      fromMs: Math.min(...inputs.map(({ timeMs }) => timeMs[0] ?? Number.POSITIVE_INFINITY)),
      untilMs: Math.max(...inputs.map(({ timeMs }) => timeMs.at(-1) ?? Number.NEGATIVE_INFINITY)),
    };
    this.#results = plan.items.map(() => ({ timeMs: [], value: [] }));
  }

  /** Lets this many samples arrive, and closes the stream after the last one. */
  goOn(count: number): void {
    const until = Math.min(this.#arrivals.length, this.#arrived + count);
    while (this.#arrived < until) {
      const [input = 0, index = 0] = this.#arrivals[this.#arrived++] ?? [];
      const { timeseriesId, metric, timeMs, value } = this.#inputs[input]!;
      const piece = { timeMs: timeMs.slice(index, index + 1), value: value.slice(index, index + 1) };
      this.#newestMs[input] = Math.max(this.#newestMs[input]!, timeMs[index]!);
      this.#take(this.#stream.push([{ timeseriesId, metric, ...piece }]));
      if (this.#stream.late.length > 0) this.#late.push([input, index]);
    }
    if (this.#arrived < this.#arrivals.length || this.#end !== undefined) return;
    this.#take(this.#stream.close().series);
    this.#end = this.#compare();
  }

  state(): ReplayState {
    const newestMs = this.#newestMs.length === 0 ? Number.NaN : Math.min(...this.#newestMs);
    const previews = this.#end === undefined && this.#arrived > 0 ? this.#stream.preview() : [];
    const sources = this.#end === undefined ? this.#stream.report().sources : [];
    const results = this.#plan.items.map(({ output }, item) => ({
      ...output,
      finalCount: this.#results[item]!.timeMs.length,
      final: lineOf({ ...output, ...columnsOf(this.#results[item]!) }),
      preview: lineOf(previews[item]),
    }));
    return {
      arrived: this.#arrived,
      total: this.#arrivals.length,
      extent: this.#extent,
      watermarkMs: Number.isFinite(newestMs) ? newestMs - this.#latenessMs : Number.NaN,
      newestMs: Math.max(...this.#newestMs),
      heldBack: sources.reduce((sum, source) => sum + heldBackBy(source), 0),
      lateMs: this.#late.slice(-LATE_SHOWN).map(([input, index]) => this.#inputs[input]!.timeMs[index]!),
      lateCount: this.#late.length,
      results,
      ...(this.#end === undefined ? {} : { end: this.#end }),
    };
  }

  #take(series: readonly Series[]): void {
    for (const one of series) {
      const item = this.#plan.items.findIndex(
        ({ output }) => output.timeseriesId === one.timeseriesId && output.metric === one.metric,
      );
      const result = this.#results[item]!;
      for (let i = 0; i < one.timeMs.length; i++) {
        result.timeMs.push(one.timeMs[i]!);
        result.value.push(one.value[i]!);
      }
    }
  }

  #compare(): ReplayEnd {
    const taken = this.#inputs.map((series, input) => {
      const late = new Set(this.#late.flatMap(([of, index]) => (of === input ? index : [])));
      const isTaken = (_: number, index: number): boolean => !late.has(index);
      return { ...series, timeMs: series.timeMs.filter(isTaken), value: series.value.filter(isTaken) };
    });
    const compared = this.#results.reduce((sum, { timeMs }) => sum + timeMs.length, 0);
    const different = this.#differences(runBatch(this.#plan, taken).series);
    const differentWithLate =
      this.#late.length === 0 ? different : this.#differences(runBatch(this.#plan, this.#inputs).series);
    return { compared, different, differentWithLate };
  }

  #differences(batch: readonly Series[]): number {
    return batch.reduce((sum, series, item) => sum + differenceCount(this.#results[item]!, series), 0);
  }
}

type Columns = { readonly [name in 'timeMs' | 'value']: ArrayLike<number> };

/** How many samples of two series differ, if only in the last bit. */
export function differenceCount(a: Columns, b: Columns): number {
  let count = 0;
  for (let i = 0; i < Math.max(a.timeMs.length, b.timeMs.length); i++) {
    if (!Object.is(a.timeMs[i], b.timeMs[i]) || !Object.is(a.value[i], b.value[i])) count++;
  }
  return count;
}

type SourceCounts = ReturnType<Stream['report']>['sources'][number];

function heldBackBy({ samplesIn, samplesOut, dropped }: SourceCounts): number {
  return samplesIn - samplesOut - dropped.missing - dropped.outOfRun - dropped.duplicate - dropped.late;
}

function arrivalsOf(inputs: readonly Series[], delayMsMax: number, seed: number): [number, number][] {
  const random = randomNumbers(seed);
  const arrivals = inputs.flatMap(({ timeMs }, input) =>
    Array.from(timeMs, (sentMs, index) => ({ input, index, atMs: sentMs + delayOf(random, delayMsMax) })),
  );
  arrivals.sort((a, b) => a.atMs - b.atMs);
  return arrivals.map(({ input, index }) => [input, index]);
}

// Most samples come at once; one in five is delayed.
function delayOf(random: () => number, delayMsMax: number): number {
  return delayMsMax > 0 && random() < 0.2 ? random() * delayMsMax : 0;
}

/** Pseudo-random numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The length of a duration such as `PT5M`, which `openStream` has checked. */
function durationMs(text: string): number {
  const [, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] =
    /^P(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$/.exec(text) ?? [];
  return (
    ((Number(weeks) * 7 + Number(days)) * 24 + Number(hours)) * 3_600_000 +
    Number(minutes) * 60_000 +
    Number(seconds) * 1000
  );
}

function columnsOf({ timeMs, value }: { readonly timeMs: readonly number[]; readonly value: readonly number[] }) {
  return { timeMs: Float64Array.from(timeMs), value: Float64Array.from(value) };
}

function lineOf(series: Series | undefined): Line {
  if (series === undefined || series.timeMs.length === 0) return noLine;
  const range = { fromMs: series.timeMs[0]!, untilMs: series.timeMs[series.timeMs.length - 1]! + 1 };
  return thin(series, range, COLUMNS, gapOf(series));
}
