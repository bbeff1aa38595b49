import { formatInstant } from '../../core/instant.js';
import type { SeriesReference } from '../../core/series.js';
import { explain, type Plan } from '../../index.js';
import type { SampleStore } from '../../storage/samples/samples.js';
import type { Reader } from '../../storage/storage.js';
import { inTurns } from '../in-turns.js';
import { checkConflicts, itemOfResult } from './conflicts.js';
import { estimateOutputs, type StoredRange } from './estimate.js';
import { ITEMS_A_TURN, type ItemDefinition } from './split-request.js';

/** What a request would do, and what that costs, with nothing stored. */
export async function dryRun(
  tx: Reader,
  samples: SampleStore,
  organisation: string,
  plan: Plan,
  definitions: readonly ItemDefinition[],
) {
  await checkConflicts(tx, samples, organisation, definitions);
  const items = [];
  for await (const definition of inTurns(definitions, ITEMS_A_TURN)) {
    items.push(await describeItem(tx, samples, organisation, definition));
  }
  return { plan, explain: explain(plan), items };
}

async function describeItem(
  tx: Reader,
  samples: SampleStore,
  organisation: string,
  { output, processingType, plan: own }: ItemDefinition,
) {
  const existing = await itemOfResult(tx, organisation, output);
  const stored: StoredRange[] = [];
  for (const source of own.sources) stored.push(await storedRange(tx, samples, organisation, source));
  const outputs = estimateOutputs(own, stored);
  return {
    ...output,
    processingType,
    /** The item that it would replace. */
    replaces: existing?.itemId ?? null,
    plan: own,
    explain: explain(own),
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

async function storedRange(
  tx: Reader,
  samples: SampleStore,
  organisation: string,
  source: SeriesReference,
): Promise<StoredRange> {
  return (await samples.info(tx, organisation, source)) ?? { sampleCount: 0, firstMs: null, lastMs: null };
}

function describeRange({ timeseriesId, metric }: SeriesReference, { sampleCount, firstMs, lastMs }: StoredRange) {
  const instantOf = (timeMs: number | null): string | null => (timeMs === null ? null : formatInstant(timeMs));
  return { timeseriesId, metric, sampleCount, firstTimestamp: instantOf(firstMs), lastTimestamp: instantOf(lastMs) };
}
