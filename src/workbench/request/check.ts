import { filledRequest, membersOf, planEvery } from '../../engine/every/index.js';
import { type Issue, type Plan, RequestError, type SeriesReference } from '../../index.js';
import { keyOf, nameOf, type StepToRun } from '../engine/protocol.js';
import { type Draft, isSame, itemResults, placesOf, pointerOf, resultOf } from './draft.js';

/** The problems of a request, and the steps that can run nevertheless. */
export interface Checked {
  readonly plan: Plan | undefined;
  readonly issues: readonly Issue[];
  /** A step that reads a pattern is here once for each member. */
  readonly steps: readonly StepToRun[];
  /** The request with plain ids: an item with patterns is here once for each member. */
  readonly request: Draft;
  /** The results of its items. */
  readonly results: readonly SeriesReference[];
}

/** Checks a request, and that the series that it reads are loaded. */
export function checkDraft(draft: Draft, timezone: string, loaded: readonly SeriesReference[]): Checked {
  if (draft.length === 0) return { plan: undefined, issues: [], steps: [], request: [], results: [] };
  const issues: Issue[] = [];
  let plan: Plan | undefined;
  try {
    plan = planEvery(draft as unknown, { timezone });
  } catch (error) {
    if (error instanceof RequestError) issues.push(...error.issues);
    else issues.push({ pointer: '', code: 'request.value', expected: 'a request', received: String(error) });
  }
  const missing = missingInputs(draft, loaded);
  const isAtFault = (pointer: string): boolean =>
    [...issues, ...missing].some((issue) => issue.pointer === pointer || issue.pointer.startsWith(`${pointer}/`));
  const filled = filledDrafts(draft, loaded);
  // Made once: a request may be filled in for thousands of members, of as many series. What a step gives is not read
  // from a file, also while the step cannot run.
  const loadedKeys = new Set(loaded.map(keyOf));
  for (const { own } of filled) for (const one of resultsOf(own)) loadedKeys.delete(keyOf(one));
  const runs = filled.map(({ own, known }) => stepsToRun(own, isAtFault, loadedKeys, known));
  const steps = placesOf(draft).flatMap((place) => {
    const pointer = pointerOf(place);
    return distinct(runs.flatMap((run) => run.filter((step) => step.pointer === pointer)));
  });
  const request = withoutCopies(draft.flatMap((_, item) => filled.map(({ own }) => own[item]!)));
  return { plan, issues: [...issues, ...missing], steps, request, results: itemResults(request) };
}

/** The request for each member of its patterns, with the series that it should have; without patterns, as it is. */
function filledDrafts(draft: Draft, loaded: readonly SeriesReference[]) {
  const results = new Set(resultsOf(draft).map(keyOf));
  const inputs = inputsOf(draft);
  const members = membersOf(
    inputs.filter((one) => !results.has(keyOf(one))),
    loaded,
  );
  return (members.length === 0 ? [''] : members).map((member) => {
    // A draft has the form of a request; only ids are changed.
    const own = filledRequest(draft, member) as Draft;
    // A series that a member lacks counts as empty.
    const isSource = (one: SeriesReference, at: number): boolean =>
      !results.has(keyOf(inputs[at]!)) && !isSame(one, inputs[at]!);
    const known = member === '' ? [] : inputsOf(own).filter(isSource);
    return { own, known };
  });
}

function inputsOf(draft: Draft): SeriesReference[] {
  return draft.flatMap(({ operations }) => operations.flatMap(({ input }) => input));
}

/** What reads no pattern is the same for all members: it stays once. */
function withoutCopies(request: Draft): Draft {
  const given = new Set<string>();
  return request.flatMap((item) => {
    if (itemResults([item]).some((one) => given.has(keyOf(one)))) return [];
    const operations = item.operations.filter((_, step) => {
      const key = keyOf(resultOf([item], { item: 0, step }));
      return !given.has(key) && given.add(key);
    });
    return { ...item, operations };
  });
}

/** Each different entry once: steps that read no pattern are the same for all members. */
function distinct<Entry>(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()];
}

function missingInputs(draft: Draft, loaded: readonly SeriesReference[]): Issue[] {
  const known = new Set([...loaded, ...resultsOf(draft)].map(keyOf));
  return placesOf(draft).flatMap((place) =>
    draft[place.item]!.operations[place.step]!.input.flatMap((one, index): Issue[] => {
      if (known.has(keyOf(one)) || one.timeseriesId === '' || one.metric === '') return [];
      if (membersOf([one], loaded).length > 0) return [];
      const pointer = `${pointerOf(place)}/input/${index}`;
      const expected = 'a loaded series, a pattern that loaded series match, or the result of a step';
      return [{ pointer, code: 'input.missing', expected, received: nameOf(one) }];
    }),
  );
}

function resultsOf(draft: Draft): SeriesReference[] {
  return placesOf(draft).flatMap((place) => namesOf(draft, place));
}

// A last step may have a name of its own beside its item's.
function namesOf(draft: Draft, place: { item: number; step: number }): SeriesReference[] {
  return [resultOf(draft, place), ...draft[place.item]!.operations[place.step]!.output];
}

/** The steps without a problem that depend on none with one. */
function stepsToRun(
  draft: Draft,
  isAtFault: (pointer: string) => boolean,
  loadedKeys: ReadonlySet<string>,
  others: readonly SeriesReference[],
): StepToRun[] {
  let sound = placesOf(draft).filter((place) => !isAtFault(pointerOf(place)) && !isAtFault(`/${place.item}/metric`));
  for (let before = -1; before !== sound.length; ) {
    before = sound.length;
    const own = new Set([...others, ...sound.flatMap((place) => namesOf(draft, place))].map(keyOf));
    const isKnown = (key: string): boolean => loadedKeys.has(key) || own.has(key);
    sound = sound.filter((place) =>
      draft[place.item]!.operations[place.step]!.input.every((one) => isKnown(keyOf(one))),
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
