import type { Accumulator } from '../../aggregate/functions.js';
import type { Holding } from '../../aggregate/held-values.js';
import type { Description, RegridRunner, WindowsMade } from '../../operation.js';
import type { Parameter, Parameters, Report } from '../../parameters.js';

/** A kind of windows for Aggregate, other than those of an interval: its fields in a request, and its code. */
export interface WindowKind {
  readonly type: string;
  readonly fields: Readonly<Record<string, Parameter>>;
  /** Reports fields that do not fit together. */
  readonly check?: (window: Parameters, timezone: string, report: Report) => void;
  /** Whether it can have windows without samples, which `empty` fills. */
  readonly canFill: (window: Parameters) => boolean;
  readonly describe: (window: Parameters, words: WindowWords) => Description;
  /** The windows that later steps may inherit. */
  readonly windows?: (window: Parameters, timezone: string) => WindowsMade | undefined;
  /** The bounds of the window whose result is stamped `timeMs`. */
  readonly boundsOf?: (
    window: Parameters,
    timezone: string,
    label: 'start' | 'end',
    timeMs: number,
  ) => Bounds | undefined;
  readonly open: (window: Parameters, options: KindOptions) => RegridRunner;
}

/** What docs say about such windows. */
export interface WindowTexts {
  readonly summary: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface Bounds {
  readonly startMs: number;
  readonly endMs: number;
}

/** The parts of a description. */
export interface WindowWords {
  /** The function, as `the average`. */
  readonly does: string;
  /** ", in Europe/Berlin", or nothing for UTC. */
  readonly zone: string;
  /** What the accumulator keeps. */
  readonly keeps: string;
  readonly isCarriedIn: boolean;
}

/** The function of a step, and how it stamps and fills its windows. */
export interface KindOptions {
  readonly name: string;
  /** Those of the step. */
  readonly parameters: Parameters;
  /** A function of the samples of a window, or of how long values were held in it. */
  readonly code: { readonly accumulator: Accumulator } | Holding;
  readonly timezone: string;
  readonly label: 'start' | 'end';
  readonly closed: 'left' | 'right';
  readonly empty: 'omit' | 'zero' | 'hold';
}
