import type { Series, SeriesReference } from '../../index.js';
import type { Why } from '../../inspect/index.js';

/** What the page asks of the engine, which runs in a worker, and what it is told. All of it can be cloned. */

/** A series as lists and charts show it. */
export interface SeriesInfo extends SeriesReference {
  readonly count: number;
  /** NaN where there are no samples. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly min: number;
  readonly max: number;
  /** All values are 0 or 1: drawn as steps. */
  readonly isBinary: boolean;
}

/** What a person says about a file, by the names of the command's options: texts, numbers, and lists of texts. */
export type Reading = Readonly<Record<string, unknown>>;

/** A file that cannot be read, or not yet. */
export interface Unreadable {
  readonly problem: string;
  /** The names of its columns, if they were read. */
  readonly columns: readonly string[];
  /** The fields that may let it be read. */
  readonly options: readonly string[];
}

/** A file, or what was loaded from a service, with its series. */
export interface DataSet {
  readonly name: string;
  /** Whether the command could read it too. */
  readonly isFile: boolean;
  readonly series: readonly SeriesInfo[];
  /** What other sets have of the series that it had before it was read again. */
  readonly left: readonly SeriesInfo[];
  readonly rows: number;
  readonly missing: number;
  /** What was told from the file and is not plain. */
  readonly notes: readonly string[];
  /** Of a file, its columns, and what was said about it. */
  readonly columns?: readonly string[];
  readonly reading?: Reading;
}

/** A step to run: sound, and with inputs that are there. */
export interface StepToRun {
  readonly pointer: string;
  readonly operation: string;
  readonly input: readonly SeriesReference[];
  readonly output: readonly SeriesReference[];
  readonly parameters: object;
  /** The metric under which its result is found. */
  readonly metric: string;
}

export interface StepResult {
  readonly pointer: string;
  readonly info: SeriesInfo;
  readonly samplesIn: number;
  /** What was left out, in words: `3 without a partner`. */
  readonly dropped: readonly string[];
}

export interface SourceResult extends SeriesReference {
  readonly samplesIn: number;
  readonly samplesOut: number;
  readonly dropped: readonly string[];
}

export interface RunAnswer {
  readonly steps: readonly StepResult[];
  readonly sources: readonly SourceResult[];
  readonly durationMs: number;
  /** Why nothing was run. */
  readonly problem?: string;
}

/** Points of a line for so many columns of pixels; a value that is NaN is a gap. */
export interface Line {
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
}

export interface TimeRange {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Sample {
  readonly timeMs: number;
  readonly value: number;
}

/** A list whose middle is left out where it is long. */
export interface Listed<Of> {
  readonly count: number;
  readonly first: readonly Of[];
  readonly last: readonly Of[];
}

/** Some samples on the way to a result. */
export interface WhyPart extends SeriesReference {
  /** What became of them: `gave`, `used`, `dropped`. */
  readonly what: string;
  readonly samples: Listed<Sample & { readonly note: string }>;
}

/** A step on the way to a result, or a series that it read. */
export interface WhyStage {
  readonly title: string;
  /** The place of the step in the request; undefined for a series. */
  readonly pointer?: string;
  readonly window?: NonNullable<Why['steps'][number]['window']>;
  readonly parts: readonly WhyPart[];
  /** Whether the step needs what it used, and nothing else. */
  readonly isProved: boolean;
}

/** How a result came about: from its step back to the samples of the file. */
export interface WhyAnswer extends Sample, SeriesReference {
  readonly stages: readonly WhyStage[];
}

/** How samples arrive in a replay. */
export interface ReplayOptions {
  readonly allowedLateness: string;
  /** The longest delay of a sample on its way; 0 keeps the order of time. */
  readonly delayMsMax: number;
  readonly seed: number;
  readonly samplesPerSecond: number;
}

/** How far a replay has come. */
export interface ReplayState {
  readonly arrived: number;
  readonly total: number;
  /** The times of all samples that arrive. */
  readonly extent: TimeRange;
  /** For each source the time before which no more samples are taken; NaN before the first. */
  readonly watermarkMs: number;
  readonly newestMs: number;
  readonly heldBack: number;
  /** The times of the latest samples that came too late. */
  readonly lateMs: readonly number[];
  readonly lateCount: number;
  readonly results: readonly ReplayResult[];
  readonly end?: ReplayEnd;
}

export interface ReplayResult extends SeriesReference {
  readonly finalCount: number;
  readonly final: Line;
  /** What closing now would add. */
  readonly preview: Line;
}

/** The stream's results beside those of one batch. */
export interface ReplayEnd {
  readonly compared: number;
  /** Samples whose time or value is not the same, to the last bit. */
  readonly different: number;
  /** Results of a batch over all samples, late ones included, that differ. */
  readonly differentWithLate: number;
}

/** Some samples of a series on their way to the service. */
export interface Frame {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
  /** How many the series has. */
  readonly total: number;
}

/** A result of the page beside the service's. */
export interface Differences {
  readonly compared: number;
  /** Samples whose time or value is not the same, to the last bit. */
  readonly different: number;
}

/** The calls that the engine answers, each with a promise. */
export interface Engine {
  load(file: File, timezone: string, reading: Reading): DataSet | Unreadable;
  /** Takes the series of a file that was read elsewhere. */
  take(about: Omit<DataSet, 'series' | 'left'>, series: readonly Series[]): DataSet;
  /** Takes series from elsewhere under a name. */
  put(name: string, series: readonly Series[]): DataSet;
  /** Adds to what was taken under a name; undefined if that was given up. */
  add(name: string, series: readonly Series[]): DataSet | undefined;
  /** Gives up what was taken under a name; what others have of its series is given as it is now. */
  remove(name: string): readonly SeriesInfo[];
  run(steps: readonly StepToRun[], timezone: string): RunAnswer;
  view(series: readonly SeriesReference[], range: TimeRange, columns: number): Line[];
  nearest(series: readonly SeriesReference[], timeMs: number): (Sample | null)[];
  rows(series: SeriesReference, from: number, count: number): Line;
  csv(series: readonly SeriesReference[]): Blob;
  why(series: SeriesReference, timeMs: number): WhyAnswer;
  /** The samples of a series as they came, from an index on: as many as are sent at once. */
  frame(series: SeriesReference, from: number): Frame;
  differences(result: SeriesReference, other: Series): Differences;
  replayStart(request: readonly object[], timezone: string, options: ReplayOptions): ReplayState;
  /** Lets time pass. */
  replayGoOn(sampleCount: number): ReplayState;
}

export type Call = keyof Engine;

export interface Question {
  readonly id: number;
  /** *stop* ends the call of this id early, and is not answered. */
  readonly call: Call | 'stop';
  readonly given: readonly unknown[];
}

export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly problem?: string;
}

/** A reference as a key for maps. */
export function keyOf({ timeseriesId, metric }: SeriesReference): string {
  return JSON.stringify([timeseriesId, metric]);
}

/** A series without what else is known of it, as requests name it. */
export function referenceOf({ timeseriesId, metric }: SeriesReference): SeriesReference {
  return { timeseriesId, metric };
}

export function nameOf({ timeseriesId, metric }: SeriesReference): string {
  return `${timeseriesId}/${metric}`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
