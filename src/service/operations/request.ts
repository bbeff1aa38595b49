import { parseDuration } from '../../core/duration.js';
import { describeValue, type Issue, RequestError } from '../../core/errors.js';
import { hashText } from '../../core/hash.js';
import { patternOf } from '../../core/pattern.js';
import type { SeriesReference } from '../../core/series.js';
import { planEvery, planEveryInTurns } from '../../plan/patterns.js';
import type { Plan } from '../../plan/plan.js';
import { inPauses, nextTurn } from '../../storage/next-turn.js';
import { badRequest } from '../http/errors.js';
import { defaultSettings } from '../settings.js';
import { nameProblem } from '../timeseries/names.js';
import { outputOf } from './compute/step.js';

export const ITEMS_MAX = 1000;
/** The most steps of a request. */
const STEPS_MAX = 3000;
/** The most steps of the plan of one item, including the items it reads: one turn opens its stream. */
export const ITEM_STEPS_MAX = 1000;
/** The most steps of all plans of a request together; each plan includes the items it reads. */
const PLANNED_STEPS_MAX = 20_000;
/** How many steps to plan, or to set up, before other requests are answered. */
export const STEPS_PER_TURN = 300;
const FAULTS_MAX = 500;
/** The length of the JSON of some hundred steps, which take some milliseconds to plan. */
const LARGE_REQUEST_LENGTH = 50_000;

/** Checks the body of `POST /operations` (interface 2.5). @throws RequestError, ServiceError 400 */
export async function readOperations(body: unknown, rangesMax = defaultSettings.requestRangesMax) {
  if (Array.isArray(body)) checkSize(body, rangesMax);
  else if (Array.isArray(Object(body).items)) throw notAlone();
  const plan = await inPauses(planEveryInTurns(body));
  checkNames(plan);
  const definitions: ItemDefinition[] = [];
  let stepCount = 0;
  let inTurn = 0;
  if (plan.steps.length >= STEPS_PER_TURN) await nextTurn();
  for (const definition of splitRequest(plan)) {
    const { length } = definition.plan.steps;
    stepCount += length;
    checkItemSize(length);
    if (stepCount > PLANNED_STEPS_MAX) {
      throw tooLarge(`${PLANNED_STEPS_MAX} steps, with those of the items read counted again`, 'more');
    }
    definitions.push(definition);
    inTurn += length;
    if (inTurn < STEPS_PER_TURN) continue;
    await nextTurn();
    inTurn = 0;
  }
  return { plan, definitions };
}

/** 400 for the form of a file, `{"$schema", "items"}`, which the planner would take. */
function notAlone(): RequestError {
  const expected = 'an array of request items';
  const suggestion = 'send the array in `items` alone';
  return new RequestError([{ pointer: '', code: 'request.type', expected, received: 'an object', suggestion }]);
}

// Checked before planning, whose time grows with all of these.
function checkSize(body: readonly unknown[], rangesMax: number): void {
  if (body.length > ITEMS_MAX) throw tooLarge(`${ITEMS_MAX} items`, `${body.length}`);
  let stepCount = 0;
  let rangeCount = 0;
  let faultCount = 0;
  for (const item of body) {
    const steps: unknown = Object(item).operations;
    if (!Array.isArray(steps)) continue;
    checkItemSize(steps.length);
    stepCount += steps.length;
    if (stepCount > STEPS_MAX) throw tooLarge(`${STEPS_MAX} steps`, 'more');
    for (const step of steps) {
      const { operation, input, output } = Object(step);
      // Reporting a fault with its place takes longer than planning a step.
      if (typeof operation !== 'string' || !Array.isArray(input) || !Array.isArray(output)) faultCount++;
      if (faultCount > FAULTS_MAX) throw tooLarge(`${FAULTS_MAX} steps without operation, input or output`, 'more');
      // Ranges, or whatever else a caller puts into lists.
      for (const list of Object.values(Object(Object(step).parameters))) rangeCount += lengthOf(list);
      for (const list of [input, output]) rangeCount += Math.max(0, lengthOf(list) - 2);
    }
    if (rangeCount > rangesMax) throw tooLarge(`${rangesMax} ranges`, 'more');
  }
}

