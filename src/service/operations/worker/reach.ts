import { describeStep } from '../../../operations/texts/index.js';
import type { Plan, PlanInput, PlanStep } from '../../../plan/plan.js';

/**
 * How long after the first sample that is left of a source its deleted ones may still have an effect on the result of a
 * plan of one item: in milliseconds, for each source; Infinity where that has no bound.
 */
export function reachesOf({ sources, steps, items }: Plan): readonly number[] {
  const ofSteps: (readonly number[])[] = [];
  for (const step of steps) {
    const reach = sources.map(() => Number.NEGATIVE_INFINITY);
    for (const input of step.inputs) {
      const ownMs = reachOf(step, input);
      if (input.from === 'source') reach[input.index] = Math.max(reach[input.index]!, ownMs);
      else for (const [i, ms] of ofSteps[input.index]!.entries()) reach[i] = Math.max(reach[i]!, ms + ownMs);
    }
    ofSteps.push(reach);
  }
  return ofSteps[items.at(-1)!.step]!;
}

function reachOf({ operation, parameters }: PlanStep, { from }: PlanInput): number {
  const { reads } = describeStep(operation, parameters);
  // The last sample before is one of those that are left, unless a step between may have dropped it.
  const beforeMs = from === 'source' ? 0 : Number.POSITIVE_INFINITY;
  switch (reads.kind) {
    case 'sample':
      return 0;
    case 'moved':
      return reads.byMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, reads.byMs);
    case 'window':
      return reads.lengthMsMax + (reads.isCarriedIn ? beforeMs : 0);
    case 'trailing':
      return reads.lengthMs;
    case 'last':
      return reads.ageMsMax ?? beforeMs;
    case 'neighbours':
      return reads.gapMsMax ?? beforeMs;
    case 'session':
    case 'past':
      return Number.POSITIVE_INFINITY;
  }
}
