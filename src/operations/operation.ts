import type { Chunk } from '../core/chunk.js';
import type { DoubleList } from '../core/list.js';
import type { SeriesReference } from '../core/series.js';
import type { JsonSchema, Parameter, Parameters, Report } from './parameters.js';

/**
 * The contract between an operation and everything that runs it: its parameters with their checks, and its code. What
 * is said of it lies in `texts`, because an application that neither lists nor explains operations need not load that.
 */
export interface Operation<M extends object = object, N extends string = NameOf<M>> {
  /** Its name as the interface spells it. */
  readonly name: N;
  readonly aliases?: readonly string[];
  /** Its names in other tools, lower-case letters only: an error about one of them suggests `name`. */
  readonly otherNames?: readonly string[] | undefined;
  /** map: one result per sample, at its time. filter: drops samples. regrid: results at times of its own. */
  readonly shape: 'map' | 'filter' | 'regrid';
  /** One by default. */
  readonly inputs?: Inputs;
  /** The methods of `pipeline(…)` that write a step of this operation, by name. */
  readonly methods: M;
  readonly parameters: Readonly<Record<string, Parameter>>;
  /** Parameters of which a step has exactly one. */
  readonly either?: readonly string[];
  /** Reports parameters that are valid one by one, but not together. */
  readonly check?: (parameters: Parameters, report: Report, inputCount: number) => void;
  /** Starts a step. The runners of a list form a chain; all but the first must be regrids. */
  readonly open: (
    parameters: Parameters,
    run: RunContext,
  ) => Runner | readonly [Runner, ...RegridRunner[]] | readonly RegridRunner[];
  /**
   * How many results there are. A map says 'one a sample' if every sample has a result, whatever its value (a result
   * that is not finite is dropped). A regrid says what is likely, if it is neither one for each sample nor one at the
   * start of each of its `windows`.
   */
  readonly results?: 'one a sample' | 'all but the first' | 'one a window';
  /** The windows that its results stand for. Later steps may inherit them (`inheritsWindows`). */
  readonly windows?: (parameters: Parameters) => WindowsMade | undefined;
  /** The window of the result at `timeMs`, if that is not one of `windows`. */
  readonly boundsOf?: (
    parameters: Parameters,
    timeMs: number,
  ) => { readonly startMs: number; readonly endMs: number } | undefined;
  /** Whether it takes its `window` and `timezone` from the nearest step upstream that has `windows`. */
  readonly inheritsWindows?: (parameters: Parameters) => boolean;
  /** Whether, in a run without `until`, its results go on up to the last `advance` and so depend on it. */
  readonly endsByAdvance?: true;
  /** The distance between results in milliseconds, if it gives one at each point of a grid whatever the samples are. */
  readonly pointsEveryMs?: (parameters: Parameters) => number | undefined;
}

// The name of an operation with one method is that of the method.
type NameOf<M> = [keyof M] extends [never] ? string : Capitalize<keyof M & string>;

/** What listings and docs say about an operation. */
export interface OperationTexts {
  /** One sentence in the present tense. */
  readonly summary: string;
  /** What each parameter means, in a sentence. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The JSON Schemas of parameters whose fields have texts of their own. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  /** Three or more. */
  readonly examples: readonly WrittenExample[];
}

/** What `explain` says about a step with some parameters. */
export type Describe = (parameters: Parameters) => Description;

/** How many series an operation takes. */
export type Inputs =
  | 'one'
  | 'two'
  | 'one and a scalar, or two'
  | 'one and a scalar, or more'
  | 'one or two'
  | 'two or three'
  | 'two or more';

/** An input after the first: a series by name, or the result of another `pipeline(…)`. */
export type OtherInput = SeriesReference | { as(metric: string): { readonly operations: readonly object[] } };

/** What a method of `pipeline(…)` writes into the request: a step's parameters, and its inputs after the first. */
export interface StepDraft<P extends object = object> {
  readonly parameters: P;
  readonly others?: readonly OtherInput[];
}

/** Of a step without parameters. */
export type NoParameters = Readonly<Record<string, never>>;

/** Windows, as parameters of a step. */
export type WindowsMade = { readonly window: string; readonly timezone: string };

/** What `explain` says about one step. */
export interface Description {
  /** What it computes, with its parameters, as a clause. */
  readonly does: string;
  /** How far before and after a result it reads its inputs, which tells what results a changed input affects. */
  readonly reads: Reach;
  /** What it remembers of the past for each series. */
  readonly keeps: string;
  /** When a result is final. */
  readonly final: string;
}

/** The part of a description that is common to all operations that treat each sample by itself. */
export const ofEachSample = { reads: { kind: 'sample' }, keeps: 'nothing', final: 'with its sample' } as const;

/** The samples of the input that one result depends on. */
export type Reach =
  | { readonly kind: 'sample' }
  | { readonly kind: 'moved'; readonly byMs: number | undefined }
  | {
      readonly kind: 'window';
      readonly lengthMsMax: number;
      readonly isCarriedIn: boolean;
      readonly isCarriedOut?: true;
    }
  | { readonly kind: 'trailing'; readonly lengthMs: number }
  | { readonly kind: 'session'; readonly gapMs: number }
  | { readonly kind: 'past' }
  | { readonly kind: 'last'; readonly ageMsMax: number | undefined }
  | { readonly kind: 'neighbours'; readonly gapMsMax: number | undefined };

