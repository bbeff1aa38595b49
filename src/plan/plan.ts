import { describeValue, InputError } from '../core/errors.js';
import type { SeriesReference } from '../core/series.js';
import type { Parameters } from '../operations/parameters.js';

/**
 * A checked request in running order: frozen plain data, the same after a trip through JSON. Steps read only
 * sources and the results of earlier steps.
 */
export interface Plan {
  readonly version: 1;
  /** The zone of local times and windows of steps that name none; 'UTC' unless the run has one. */
  readonly timezone: string;
  /** Series that come from outside, in the order in which the steps first read them. */
  readonly sources: readonly SeriesReference[];
  readonly steps: readonly PlanStep[];
  readonly items: readonly PlanItem[];
  /** The request as it was given. */
  readonly request: readonly unknown[];
  /** The name to fill in, where ids are patterns (`*` is one of `*`): the plan is for every series that matches. */
  readonly every?: string;
}

export interface PlanStep {
  /** JSON pointer of the step in the request. */
  readonly pointer: string;
  /** Its name as the interface spells it. */
  readonly operation: string;
  /** Defaults filled in. */
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

/** Refuses what is not a plan, most likely a request that has not been through `createPlan`. @throws InputError */
export function checkPlan(plan: Plan): void {
  const isPlan = plan !== null && typeof plan === 'object' && Array.isArray(plan.steps) && Array.isArray(plan.items);
  if (!isPlan) {
    throw new InputError('input.plan', `plan: expected what createPlan gives, received ${describeValue(plan)}`);
  }
}
