import { createCsvWriter } from '../../formats/csv/index.js';
import { FileReader } from '../../formats/csv/read/reader.js';
import { SeriesParts } from '../../formats/series-parts.js';
import {
  createPlan,
  loadSeries,
  type Plan,
  type Run,
  runBatch,
  type Series,
  type SeriesReference,
  type SourceReport,
  type StepReport,
} from '../../index.js';
import { CANCELLED, countsOf, type ReadSet, readerOptions, unreadable } from '../formats/reading.js';
import { writeFrame } from '../service/frames.js';
import {
  type DataSet,
  type Differences,
  type Engine,
  type Frame,
  keyOf,
  type Line,
  messageOf,
  nameOf,
  type Reading,
  type ReplayOptions,
  type ReplayState,
  type RunAnswer,
  type Sample,
  type SeriesInfo,
  type StepToRun,
  type TimeRange,
  type Unreadable,
  type WhyAnswer,
} from './protocol.js';
import { differenceCount, Replay } from './replay.js';
import { gapOf, indexAt, infoOf, noLine, thin } from './thin.js';
import { whyAnswer } from './why.js';

/** Of each series so many samples are replayed: who watches sees no more. */
const REPLAYED_MAX = 100_000;
/** So many samples are sent to the service at once. */
const FRAME_SAMPLES = 100_000;

/** A series that is held, with what drawing it needs. */
interface Held {
  readonly series: Series;
  readonly info: SeriesInfo;
  readonly gapMs: number;
}

interface HeldSet {
  readonly isFile: boolean;
  /** As they came, for a replay and for more of them. */
  readonly given: readonly Series[];
}

/** What a set has of a series. */
interface Part {
  readonly isFile: boolean;
  readonly part: Series;
}

/** What the worker holds: the series that were loaded, and the results of the last run. */
export class Session implements Async<Engine> {
  readonly #sets = new Map<string, HeldSet>();
  /** The sets by series: with thousands of series, a search through all sets would take minutes. */
  #parts = new Map<string, Part[]>();
  readonly #sources = new Map<string, Held>();
  #results = new Map<string, Held>();
  #run: Run | undefined;
  /** What the results are of. */
  #ran: { readonly plan: Plan; readonly pointers: readonly string[] } | undefined;
  #replay: Replay | undefined;

  /** @param isStopped whether the file is no longer wanted. */
  async load(file: File, timezone: string, reading: Reading, isStopped = () => false): Promise<DataSet | Unreadable> {
    const read = await readFile(file, timezone, reading, isStopped);
    if ('problem' in read) return read;
    const { series, ...found } = read;
    return this.#take({ name: file.name, isFile: true, reading, ...found }, series);
  }

  async take(about: Omit<DataSet, 'series' | 'left'>, series: readonly Series[]): Promise<DataSet> {
    return this.#take(about, series);
  }

  async put(name: string, series: readonly Series[]): Promise<DataSet> {
    const rows = series.reduce((sum, { timeMs }) => sum + timeMs.length, 0);
    return this.#take({ name, isFile: false, rows, missing: 0, notes: [] }, series);
  }

  async add(name: string, series: readonly Series[]): Promise<DataSet | undefined> {
    const before = this.#sets.get(name);
    if (before === undefined) return undefined;
    const parts = new SeriesParts();
    parts.add([...before.given, ...series]);
    return this.put(name, parts.joined());
  }

  async remove(name: string): Promise<readonly SeriesInfo[]> {
    const gone = this.#sets.get(name)?.given ?? [];
    this.#sets.delete(name);
    this.#sortParts();
    return this.#hold(gone);
  }

  async run(steps: readonly StepToRun[], timezone: string): Promise<RunAnswer> {
    this.#run?.dispose();
    this.#run = undefined;
    this.#ran = undefined;
    this.#results = new Map();
    if (steps.length === 0) return { steps: [], sources: [], durationMs: 0 };
    // Every step an item, so that each has its result; a step finds another's by the name of its output.
    const request = steps.map(({ operation, input, output, parameters, metric }) => ({
      metric,
      processingType: 'batch' as const,
      operations: [{ operation, input, output, parameters }],
    }));
    try {
      const plan = createPlan(request, { timezone });
      const run = runBatch(plan, this.#inputsOf(plan), { clock: () => performance.now(), shareTimes: true });
      this.#run = run;
      this.#ran = { plan, pointers: steps.map(({ pointer }) => pointer) };
      return this.#describe(run, steps);
    } catch (error) {
      // Its places are those of the request above.
      const problem = messageOf(error).replace(
        /\/(\d+)\/operations\/0/g,
        (place, index) => steps[index]?.pointer ?? place,
      );
      return { steps: [], sources: [], durationMs: 0, problem };
    }
  }

  #describe({ series, report }: Run, steps: readonly StepToRun[]): RunAnswer {
    const reports = new Map(report.steps.map((step) => [Number(step.pointer.split('/')[1]), step]));
    const results = steps.map(({ pointer }, index) => {
      const held = hold(series[index]!);
      this.#results.set(keyOf(held.info), held);
      const own = reports.get(index);
      return {
        pointer,
        info: held.info,
        samplesIn: own?.samplesIn ?? 0,
        dropped: own === undefined ? [] : wordsOfStep(own),
      };
    });
    const sources = report.sources.map((source) => ({ ...source, dropped: wordsOfSource(source) }));
    return { steps: results, sources, durationMs: report.durationMs };
  }