function checkItemSize(stepCount: number): void {
  if (stepCount <= ITEM_STEPS_MAX) return;
  throw tooLarge(`${ITEM_STEPS_MAX} steps for an item, with those of the items it reads`, `${stepCount}`);
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

// What is read and computed are series of the store, or might be, so the rules of their names apply.
function checkNames({ request }: Plan): void {
  const issues: Issue[] = [];
  const check = (pointer: string, name: string): void => {
    const expected = nameProblem(name);
    if (expected !== undefined)
      issues.push({ pointer, code: 'request.value', expected, received: describeValue(name) });
  };
  // `as`: planned, so it has this form.
  for (const [index, { metric, operations }] of (request as readonly PlannedItem[]).entries()) {
    check(`/${index}/metric`, metric);
    for (const [at, step] of operations.entries()) {
      for (const [list, references] of [['input', step.input] as const, ['output', step.output] as const]) {
        for (const [k, reference] of references.entries()) {
          const pointer = `/${index}/operations/${at}/${list}/${k}`;
          check(`${pointer}/timeseriesId`, reference.timeseriesId);
          // The result of the item has its metric.
          if (reference.metric !== metric) check(`${pointer}/metric`, reference.metric);
        }
      }
    }
  }
  if (issues.length > 0) throw new RequestError(issues);
}

interface PlannedItem {
  readonly metric: string;
  readonly operations: readonly Readonly<Record<'input' | 'output', readonly SeriesReference[]>>[];
}

function tooLarge(most: string, received: string) {
  const expected = `at most ${most}`;
  return badRequest(`the request is too large: expected ${expected}, received ${received}; send it in parts`, {
    issues: [{ pointer: '', code: 'request.range', expected, received }],
  });
}

/** One item of a request, able to run by itself. */
export interface ItemDefinition {
  readonly output: SeriesReference;
  readonly processingType: 'stream' | 'batch';
  readonly frequencyMs: number | null;
  /** The item as it was posted. */
  readonly posted: unknown;
  /** The items of its request that it reads, and last the item itself: all that its plan needs. */
  readonly request: readonly unknown[];
  readonly plan: Plan;
  readonly planHash: string;
}

/** The items of a request, each with a plan of its own: they are registered, replaced and deleted one by one. */
export function* splitRequest(plan: Plan): Generator<ItemDefinition> {
  const readsOf = itemsReadBy(plan);
  const all = plan.request as readonly unknown[]; // the service takes lists alone
  for (const [index, posted] of all.entries()) {
    const others = [...closureOf(index, readsOf)].filter((other) => other !== index).sort((a, b) => a - b);
    const request = [...others, index].map((at) => all[at]);
    // The plan of a request of one item is that item's plan.
    const definition = definitionOf(request, all.length === 1 ? plan : planEvery(request));
    const isOfAll = definition.plan.every !== undefined && !isPattern(definition.output);
    yield { posted, ...(isOfAll ? definitionOf(neededOf(plan, [...others, index])) : definition) };
  }
}

/**
 * Items, of which the last has a result without a pattern, with those steps alone that this result rests on: others may
 * have patterns, and would make the item one of each member.
 */
function neededOf({ request, steps, items }: Plan, indices: readonly number[]): unknown[] {
  // A loop over a set also visits what is added during the loop.
  const needed = new Set([items[indices.at(-1)!]!.step]);
  for (const at of needed) for (const { from, index } of steps[at]!.inputs) if (from === 'step') needed.add(index);
  const pointers = new Set([...needed].map((at) => steps[at]!.pointer));
  return indices.flatMap((item) => {
    const posted = (request as readonly PlannedItem[])[item]!; // planned, so it has this form
    const operations = posted.operations.filter((_, at) => pointers.has(`/${item}/operations/${at}`));
    const [output] = operations.at(-1)?.output ?? [];
    if (output === undefined) return [];
    // Where the last step of another item is left out, its metric is no longer that of a result.
    const isLast = operations.at(-1) === posted.operations.at(-1);
    return [{ ...posted, operations, metric: isLast ? posted.metric : output.metric }];
  });
}

/** How many items to register before yielding. */
export const ITEMS_PER_TURN = 20;

/** The part of a definition that follows from the request of an item alone. */
export function definitionOf(
  request: readonly unknown[],
  plan: Plan = planEvery(request),
): Omit<ItemDefinition, 'posted'> {
  const { processingType, frequency } = plan.items[plan.items.length - 1]!;
  return {
    output: outputOf(plan),
    processingType,
    frequencyMs: frequency === undefined ? null : (parseDuration(frequency) ?? null),
    request,
    plan,
    planHash: hashOf(plan),
  };
}

/** Like `definitionOf`, for a stored item; yields while it plans a large one. */
export async function storedDefinition(text: string): Promise<Omit<ItemDefinition, 'posted'>> {
  // Written when it was registered.
  const request: readonly unknown[] = JSON.parse(text);
  if (text.length < LARGE_REQUEST_LENGTH) return definitionOf(request);
  return definitionOf(request, await inPauses(planEveryInTurns(request)));
}

/** The definition of a stored item with patterns; undefined if this version of the engine refuses its request. */
export function storedPattern(text: string): Omit<ItemDefinition, 'posted'> | undefined {
  try {
    return definitionOf(JSON.parse(text) as unknown[]); // written when it was registered
  } catch (error) {
    if (error instanceof RequestError) return undefined;
    throw error;
  }
}

/** Whether the id of an item's result is a pattern, so that the item stands for one of each member. */
export function isPattern({ timeseriesId }: Pick<SeriesReference, 'timeseriesId'>): boolean {
  return patternOf(timeseriesId) !== undefined;
}

/** A hash that differs between plans that compute different results. */
function hashOf({ timezone, sources, steps, items }: Plan): string {
  return hashText(JSON.stringify([timezone, sources, steps, items])).toString(16);
}

// For each item, the items whose results its steps read.
function itemsReadBy({ steps, items }: Plan): ReadonlySet<number>[] {
  const itemOf = steps.map(({ pointer }) => Number(/^\/(\d+)\//.exec(pointer)?.[1]));
  const reads = items.map(() => new Set<number>());
  for (const [at, { inputs }] of steps.entries()) {
    for (const { from, index } of inputs) if (from === 'step') reads[itemOf[at]!]!.add(itemOf[index]!);
  }
  return reads;
}

function closureOf(start: number, reads: readonly ReadonlySet<number>[]): ReadonlySet<number> {
  // A loop over a set also visits what is added during the loop.
  const found = new Set([start]);
  for (const item of found) for (const other of reads[item]!) found.add(other);
  return found;
}
