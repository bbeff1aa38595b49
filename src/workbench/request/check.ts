import { createPlan, type Issue, type Plan, RequestError, type SeriesReference } from '../../index.js';
import { keyOf, nameOf, type StepToRun } from '../engine/protocol.js';
import { type Draft, placesOf, pointerOf, resultOf } from './draft.js';

/** What is wrong with a request, and what of it can run all the same. */
export interface Checked {
  readonly plan: Plan | undefined;
  readonly issues: readonly Issue[];
  readonly steps: readonly StepToRun[];
}

/** Checks a request against itself, and against the series that are there. */
export function checkDraft(draft: Draft, timezone: string, loaded: readonly SeriesReference[]): Checked {
  if (draft.length === 0) return { plan: undefined, issues: [], steps: [] };
  const issues: Issue[] = [];
  let plan: Plan | undefined;
  try {
    plan = createPlan(draft as unknown, { timezone });
  } catch (error) {
    if (error instanceof RequestError) issues.push(...error.issues);
    else issues.push({ pointer: '', code: 'request.value', expected: 'a request', received: String(error) });
  }
  const missing = missingInputs(draft, loaded);
  const isAtFault = (pointer: string): boolean =>
    [...issues, ...missing].some((issue) => issue.pointer === pointer || issue.pointer.startsWith(`${pointer}/`));
  return { plan, issues: [...issues, ...missing], steps: stepsToRun(draft, isAtFault, loaded) };
}

function missingInputs(draft: Draft, loaded: readonly SeriesReference[]): Issue[] {
  const results = placesOf(draft).flatMap((place) => namesOf(draft, place));
  const known = new Set([...loaded, ...results].map(keyOf));
  return placesOf(draft).flatMap((place) =>
    draft[place.item]!.operations[place.step]!.input.flatMap((one, index): Issue[] => {
      if (known.has(keyOf(one)) || one.timeseriesId === '' || one.metric === '') return [];
      const pointer = `${pointerOf(place)}/input/${index}`;
      const expected = 'a loaded series, or the result of a step';
      return [{ pointer, code: 'input.missing', expected, received: nameOf(one) }];
    }),
  );
}

// A last step may have a name of its own beside its item's.
function namesOf(draft: Draft, place: { item: number; step: number }): SeriesReference[] {
  return [resultOf(draft, place), ...draft[place.item]!.operations[place.step]!.output];
}

/** The steps without a fault that read nothing of one with a fault. */
function stepsToRun(
  draft: Draft,
  isAtFault: (pointer: string) => boolean,
  loaded: readonly SeriesReference[],
): StepToRun[] {
  let sound = placesOf(draft).filter((place) => !isAtFault(pointerOf(place)) && !isAtFault(`/${place.item}/metric`));
  for (let before = -1; before !== sound.length; ) {
    before = sound.length;
    const known = new Set([...loaded, ...sound.flatMap((place) => namesOf(draft, place))].map(keyOf));
    sound = sound.filter((place) =>
      draft[place.item]!.operations[place.step]!.input.every((one) => known.has(keyOf(one))),
    );
  }
  return sound.map((place) => {
    const { operation, input, output, parameters } = draft[place.item]!.operations[place.step]!;
    return { pointer: pointerOf(place), operation, input, output, parameters, metric: resultOf(draft, place).metric };
  });
}

/** One issue as a sentence. */
export function sentenceOf({ expected, received, suggestion }: Issue): string {
  return `Expected ${expected}; received ${received}${suggestion === undefined ? '' : `. ${capital(suggestion)}`}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
