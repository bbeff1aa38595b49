import type { SeriesReference } from '../../index.js';
import type { Draft, Parameters } from '../request/draft.js';
import { freeName } from '../request/edit.js';

/** A problem of docs/recipes.md with one series, whose metric is Raw there. */
export type Recipe = readonly [title: string, question: string, steps: readonly RecipeStep[]];
type RecipeStep = readonly [operation: string, inputs: readonly string[], output: string, parameters: Parameters];

/** Put in by the build, from the page. */
declare const RECIPES: readonly Recipe[];
export const recipes = RECIPES;

/** Adds a recipe as a result of its own, over this series. */
export function addRecipe(draft: Draft, [, , steps]: Recipe, source: SeriesReference): Draft {
  // The recipe may have been added before.
  const names = new Map(steps.map(([, , output]) => [output, freeName(draft, output)]));
  const named = (metric: string): SeriesReference => ({ ...source, metric: names.get(metric) ?? metric });
  const operations = steps.map(([operation, inputs, output, parameters]) => ({
    operation,
    input: inputs.map((metric) => (metric === 'Raw' ? source : named(metric))),
    output: [named(output)],
    parameters,
  }));
  return [...draft, { metric: names.get(steps.at(-1)![2])!, processingType: 'batch', operations }];
}
