import type { Accumulator, FunctionSettings } from '../../aggregate-functions.js';
import type { Description, RegridRunner, WindowsMade } from '../../operation.js';
import type { Parameter, Parameters, Report } from '../../parameters.js';
import type { Holding } from '../../time-weighted-average.js';

/** Windows of an Aggregate other than those of an interval: what a request says of them, and how they run. */
export interface WindowKind {
  readonly type: string;
  readonly fields: Readonly<Record<string, Parameter>>;
  /** Reports fields that do not fit together. */
  readonly check?: (window: Parameters, timezone: string, report: Report) => void;
  /** Whether it has windows without samples, which `empty` may fill. */
  readonly canFill: (window: Parameters) => boolean;
  readonly describe: (window: Parameters, words: WindowWords) => Description;
  /** The windows that steps after it may count by. */
  readonly windows?: (window: Parameters, timezone: string) => WindowsMade | undefined;
  /** The bounds of the window whose result has a time. */
  readonly boundsOf?: (
    window: Parameters,
    timezone: string,
    label: 'start' | 'end',
    timeMs: number,
  ) => Bounds | undefined;
  readonly open: (window: Parameters, options: KindOptions) => RegridRunner;
}

/** What is said of such windows. */
export interface WindowTexts {
  readonly summary: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface Bounds {
  readonly startMs: number;
  readonly endMs: number;
}

/** What a description is made of. */
export interface WindowWords {
  /** The function, as `the average`. */
  readonly does: string;
  /** ", in Europe/Berlin", or nothing for UTC. */
  readonly zone: string;
  /** What an accumulator keeps where windows end, and where they move on. */
  readonly keeps: string;
  readonly isCarriedIn: boolean;
}

/** The function, and what else a step with windows says. */
export interface KindOptions {
  readonly name: string;
  readonly settings: FunctionSettings;
  /** A function goes by the samples of a window, or by how long values were held in it. */
  readonly of: { readonly accumulator: Accumulator } | Holding;
  readonly timezone: string;
  readonly label: 'start' | 'end';
  readonly closed: 'left' | 'right';
  readonly empty: 'omit' | 'zero' | 'hold';
}
