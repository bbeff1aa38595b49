import { patternOf } from '../../core/pattern.js';
import type { SeriesReference } from '../../core/series.js';
import type { Plan, PlanInput } from '../../plan/plan.js';

/** Some items as a plan of their own, in which patterns are plain ids, and their indices in the whole plan. */
export interface Part {
  readonly plan: Plan;
  readonly sources: readonly number[];
  readonly steps: readonly number[];
  readonly items: readonly number[];
}

/** The items of a plan that give one series, and those that give one for each member. */
export interface Parts {
  readonly plain: Part | undefined;
  readonly template: Part | undefined;
}

const known = new WeakMap<Plan, Parts>();

/** A plan's parts, always the same objects, so that graphs cached by plan are found again. */
export function partsOf(plan: Plan): Parts {
  const parts = known.get(plan) ?? { plain: partOf(plan, false), template: partOf(plan, true) };
  known.set(plan, parts);
  return parts;
}

function partOf(plan: Plan, isTemplate: boolean): Part | undefined {
  const isOfPart = ({ output }: { readonly output: SeriesReference }): boolean =>
    (patternOf(output.timeseriesId) !== undefined) === isTemplate;
  const items = [...plan.items.keys()].filter((item) => isOfPart(plan.items[item]!));
  // Steps whose results nobody reads are included, as the report counts them.
  const needed = new Set([...plan.steps.keys()].filter((step) => isOfPart(plan.steps[step]!)));
  if (needed.size === 0) return undefined;
  const read = new Set<number>();
  // The loop also visits the steps that it adds to the set.
  for (const step of needed) {
    for (const { from, index } of plan.steps[step]!.inputs) (from === 'step' ? needed : read).add(index);
  }
  const [steps, sources] = [needed, read].map((some) => [...some].sort((a, b) => a - b)) as [number[], number[]];
  const placeOf = ({ from, index }: PlanInput): PlanInput => {
    return { from, index: (from === 'step' ? steps : sources).indexOf(index) };
  };
  const { version, timezone, request } = plan;
  const own: Plan = {
    version,
    timezone,
    request,
    sources: sources.map((source) => plan.sources[source]!),
    steps: steps.map((step) => ({ ...plan.steps[step]!, inputs: plan.steps[step]!.inputs.map(placeOf) })),
    items: items.map((item) => ({ ...plan.items[item]!, step: steps.indexOf(plan.items[item]!.step) })),
  };
  return { plan: own, sources, steps, items };
}
