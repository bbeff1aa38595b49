import type { DoubleList } from '../../core/list.js';
import type { State } from '../../operations/operation.js';
import type { Graph } from '../graph/graph.js';

/**
 * Copies out what a graph remembers between two calls.
 *
 * @returns puts it all back, whatever has gone through the graph since, even a call that failed half way.
 */
export function snapshotOf(graph: Graph): () => void {
  const sources = graph.sources.map(({ state, counts }) => {
    const { slots, pendingTimes, pendingValues } = state;
    const putState = copyOf({ slots, lists: [pendingTimes, pendingValues] });
    return { putState, counts, kept: { ...counts } };
  });
  const steps = graph.steps.map(({ nodes, counts }) => {
    const states = nodes.flatMap(({ state }) => (state === undefined ? [] : [copyOf(state)]));
    return { states, counts, kept: counts.map((own) => ({ ...own })) };
  });
  return () => {
    // Nodes hold more than their states while they work.
    graph.reset();
    for (const { putState, counts, kept } of sources) {
      putState();
      Object.assign(counts, kept);
    }
    for (const { states, counts, kept } of steps) {
      for (const putState of states) putState();
      for (const [stage, own] of counts.entries()) Object.assign(own, kept[stage]);
    }
  };
}

/** Keeps a copy of a state; the function given writes it to that state, whose lists must be empty. */
function copyOf({ slots, lists }: State): () => void {
  const keptSlots = slots.slice();
  const keptLists = lists.map((list: DoubleList) => (list.length === 0 ? undefined : list.view().slice()));
  return () => {
    slots.set(keptSlots);
    for (const [index, kept] of keptLists.entries()) {
      if (kept !== undefined) lists[index]!.append(kept, 0, kept.length);
    }
  };
}