  async view(series: readonly SeriesReference[], range: TimeRange, columns: number): Promise<Line[]> {
    return series.map((one) => {
      const held = this.#held(one);
      return held === undefined ? noLine : thin(held.series, range, columns, held.gapMs);
    });
  }

  async nearest(series: readonly SeriesReference[], timeMs: number): Promise<(Sample | null)[]> {
    return series.map((one) => {
      const held = this.#held(one);
      return held === undefined ? null : nearestOf(held.series, timeMs);
    });
  }

  async rows(series: SeriesReference, from: number, count: number): Promise<Line> {
    const held = this.#held(series);
    if (held === undefined) return noLine;
    const { timeMs, value } = held.series;
    return { timeMs: timeMs.slice(from, from + count), value: value.slice(from, from + count) };
  }

  async csv(series: readonly SeriesReference[]): Promise<Blob> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    const writer = createCsvWriter((bytes) => parts.push(bytes.slice()));
    for (const one of series) {
      const held = this.#held(one);
      if (held !== undefined) writer.write(held.series);
    }
    writer.flush();
    return new Blob(parts, { type: 'text/csv' });
  }

  async why(series: SeriesReference, timeMs: number): Promise<WhyAnswer> {
    if (this.#ran === undefined) throw new Error(`${nameOf(series)} is not computed at present`);
    const { plan, pointers } = this.#ran;
    return whyAnswer(
      plan,
      plan.sources.map((source) => this.#given(source)),
      pointers,
      series,
      timeMs,
    );
  }

  async frame(series: SeriesReference, from: number): Promise<Frame> {
    const { timeMs, value, ...own } = this.#given(series);
    const until = Math.min(timeMs.length, from + FRAME_SAMPLES);
    const piece = { ...own, timeMs: timeMs.subarray(from, until), value: value.subarray(from, until) };
    return { bytes: writeFrame(piece), count: until - from, total: timeMs.length };
  }

  async differences(result: SeriesReference, other: Series): Promise<Differences> {
    const own = this.#held(result)?.series ?? emptyOf(result);
    return { compared: Math.max(own.timeMs.length, other.timeMs.length), different: differenceCount(own, other) };
  }

  async replayStart(request: readonly object[], timezone: string, options: ReplayOptions): Promise<ReplayState> {
    const plan = createPlan(request as unknown, { timezone });
    const inputs = this.#inputsOf(plan).map(({ timeMs, value, ...own }) => {
      return { ...own, timeMs: timeMs.subarray(0, REPLAYED_MAX), value: value.subarray(0, REPLAYED_MAX) };
    });
    this.#replay = new Replay(plan, inputs, options);
    return this.#replay.state();
  }

  async replayGoOn(sampleCount: number): Promise<ReplayState> {
    if (this.#replay === undefined) throw new Error('assertion failed: no replay was started');
    this.#replay.goOn(sampleCount);
    return this.#replay.state();
  }

  #take(about: Omit<DataSet, 'series' | 'left'>, given: readonly Series[]): DataSet {
    const { name } = about;
    this.#replay = undefined;
    const gone = this.#sets.get(name)?.given ?? [];
    this.#sets.set(name, { isFile: about.isFile, given });
    this.#sortParts();
    const keys = new Set(given.map(keyOf));
    const left = this.#hold(gone.filter((one) => !keys.has(keyOf(one))));
    return { ...about, left, series: this.#hold(given) };
  }

  /** Holds these series as they are now, those that are left. */
  #hold(series: readonly Series[]): SeriesInfo[] {
    for (const one of series) this.#sources.delete(keyOf(one));
    const there = series.filter((one) => this.#partsOf(one).length > 0).map((one) => this.#given(one));
    const held = loadSeries(there).map(hold);
    for (const one of held) this.#sources.set(keyOf(one.info), one);
    return held.map(({ info }) => info);
  }

  /** A series as it came; of several files that have samples of it, all of them, as in a run over these files. */
  #given(reference: SeriesReference): Series {
    const parts = this.#partsOf(reference);
    if (parts.length < 2) return parts[0] ?? emptyOf(reference);
    const all = new SeriesParts();
    all.add(parts);
    return all.joined()[0]!;
  }

  /** What a plan reads, in the order of time. */
  #inputsOf({ sources }: Plan): Series[] {
    return sources.map((source) => this.#sources.get(keyOf(source))?.series ?? emptyOf(source));
  }

  #sortParts(): void {
    this.#parts = new Map();
    for (const { isFile, given } of this.#sets.values()) {
      for (const part of given) {
        const key = keyOf(part);
        const parts = this.#parts.get(key);
        if (parts === undefined) this.#parts.set(key, [{ isFile, part }]);
        else parts.push({ isFile, part });
      }
    }
  }

  // What a file has and what the service has under one name are not mixed: that counts which was loaded last.
  #partsOf(reference: SeriesReference): Series[] {
    const found = this.#parts.get(keyOf(reference)) ?? [];
    return found.filter(({ isFile }) => isFile === found.at(-1)!.isFile).map(({ part }) => part);
  }

  #held(reference: SeriesReference): Held | undefined {
    const key = keyOf(reference);
    return this.#results.get(key) ?? this.#sources.get(key);
  }
}

