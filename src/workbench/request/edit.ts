import type { SeriesReference } from '../../index.js';
import { type OperationInfo, operations } from '../../inspect/index.js';
import {
  type Draft,
  type DraftItem,
  type DraftStep,
  isObject,
  isSame,
  type Parameters,
  type Place,
  placesOf,
  resultOf,
  without,
} from './draft.js';

/** Edits of a request. Each returns a new one; steps that read a renamed result follow it. */

/** How two series meet: parameters that a step with a scalar cannot have. */
export const ALIGNING = ['align', 'maxhold', 'maxgap'];

export function addItem(draft: Draft, operation: string, parameters: Parameters, source: SeriesReference): Draft {
  const metric = freeName(draft, wordOf(operation));
  const step = withParameters(newStep(operation, source, metric), parameters);
  return [...draft, { metric, processingType: 'batch', operations: [step] }];
}

/** Adds a step after another one of its item, with these parameters besides those of a new step. */
export function addStep(
  draft: Draft,
  after: Place,
  operation: string,
  parameters: Parameters,
  source: SeriesReference,
): Draft {
  const item = draft[after.item]!;
  const last = item.operations.at(-1);
  const before = last === undefined ? source : resultOf(draft, after);
  if (after.step < item.operations.length - 1) {
    const step = withParameters(newStep(operation, before, freeName(draft, wordOf(operation)), draft), parameters);
    // The step after it reads the new one instead of the one before.
    return withSteps(draft, after.item, (all) => [
      ...all.slice(0, after.step + 1),
      step,
      ...all.slice(after.step + 1).map((one, index) => (index === 0 ? reading(one, before, step.output[0]!) : one)),
    ]);
  }
  // A result that was named by hand keeps its name, and the step that had it gets a new one; otherwise names stay.
  const isNamedByHand = last !== undefined && !isNamedAfter(item.metric, last.operation);
  const inner = { ...before, metric: isNamedByHand ? freeName(draft, wordOf(last.operation)) : before.metric };
  const metric = isNamedByHand ? item.metric : freeName(draft, wordOf(operation));
  const step = withParameters(newStep(operation, inner, metric, draft), parameters);
  return withItem(draft, after.item, (one) => ({
    ...one,
    metric,
    operations: [...one.operations.slice(0, -1), ...(last === undefined ? [] : [named(last, inner.metric)]), step],
  }));
}

export function removeStep(draft: Draft, place: Place): Draft {
  const { operations: steps } = draft[place.item]!;
  if (steps.length === 1) return draft.filter((_, index) => index !== place.item);
  const removed = resultOf(draft, place);
  const [source] = steps[place.step]!.input;
  const isLast = place.step === steps.length - 1;
  const left = withSteps(draft, place.item, (all) => {
    const kept = all.filter((_, index) => index !== place.step);
    return isLast ? kept.map((one, i) => (i === kept.length - 1 ? named(one, removed.metric) : one)) : kept;
  });
  // The step before the last takes over the item's name, where it is read, too; others read what the removed one read.
  if (isLast) {
    const before = resultOf(draft, { ...place, step: place.step - 1 });
    const after = { ...before, metric: removed.metric };
    return rewired(rewired(left, before, after), removed, after);
  }
  return source === undefined ? left : rewired(left, removed, source);
}

/** Swaps a step with the next one of its item. */
export function swapSteps(draft: Draft, place: Place): Draft {
  const { operations: steps } = draft[place.item]!;
  const first = steps[place.step];
  const second = steps[place.step + 1];
  if (first === undefined || second === undefined) return draft;
  const between = resultOf(draft, place);
  const after = resultOf(draft, { item: place.item, step: place.step + 1 });
  const [source] = first.input;
  if (source === undefined) return draft;
  const earlier = { ...reading(second, between, source), output: [between] };
  const later = { ...reading(first, source, between), output: [after] };
  return withSteps(draft, place.item, (all) =>
    all.map((one, index) => (index === place.step ? earlier : index === place.step + 1 ? later : one)),
  );
}

/**
 * Renames the result of a step, also where it is read: unless another series has the old name or the new one, as then
 * nobody knows which of them is meant.
 */
export function renameResult(draft: Draft, place: Place, metric: string, loaded: readonly SeriesReference[]): Draft {
  const before = resultOf(draft, place);
  const after = { ...before, metric };
  const all = [...loaded, ...placesOf(draft).map((other) => resultOf(draft, other))];
  const isUnclear = all.some((one) => isSame(one, after)) || all.filter((one) => isSame(one, before)).length > 1;
  const isLast = place.step === draft[place.item]!.operations.length - 1;
  const renamed = withSteps(draft, place.item, (steps) =>
    steps.map((one, index) => (index === place.step ? named(one, metric) : one)),
  );
  const items = isLast ? withItem(renamed, place.item, (item) => ({ ...item, metric })) : renamed;
  return isUnclear ? items : rewired(items, before, after);
}

export function changeStep(draft: Draft, place: Place, change: Partial<DraftStep>): Draft {
  return withSteps(draft, place.item, (all) =>
    all.map((one, index) => (index === place.step ? { ...one, ...change } : one)),
  );
}

