import type { Chunk } from '../../../core/chunk.js';
import type { Description, RegridRunner, RunContext, State } from '../../operation.js';

/** A step with a state that gives at most one result for each sample, at once and at the sample's time. */
export function perSample(slotCount: number, push: RegridRunner['push'], listCount = 0): RegridRunner {
  return {
    kind: 'regrid',
    slotCount,
    listCount,
    push,
    advance: () => undefined,
    close: () => undefined,
    watermark: (_state, watermarkMs) => watermarkMs,
  };
}

/**
 * The same with exactly one result for each sample. `fill` writes the results of a whole chunk, as a call for each
 * would cost more than most operations do, and returns whether all are finite.
 */
export function onePerSample(
  slotCount: number,
  column: RunContext['column'],
  fill: (state: State, chunk: Chunk, results: Float64Array) => boolean,
  listCount = 0,
): RegridRunner {
  const results = column();
  return perSample(
    slotCount,
    (state, chunk, out) => {
      const { timeMs, count, inputTimeMs } = chunk;
      if (fill(state, chunk, results)) out.addRun(timeMs, results, count, false, inputTimeMs);
      else for (let i = 0; i < count; i++) out.add(timeMs[i]!, results[i]!);
    },
    listCount,
  );
}

/** The description of such a step, apart from what it does and keeps. */
export const FROM_THE_PAST = {
  reads: { kind: 'past' },
  final: 'with its sample',
} as const satisfies Partial<Description>;
