import { describeValue, InputError, wrongOption } from '../core/errors.js';
import type { SeriesReference } from '../core/series.js';
import type { Parameters } from '../operations/parameters.js';

/**
 * A checked request in running order: frozen plain data, which survives a trip through JSON. Steps read only sources
 * and the results of earlier steps.
 */
export interface Plan {
  readonly version: 1;
  /** The zone for windows and local times of steps that name no zone. */
  readonly timezone: string;
  /** Series that come from outside, in the order in which the steps first read them. */
  readonly sources: readonly SeriesReference[];
  readonly steps: readonly PlanStep[];
  readonly items: readonly PlanItem[];
  /** The request as it was given: a list of items, or an object with that list. */
  readonly request: readonly unknown[] | { readonly items: readonly unknown[] };
  /** The name to fill in if ids are patterns (`*` for the id `*`); such a plan runs for every series that matches. */
  readonly every?: string;
}

export interface PlanStep {
  /** JSON pointer of the step in the request. */
  readonly pointer: string;
  /** The operation's name as the interface spells it. */
  readonly operation: string;
  /** Checked, with defaults filled in. */
  readonly parameters: Parameters;
  readonly inputs: readonly PlanInput[];
  readonly output: SeriesReference;
}

/** Where an input comes from: the index of a source, or of the step whose result it is. */
export interface PlanInput {
  readonly from: 'source' | 'step';
  readonly index: number;
}

export interface PlanItem {
  readonly processingType: 'stream' | 'batch';
  /** How often a batch runs, as an ISO 8601 duration. */
  readonly frequency?: string;
  /** The index of the step whose output is the item's result. */
  readonly step: number;
  /** The name of the result: the series of the last step under the item's metric. */
  readonly output: SeriesReference;
}

/** Checks that this is a plan and not, say, a request that has not been through `createPlan`. @throws InputError */
export function checkPlan(plan: Plan): void {
  const isPlan = plan !== null && typeof plan === 'object' && Array.isArray(plan.steps) && Array.isArray(plan.items);
  if (!isPlan) {
    throw new InputError('input.plan', `plan: expected the result of createPlan, received ${describeValue(plan)}`);
  }
}

// Of plans and all kinds of runs: programs may have one object for a plan and its runs.
const NAMES = 'timezone, from, until, maxOutputSamples, clock, allowedLateness, shareTimes, warmup';

/**
 * Checks that options are an object and have known names alone: a misspelt one would be ignored.
 *
 * @param own further names, each after a comma.
 * @throws InputError
 */
export function checkOptions(options: unknown, own = ''): void {
  const names = NAMES + own;
  const given = typeof options === 'object' && options !== null ? Object.keys(options) : [describeValue(options)];
  for (const name of given) if (!names.split(', ').includes(name)) throw wrongOption('options', names, name);
}