/** Sets an input; the result of a step belongs to the series of its first input. */
export function changeInput(draft: Draft, place: Place, index: number, to: SeriesReference | undefined): Draft {
  const step = draft[place.item]!.operations[place.step]!;
  const kept = step.input.filter((_, at) => at !== index);
  const input = to === undefined ? kept : [...step.input.slice(0, index), to, ...step.input.slice(index + 1)];
  const before = step.input[0];
  if (index === 0 && to !== undefined && before !== undefined) return readingFirst(draft, place, before, to);
  if (index === 0 || !takesScalar(step.operation)) return changeStep(draft, place, { input });
  // A second series replaces a scalar, and the other way round.
  const { scalar = 1 } = step.parameters;
  const parameters =
    input.length < 2 ? { scalar, ...without(step.parameters, ALIGNING) } : without(step.parameters, ['scalar']);
  return changeStep(draft, place, { input, parameters });
}

// A result under the id of the first input follows it, and so do the results that are made from it.
function readingFirst(draft: Draft, place: Place, before: SeriesReference, to: SeriesReference): Draft {
  const { input, output } = draft[place.item]!.operations[place.step]!;
  const [own] = output;
  const given = resultOf(draft, place);
  const isOwn =
    own !== undefined && own.timeseriesId === before.timeseriesId && before.timeseriesId !== to.timeseriesId;
  const changed = changeStep(draft, place, {
    input: [to, ...input.slice(1)],
    ...(isOwn ? { output: [{ ...own, timeseriesId: to.timeseriesId }] } : {}),
  });
  if (!isOwn) return changed;
  const moved = { ...given, timeseriesId: to.timeseriesId };
  const readers = placesOf(changed).filter(({ item, step }) =>
    changed[item]!.operations[step]!.input.slice(0, 1).some((one) => isSame(one, given)),
  );
  const followed = readers.reduce((all, one) => readingFirst(all, one, given, moved), changed);
  return rewired(followed, given, moved);
}

/** Replaces the operation of a step; the parameters are those of a new step. */
export function changeOperation(draft: Draft, place: Place, operation: string): Draft {
  const step = draft[place.item]!.operations[place.step]!;
  const fresh = newStep(operation, step.input[0] ?? { timeseriesId: '', metric: 'Raw' }, '', draft);
  return changeStep(draft, place, { operation, parameters: fresh.parameters, input: fresh.input });
}

export function withItem(draft: Draft, at: number, change: (item: DraftItem) => DraftItem): Draft {
  return draft.map((item, index) => (index === at ? change(item) : item));
}

export function takesScalar(operation: string): boolean {
  return operations.get(operation)?.inputs.startsWith('one and a scalar') ?? false;
}

/** A new step, with the parameters of an example, so that it can mostly run at once. */
function newStep(operation: string, source: SeriesReference, metric: string, draft: Draft = []): DraftStep {
  const info = operations.get(operation);
  const output = [{ timeseriesId: source.timeseriesId, metric }];
  const input = info?.inputs === 'two' ? [source, otherInput(draft, source)] : [source];
  return { operation, input, output, parameters: startOf(info) };
}

function withParameters(step: DraftStep, parameters: Parameters): DraftStep {
  return { ...step, parameters: { ...step.parameters, ...parameters } };
}

function otherInput(draft: Draft, source: SeriesReference): SeriesReference {
  const last = draft.flatMap((_, item) => draft[item]!.operations.flatMap((step) => step.input));
  return last.find((one) => !isSame(one, source)) ?? source;
}

function startOf(info: OperationInfo | undefined): Parameters {
  const inputCount = info?.inputs === 'two' ? 2 : 1;
  const example = info?.examples.find(({ inputs }) => inputs.length === inputCount) ?? info?.examples[0];
  return isObject(example?.parameters) ? { ...example.parameters } : {};
}

function withSteps(draft: Draft, at: number, change: (steps: readonly DraftStep[]) => DraftStep[]): Draft {
  return withItem(draft, at, (item) => ({ ...item, operations: change(item.operations) }));
}

function named(step: DraftStep, metric: string): DraftStep {
  const timeseriesId = step.output[0]?.timeseriesId ?? step.input[0]?.timeseriesId ?? '';
  return { ...step, output: [{ timeseriesId, metric }] };
}

function reading(step: DraftStep, before: SeriesReference, after: SeriesReference): DraftStep {
  return { ...step, input: step.input.map((one) => (isSame(one, before) ? after : one)) };
}

function rewired(draft: Draft, before: SeriesReference, after: SeriesReference): Draft {
  return draft.map((item) => ({ ...item, operations: item.operations.map((step) => reading(step, before, after)) }));
}

function wordOf(operation: string): string {
  return operation.replaceAll(' ', '');
}

function isNamedAfter(metric: string, operation: string): boolean {
  return metric.replace(/ \d+$/, '') === wordOf(operation);
}

/** `Round`, or `Round 2` where a result has that name already. */
export function freeName(draft: Draft, word: string): string {
  const taken = new Set(
    draft.flatMap(({ metric, operations: steps }) => [
      metric,
      ...steps.flatMap(({ output }) => output.map((one) => one.metric)),
    ]),
  );
  let name = word;
  for (let count = 2; taken.has(name); count++) name = `${word} ${count}`;
  return name;
}
