import type { Chunk } from '../core/chunk.js';
import type { DoubleList } from '../core/list.js';
import type { SeriesReference } from '../core/series.js';
import type { JsonSchema, Parameter, Parameters, Report } from './parameters.js';

/**
 * The contract between an operation and everything that runs it. One object per operation holds its parameters with
 * their checks, and its code. Its texts, and what `explain` says of it, are in the same file, as exports of their own:
 * an application that neither lists nor explains operations need not load them.
 */
export interface Operation<M extends object = object> {
  /** Its name as the interface spells it. */
  readonly name: string;
  readonly aliases?: readonly string[];
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
  /** Starts a step; the runners of a list run one after another, and regrids alone come after the first. */
  readonly open: (
    parameters: Parameters,
    run: RunContext,
  ) => Runner | readonly [Runner, ...RegridRunner[]] | readonly RegridRunner[];
  /**
   * How many results there are: of a map, one for each sample whatever its value, which its shape does not tell; of a
   * regrid, most likely, where it is neither one for each sample nor one at each start of one of `windows`.
   */
  readonly results?: 'one a sample' | 'all but the first' | 'one a window';
  /** The windows that its results stand for, which steps after it may count by. */
  readonly windows?: (parameters: Parameters) => WindowsMade | undefined;
  /** The window of the result at a time, where that is not one of these. */
  readonly boundsOf?: (
    parameters: Parameters,
    timeMs: number,
  ) => { readonly startMs: number; readonly endMs: number } | undefined;
  /** Whether it takes its `window` and `timezone` from the nearest step upstream that makes windows. */
  readonly inheritsWindows?: (parameters: Parameters) => boolean;
  /** Whether its results go on up to the last `advance` of a run without `until`, and so differ with it. */
  readonly endsByAdvance?: true;
  /** The distance between results, if there is one at each point of a grid whatever the samples are. */
  readonly pointsEveryMs?: (parameters: Parameters) => number | undefined;
}

/** What the listings and the docs say of an operation. */
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

/** An input after the first: a series by its name, or what another `pipeline(…)` makes of one. */
export type OtherInput = SeriesReference | { as(metric: string): { readonly operations: readonly object[] } };

/** What a method of `pipeline(…)` writes of a step: its parameters and the inputs after the first. */
export interface StepDraft {
  readonly parameters: object;
  readonly others?: readonly OtherInput[];
}

/** Windows, as parameters of a step. */
export type WindowsMade = { readonly window: string; readonly timezone: string };

/** What `explain` says about one step. */
export interface Description {
  /** What it computes, with its parameters, as a clause. */
  readonly does: string;
  /** How far before and after an output it reads its inputs, and so which outputs a changed input touches. */
  readonly reads: Reach;
  /** What it remembers of the past for each series. */
  readonly keeps: string;
  /** When a result is final. */
  readonly final: string;
}

/** The part of a description that all operations on each sample by itself have in common. */
export const ofEachSample = { reads: { kind: 'sample' }, keeps: 'nothing', final: 'with its sample' } as const;

/** Which samples of the input one output depends on. */
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

/** What a run gives to its steps: bounds in time that are not parameters of any one step, and scratch columns. */
export interface RunContext {
  /**
   * A scratch column, one chunk long, that belongs to this step until the call ends. Steps must not share columns:
   * if a step hands on results in the middle of its work, the steps after it run before it goes on.
   */
  readonly column: () => Float64Array;
  /** How many inputs the step has. */
  readonly inputCount: number;
  readonly untilMs: number | undefined;
  /** The last `advance` of the run so far, −Infinity without one. */
  readonly advancedMs: () => number;
}

/** The code of a step at work. Only a regrid has a state; the others see each chunk by itself. */
export type Runner = MapRunner | CombineRunner | FilterRunner | RegridRunner;

/**
 * Writes the results of the first `count` values to `out`, which may be the same column, and tells whether all of them
 * are finite: a result that is not is dropped by the engine.
 */
export interface MapRunner {
  readonly kind: 'map';
  readonly apply: (value: Float64Array, count: number, out: Float64Array) => boolean;
}

/** A map over two inputs that meet at equal times: `out` may be the column of `left`. */
export interface CombineRunner {
  readonly kind: 'combine';
  readonly apply: (left: Float64Array, right: Float64Array, count: number, out: Float64Array) => boolean;
}

/** Copies the samples to keep to the columns of `out` and sets its count; where they are empty it only counts. */
export interface FilterRunner {
  readonly kind: 'filter';
  readonly select: (chunk: Chunk, out: Chunk) => void;
}

/**
 * Results at times of its own. `push` gets final samples in time order; `advance` promises that no sample before the
 * watermark will come; `close`, that none will come at all. However the input is cut into chunks and
 * wherever `advance` falls, the results are the same; only when they come differs.
 *
 * With several inputs `push` tells which one the chunk is from, each input comes in its own time order, and the
 * watermark is the earliest of theirs.
 */
export interface RegridRunner {
  readonly kind: 'regrid';
  /** 1 by default. */
  readonly inputCount?: number;
  readonly slotCount: number;
  readonly listCount: number;
  /** Sets those slots of a new state that do not start at 0. */
  readonly start?: (state: State) => void;
  readonly push: (state: State, chunk: Chunk, out: Output, input: number) => void;
  /** `comingMs`: a sample at or after this time will come for certain; −Infinity where none is known of. */
  readonly advance: (state: State, watermarkMs: number, out: Output, comingMs: number) => void;
  /** `advancedMs` is the last `advance` of the run, −Infinity without one. */
  readonly close: (state: State, advancedMs: number, out: Output) => void;
  /** The time before which no further result will come, when the input's is `watermarkMs`. */
  readonly watermark: (state: State, watermarkMs: number) => number;
}

/** All that a step remembers: plain numbers, so that a checkpoint is the states written out. */
export interface State {
  readonly slots: Float64Array;
  readonly lists: readonly DoubleList[];
}

/** Where a regrid's results go. Drops and counts what is not finite or outside the years 0001 to 9999. */
export interface Output {
  add(timeMs: number, value: number): void;
  /**
   * Adds the first `count` samples of two columns; values are finite and times rise. The steps after it read them at
   * once, and may write over the values unless `isReadOnly`. `inputTimeMs`: that of the chunk whose times they are.
   */
  addRun(
    timeMs: Float64Array,
    value: Float64Array,
    count: number,
    isReadOnly?: boolean,
    inputTimeMs?: Float64Array,
  ): void;
  /** Announces `count` results to come, and stops the run if they are too many. */
  expect(count: number): void;
  drop(reason: 'duplicate' | 'insufficient' | 'unmatchedFirst' | 'unmatchedSecond', count: number): void;
}

/**
 * A worked example as an operation's file has it. Samples are written `time value, time value`; times are `HH:MM[:SS]`
 * on 2024-03-01 UTC, or whole instants.
 */
export interface WrittenExample {
  readonly title: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The samples of each input. */
  readonly inputs: readonly string[];
  readonly output: string;
}

/** A worked example: run in every mode by the tests, printed in the docs. */
export interface Example {
  readonly title: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** One list of samples for each input. Times are `HH:MM[:SS]` on 2024-03-01 UTC, or whole instants. */
  readonly inputs: readonly (readonly ExampleSample[])[];
  readonly output: readonly ExampleSample[];
}

export type ExampleSample = readonly [time: string, value: number];