/** What a run provides to its steps: scratch columns, and bounds in time that are no parameters of a step. */
export interface RunContext {
  /**
   * A scratch column, one chunk long, that belongs to this step until the call ends. Steps must not share columns: when
   * a step delivers results in the middle of its work, the steps after it run before it continues.
   */
  readonly column: () => Float64Array;
  /** How many inputs the step has. */
  readonly inputCount: number;
  readonly untilMs: number | undefined;
  /** The last `advance` of the run so far, −Infinity without one. */
  readonly advancedMs: () => number;
  /**
   * How far the run has come in this `advance`: the latest watermark of the sources that this step and those before it
   * read. The watermark of an input may be ahead of it, as behind a Shift; what comes between samples by time alone
   * waits for it, as a run may end there, and `watermark` must not promise more than the first of what waits.
   */
  readonly reachedMs: () => number;
}

/** The code of a step that runs. Only a regrid has a state; the others treat each chunk by itself. */
export type Runner = MapRunner | CombineRunner | FilterRunner | RegridRunner;

/**
 * Writes the results of the first `count` values to `out`, which may be the same column. Returns whether all of them
 * are finite; the engine drops those that are not.
 */
export interface MapRunner {
  readonly kind: 'map';
  readonly apply: (value: Float64Array, count: number, out: Float64Array) => boolean;
}

/** A map over pairs of values from two inputs. `out` may be the column of `left`. */
export interface CombineRunner {
  readonly kind: 'combine';
  readonly apply: (left: Float64Array, right: Float64Array, count: number, out: Float64Array) => boolean;
}

/** Copies the samples to keep into the columns of `out`, if these are not empty, and sets its count. */
export interface FilterRunner {
  readonly kind: 'filter';
  readonly select: (chunk: Chunk, out: Chunk) => void;
}

/**
 * Gives results at times of its own. `push` gets final samples in time order; `advance` promises that no sample before
 * the watermark will come; `close`, that none will come at all. However the input is cut into chunks and wherever
 * `advance` falls, the results must be the same; only the call that delivers them may differ.
 *
 * With several inputs, `push` is told the input of each chunk. Each input is in time order by itself, and the watermark
 * is the earliest of all inputs.
 */
export interface RegridRunner {
  readonly kind: 'regrid';
  /** 1 by default. */
  readonly inputCount?: number;
  readonly slotCount: number;
  readonly listCount: number;
  /** Sets the slots of a new state that do not start at 0. */
  readonly start?: (state: State) => void;
  readonly push: (state: State, chunk: Chunk, out: Output, input: number) => void;
  /** A sample at or after `comingMs` is certain to come; −Infinity if none is. */
  readonly advance: (state: State, watermarkMs: number, out: Output, comingMs: number) => void;
  /** `advancedMs` is the last `advance` of the run, −Infinity without one. */
  readonly close: (state: State, advancedMs: number, out: Output) => void;
  /** The time before which no further result will come, if no sample before `watermarkMs` will. */
  readonly watermark: (state: State, watermarkMs: number) => number;
}

/** Everything that a step remembers: plain numbers, so that a checkpoint is simply the states written out. */
export interface State {
  readonly slots: Float64Array;
  readonly lists: readonly DoubleList[];
}

/** Where a regrid's results go. Drops and counts what is not finite or outside the years 0001 to 9999. */
export interface Output {
  add(timeMs: number, value: number): void;
  /**
   * Adds the first `count` samples of two columns, whose values must be finite and whose times must rise. Later steps
   * read them at once, and may overwrite the values unless `isReadOnly`. `inputTimeMs` is that of the chunk, if the
   * times are its times.
   */
  addRun(
    timeMs: Float64Array,
    value: Float64Array,
    count: number,
    isReadOnly?: boolean,
    inputTimeMs?: Float64Array,
  ): void;
  /** Announces `count` results, and stops the run if these are too many. */
  expect(count: number): void;
  drop(reason: 'duplicate' | 'insufficient' | 'unmatchedFirst' | 'unmatchedSecond', count: number): void;
}

/**
 * A worked example as the texts of an operation write it. Samples are `time value, time value`; times are `HH:MM[:SS]`
 * on 2024-03-01 UTC, or full instants.
 */
export interface WrittenExample {
  readonly title: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The samples of each input. */
  readonly inputs: readonly string[];
  readonly output: string;
}

/** A worked example. The tests run it in every mode, and the docs print it. */
export interface Example {
  readonly title: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** One list of samples for each input. Times are `HH:MM[:SS]` on 2024-03-01 UTC, or full instants. */
  readonly inputs: readonly (readonly ExampleSample[])[];
  readonly output: readonly ExampleSample[];
}

export type ExampleSample = readonly [time: string, value: number];
