import { parseDuration } from '../../core/duration.js';
import type { Series } from '../../core/series.js';
import { firstAtOrAfter } from '../../kernels/search.js';
import type { Plan } from '../../plan/plan.js';
import type { Graph } from '../graph/graph.js';
import { loadedOf } from './loaded-series.js';

/**
 * Pushes chunk by chunk, always to the source that is furthest behind, so that steps with two inputs hold little back.
 * With a `frequency` no chunk crosses a boundary between two runs.
 *
 * @param areChecked whether it is known that times rise.
 * @returns false if the times of an input do not rise.
 */
export function pushAll(plan: Plan, graph: Graph, inputs: readonly Series[], areChecked: boolean): boolean {
  const frequencyMs = shortestFrequencyMs(plan);
  const order = pushOrder(plan);
  const position = inputs.map(() => 0);
  const areLoaded = inputs.map((input) => loadedOf(input) !== undefined);
  let checked: { readonly timeMs: Float64Array; readonly from: number; readonly to: number } | undefined;
  let lastMs = Number.NaN;
  for (;;) {
    const at = furthestBack(inputs, position, order);
    if (at < 0) return true;
    const input = inputs[at]!;
    const { timeMs } = input;
    const from = position[at]!;
    const nextMs = timeMs[from]!;
    // Chunks that begin at the same time go in with no advance between them, so their samples need not wait in lists.
    if (nextMs !== lastMs) graph.advance();
    lastMs = nextMs;
    let to = Math.min(from + graph.sources[at]!.chunkLength, timeMs.length);
    if (frequencyMs !== undefined) {
      const boundaryMs = (Math.floor(nextMs / frequencyMs) + 1) * frequencyMs;
      to = Math.max(from + 1, firstAtOrAfter(timeMs, from, to, boundaryMs));
    }
    // A column of times that several series share is checked once.
    const isChecked = checked !== undefined && checked.timeMs === timeMs && checked.from === from && checked.to === to;
    const known = areLoaded[at] === true ? 'all' : isChecked || areChecked ? 'times' : 'nothing';
    if (!graph.sources[at]!.pushRising(input, from, to, known)) return false;
    checked = { timeMs, from, to };
    position[at] = to;
  }
}

// The input whose next sample is the earliest, the first in `order` among equals; −1 if none has any left.
function furthestBack(inputs: readonly Series[], position: readonly number[], order: readonly number[]): number {
  let at = -1;
  let earliestMs = Number.POSITIVE_INFINITY;
  for (const k of order) {
    const nextMs = inputs[k]!.timeMs[position[k]!];
    if (nextMs === undefined || (at >= 0 && !(nextMs < earliestMs))) continue;
    at = k;
    earliestMs = nextMs;
  }
  return at;
}

// Sources that a step with two inputs reads directly go first: the step can hold their chunks without copying them, but
// has to copy the results of other steps.
function pushOrder({ sources, steps }: Plan): number[] {
  const pairs = steps.flatMap(({ inputs }) => (inputs.length === 2 ? inputs : []));
  const held = new Set(pairs.flatMap(({ from, index }) => (from === 'source' ? index : [])));
  const order = [...sources.keys()];
  return [...order.filter((source) => held.has(source)), ...order.filter((source) => !held.has(source))];
}

function shortestFrequencyMs(plan: Plan): number | undefined {
  const lengths = plan.items.flatMap(({ frequency }) =>
    frequency === undefined ? [] : [parseDuration(frequency) ?? 0],
  );
  return lengths.length === 0 ? undefined : Math.min(...lengths);
}
