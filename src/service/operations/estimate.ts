import { operationsByName } from '../../operations/index.js';
import type { Plan, PlanStep } from '../../plan/plan.js';

/** What is stored of a source. */
export interface StoredRange {
  readonly sampleCount: number;
  readonly firstMs: number | null;
  readonly lastMs: number | null;
}

/** How many samples each step would make at most of what is stored, as far as that follows from the ranges. */
export function estimateOutputs(plan: Plan, sources: readonly StoredRange[]): number[] {
  const known: StoredRange[] = [];
  for (const step of plan.steps) {
    const inputs = step.inputs.map(({ from, index }) => (from === 'source' ? sources[index]! : known[index]!));
    known.push(estimateStep(step, inputs));
  }
  return known.map(({ sampleCount }) => sampleCount);
}

function estimateStep({ operation, parameters }: PlanStep, inputs: readonly StoredRange[]): StoredRange {
  const described = operationsByName.get(operation);
  const [first] = inputs;
  if (described === undefined || first === undefined) throw new Error(`assertion failed: the plan names ${operation}`);
  const firstMs = leastOf(inputs.map((range) => range.firstMs));
  const lastMs = greatestOf(inputs.map((range) => range.lastMs));
  const counts = inputs.map(({ sampleCount }) => sampleCount);
  const spanMs = firstMs === null || lastMs === null ? 0 : lastMs - firstMs;
  const everyMs = described.pointsEveryMs?.(parameters);
  const { reads } = described.describe(parameters);
  const sampleCount = (): number => {
    if (counts.every((count) => count === 0)) return 0;
    if (everyMs !== undefined) return Math.floor(spanMs / everyMs) + 1;
    if (reads.kind === 'window') {
      const windows = Math.floor(spanMs / reads.lengthMsMax) + 2;
      return isFilled(parameters) ? windows : Math.min(first.sampleCount, windows);
    }
    // Alignments other than inner give a sample at every time of either input.
    const isInner = inputs.length < 2 || parameters.align === undefined || parameters.align === 'inner';
    return isInner ? Math.min(...counts) : counts.reduce((sum, count) => sum + count, 0);
  };
  return { sampleCount: sampleCount(), firstMs, lastMs };
}

function isFilled({ empty }: PlanStep['parameters']): boolean {
  return empty !== undefined && empty !== 'omit';
}

function leastOf(times: readonly (number | null)[]): number | null {
  return times.reduce(
    (least, timeMs) => (least === null || (timeMs !== null && timeMs < least) ? timeMs : least),
    null,
  );
}

function greatestOf(times: readonly (number | null)[]): number | null {
  return times.reduce((most, timeMs) => (most === null || (timeMs !== null && timeMs > most) ? timeMs : most), null);
}