/** An interface whose every answer is a promise. */
export type Async<T> = {
  [Name in keyof T]: T[Name] extends (...given: infer Given) => infer Value
    ? (...given: Given) => Promise<Value>
    : never;
};

// What a member of a pattern lacks.
function emptyOf({ timeseriesId, metric }: SeriesReference): Series {
  return { timeseriesId, metric, timeMs: new Float64Array(0), value: new Float64Array(0) };
}

function hold(series: Series): Held {
  return { series, info: infoOf(series), gapMs: gapOf(series) };
}

/** How long a file is read before what came meanwhile has its turn. */
const TURN_MS = 50;

async function readFile(
  file: File,
  timezone: string,
  reading: Reading,
  isStopped: () => boolean,
): Promise<ReadSet | Unreadable> {
  const parts = new SeriesParts();
  let columns: readonly string[] = [];
  const onColumns = (names: readonly string[]): void => {
    columns = names;
  };
  try {
    const told = { ...readerOptions(file.name, timezone, reading), onColumns };
    const reader = new FileReader(told, parts.add, { isPatient: true });
    const bytes = file.stream();
    const plain = /\.gz$/i.test(file.name) ? bytes.pipeThrough(new DecompressionStream('gzip')) : bytes;
    const source = plain.getReader();
    let turnMs = performance.now();
    for (let read = await source.read(); !read.done; read = await source.read()) {
      reader.push(read.value);
      // While unpacked bytes lie ready, the event loop gets no turn, in which it could be stopped.
      if (performance.now() - turnMs > TURN_MS) {
        await new Promise((resume) => setTimeout(resume));
        turnMs = performance.now();
      }
      if (!isStopped()) continue;
      void source.cancel();
      return unreadable(new Error(`${file.name} ${CANCELLED}`), columns);
    }
    return { ...countsOf(reader.end()), series: parts.joined(), columns };
  } catch (error) {
    return unreadable(error, columns);
  }
}

function nearestOf({ timeMs, value }: Series, atMs: number): Sample | null {
  if (timeMs.length === 0) return null;
  const after = Math.min(timeMs.length - 1, indexAt(timeMs, atMs));
  const before = Math.max(0, after - 1);
  const index = Math.abs(timeMs[before]! - atMs) <= Math.abs(timeMs[after]! - atMs) ? before : after;
  return { timeMs: timeMs[index]!, value: value[index]! };
}

function wordsOfStep({ dropped }: StepReport): string[] {
  const { nonFinite, outOfRange, unmatched, duplicate, insufficient } = dropped;
  return words([
    [nonFinite, 'not finite'],
    [outOfRange, 'outside the calendar'],
    [unmatched[0], 'of the first input without a partner'],
    [unmatched[1], 'of the second input without a partner'],
    [duplicate, 'moved onto a later sample'],
    [insufficient, 'windows with too few samples'],
  ]);
}

function wordsOfSource({ dropped }: SourceReport): string[] {
  const { missing, outOfRun, duplicate, late } = dropped;
  return words([
    [missing, 'missing'],
    [outOfRun, 'outside the run'],
    [duplicate, 'replaced by a later sample of the same time'],
    [late, 'late'],
  ]);
}

function words(counts: readonly (readonly [count: number, what: string])[]): string[] {
  return counts.flatMap(([count, what]) => (count === 0 ? [] : [`${count.toLocaleString('en-US')} ${what}`]));
}
