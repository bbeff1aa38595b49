import { createPlan, type Plan, type Series } from '../../src/index.js';

/** Small plans and series for the tests of the engine. */

type Json = Readonly<Record<string, unknown>>;

/** A request whose steps form a chain: the first reads `in/Raw`, each other one the step before it. */
export function chainPlan(steps: readonly (readonly [operation: string, parameters: Json])[], timezone?: string): Plan {
  const name = (index: number) => ({ timeseriesId: 'in', metric: index === 0 ? 'Raw' : `Step${index}` });
  const operations = steps.map(([operation, parameters], index) => {
    return { operation, parameters, input: [name(index)], output: [name(index + 1)] };
  });
  const request = [{ metric: 'Result', processingType: 'stream', operations }];
  return createPlan(request, timezone === undefined ? {} : { timezone });
}

export function seriesOf(timeMs: readonly number[], value: readonly number[], timeseriesId = 'in'): Series {
  return { timeseriesId, metric: 'Raw', timeMs: Float64Array.from(timeMs), value: Float64Array.from(value) };
}

export function pairsOf({ timeMs, value }: Pick<Series, 'timeMs' | 'value'>): [number, number][] {
  return [...timeMs].map((t, i) => [t, value[i]!]);
}
