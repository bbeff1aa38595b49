import { parseDuration } from '../../core/duration.js';
import { hashText } from '../../core/hash.js';
import type { SeriesReference } from '../../core/series.js';
import { createPlan, type Plan } from '../../index.js';
import { outputOf } from './step.js';

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
    yield { posted, ...definitionOf(request) };
  }
}

/** So many items are planned, or registered, before others have a turn. */
export const ITEMS_A_TURN = 20;

/** What follows from the request of an item alone. */
export function definitionOf(request: readonly unknown[]): Omit<ItemDefinition, 'posted'> {
  const plan = createPlan(request);
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
