import { parseDuration } from '../../core/duration.js';
import { hashText } from '../../core/hash.js';
import { patternOf } from '../../core/pattern.js';
import type { SeriesReference } from '../../core/series.js';
import { type Issue, type Plan, RequestError } from '../../index.js';
import { planEvery, planEveryInTurns } from '../../plan/patterns.js';
import { inPauses, nextTurn } from '../../storage/next-turn.js';
import { badRequest } from '../http/errors.js';
import { defaultSettings } from '../settings.js';
import { nameProblem } from '../timeseries/write/json.js';
import { outputOf } from './compute/step.js';

const ITEMS_MAX = 1000;
/** Steps of a request. */
const STEPS_MAX = 3000;
/** Steps of the plan of one item, with those of the items it reads: its stream is opened in one turn. */
const ITEM_STEPS_MAX = 1000;
/** Steps of the plans of all its items together: each has those of the items it reads too. */
const PLANNED_STEPS_MAX = 20_000;
/** So many steps are planned, or set up to run, before others are answered. */
export const STEPS_PER_TURN = 300;
const FAULTS_MAX = 500;
/** Of the JSON of an item: some hundred steps, which are planned in some milliseconds. */
const LARGE_REQUEST_LENGTH = 50_000;

/** Checks the body of `POST /operations` (interface 2.5). @throws RequestError, ServiceError 400 */
export async function readOperations(body: unknown, rangesMax = defaultSettings.requestRangesMax) {
  if (Array.isArray(body)) checkSize(body, rangesMax);
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

// Before planning, whose time grows with all of these.
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
      // Each fault is told with its place, which takes longer than planning a step.
      if (typeof operation !== 'string' || !Array.isArray(input) || !Array.isArray(output)) faultCount++;
      if (faultCount > FAULTS_MAX) throw tooLarge(`${FAULTS_MAX} steps without operation, input or output`, 'more');
      // Lists of anything: of ranges, and of what a caller may send in their place.
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

// Results are series of the store, and have names like these.
function checkNames({ items }: Plan): void {
  const issues = items.flatMap(({ output }, index): Issue[] => {
    const names = { '/metric': output.metric, '/operations': output.timeseriesId };
    return Object.entries(names).flatMap(([below, name]) => {
      const expected = nameProblem(name);
      if (expected === undefined) return [];
      return [{ pointer: `/${index}${below}`, code: 'request.value', expected, received: JSON.stringify(name) }];
    });
  });
  if (issues.length > 0) throw new RequestError(issues);
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
  /** The items of its request that it reads from, and itself, last: all that its plan needs. */
  readonly request: readonly unknown[];
  readonly plan: Plan;
  readonly planHash: string;
}

/** The items of a request, each with a plan of its own: they are registered, replaced and deleted one by one. */
export function* splitRequest(plan: Plan): Generator<ItemDefinition> {
  const readsOf = itemsReadBy(plan);
  for (const [index, posted] of plan.request.entries()) {
    const others = [...closureOf(index, readsOf)].filter((other) => other !== index).sort((a, b) => a - b);
    const request = [...others, index].map((at) => plan.request[at]);
    // A plan of one item is that item's.
    yield { posted, ...definitionOf(request, plan.request.length === 1 ? plan : planEvery(request)) };
  }
}

/** So many items are registered before others have a turn. */
export const ITEMS_PER_TURN = 20;

/** What follows from the request of an item alone. */
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

/** As `definitionOf`, of an item as it was stored; others have their turns while a large one is planned. */
export async function storedDefinition(text: string): Promise<Omit<ItemDefinition, 'posted'>> {
  // Written when it was registered.
  const request: readonly unknown[] = JSON.parse(text);
  if (text.length < LARGE_REQUEST_LENGTH) return definitionOf(request);
  return definitionOf(request, await inPauses(planEveryInTurns(request)));
}

/** Whether an item stands for many: its result's id is a pattern. */
export function isPattern({ timeseriesId }: Pick<SeriesReference, 'timeseriesId'>): boolean {
  return patternOf(timeseriesId) !== undefined;
}

/** Tells plans apart that compute something else. */
function hashOf({ timezone, sources, steps, items }: Plan): string {
  return hashText(JSON.stringify([timezone, sources, steps, items])).toString(16);
}

// The items whose steps each item's steps read.
function itemsReadBy({ steps, items }: Plan): ReadonlySet<number>[] {
  const itemOf = steps.map(({ pointer }) => Number(/^\/(\d+)\//.exec(pointer)?.[1]));
  const reads = items.map(() => new Set<number>());
  for (const [at, { inputs }] of steps.entries()) {
    for (const { from, index } of inputs) if (from === 'step') reads[itemOf[at]!]!.add(itemOf[index]!);
  }
  return reads;
}

function closureOf(start: number, reads: readonly ReadonlySet<number>[]): ReadonlySet<number> {
  // A set's loop goes on over what is added to it.
  const found = new Set([start]);
  for (const item of found) for (const other of reads[item]!) found.add(other);
  return found;
}
