import { formatInstant } from '../../core/instant.js';
import type { SeriesReference } from '../../core/series.js';
import { SourceMatcher } from '../../core/source-matcher.js';
import { explain } from '../../inspect/index.js';
import type { Plan } from '../../plan/plan.js';
import { inTurns, nextTurn } from '../../storage/next-turn.js';
import { equal, type Reader } from '../../storage/storage.js';
import { series } from '../../storage/tables/samples.js';
import { checkConflicts, type ItemScope, itemOfResult } from './conflicts.js';
import { estimateOutputs, type StoredRange } from './estimate.js';
import { shownType } from './records.js';
import { ITEMS_PER_TURN, type ItemDefinition, STEPS_PER_TURN } from './request.js';

export interface DryRunScope extends ItemScope {
  /** Reads in each shard of the organisation. */
  readonly readEach: (work: (tx: Reader) => Promise<void>) => Promise<void>;
  readonly readTogether: (work: (scope: DryRunScope) => Promise<void>) => Promise<void>;
}

/** Describes what a request would do, and its costs, without storing anything. */
export async function dryRun(scope: DryRunScope, plan: Plan, definitions: readonly ItemDefinition[]) {
  await checkConflicts(scope, definitions);
  const explained = explain(plan);
  await nextTurn();
  const items: Awaited<ReturnType<typeof describeItem>>[] = [];
  for (let from = 0; from < definitions.length; from += ITEMS_PER_TURN) {
    if (from > 0) await nextTurn();
    await scope.readTogether(async (within) => {
      for (const definition of definitions.slice(from, from + ITEMS_PER_TURN)) {
        // A request of one item has that item's plan.
        const own = definition.plan === plan ? explained : explain(definition.plan);
        items.push(await describeItem(within, definition, own));
      }
    });
  }
  return { plan, explain: explained, items };
}

async function describeItem(scope: DryRunScope, definition: ItemDefinition, explained: string) {
  const { organisation, samples, shardOf, readIn } = scope;
  const readAt = <Result>({ timeseriesId }: SeriesReference, work: (tx: Reader) => Promise<Result>) =>
    readIn(shardOf(timeseriesId), work);
  const { output, processingType, plan: own } = definition;
  const existing = await readAt(output, (tx) => itemOfResult(tx, organisation, output));
  const stored: StoredRange[] = [];
  for (const source of own.sources) {
    const info = await readAt(source, (tx) => samples.info(tx, organisation, source));
    stored.push(info ?? { sampleCount: 0, firstMs: null, lastMs: null });
  }
  const outputs = estimateOutputs(own, stored);
  if (own.steps.length >= STEPS_PER_TURN) await nextTurn();
  const members = own.every === undefined ? null : await countMembers(scope, own);
  return {
    ...output,
    processingType: shownType(processingType),
    /** For a pattern: how many members there are now. Their costs are only known for a request with their ids. */
    members,
    /** The item that it would replace. */
    replaces: existing?.itemId ?? null,
    plan: own,
    explain: explained,
    costs: {
      sources: own.sources.map((source, index) => describeRange(source, stored[index]!)),
      samplesRead: stored.reduce((sum, { sampleCount }) => sum + sampleCount, 0),
      samplesExpected: outputs[own.items[own.items.length - 1]!.step]!,
      steps: own.steps.map(({ operation, output: result }, index) => ({
        operation,
        output: result,
        samplesExpected: outputs[index]!,
      })),
    },
  };
}

/** Counts the members of a plan with patterns among the stored series. */
async function countMembers({ organisation, readEach }: DryRunScope, { sources }: Plan): Promise<number> {
  const matcher = new SourceMatcher(sources);
  const members = new Set<string>();
  await readEach(async (tx) => {
    for await (const row of inTurns(await tx.find(series, { where: equal({ organisation }) }), 1000)) {
      for (const { member } of matcher.placesOf(row)) if (member !== undefined) members.add(member);
    }
  });
  return members.size;
}

function describeRange({ timeseriesId, metric }: SeriesReference, { sampleCount, firstMs, lastMs }: StoredRange) {
  const instantOf = (timeMs: number | null): string | null => (timeMs === null ? null : formatInstant(timeMs));
  return { timeseriesId, metric, sampleCount, firstTimestamp: instantOf(firstMs), lastTimestamp: instantOf(lastMs) };
}
