import type { Plan } from '../../plan/plan.js';
import type { Graph } from '../graph/graph.js';
import type { RunSettings } from '../options.js';
import { createWriter, openCheckpoint } from './bytes.js';

/** What a stream remembers besides the states of its graph. */
export interface Progress {
  advancedMs: number;
  unused: number;
}

const SIZE_USUAL = 1024;

/** A checkpoint of a stream: its progress, then the counts and the states of its graph, number by number. */
export function writeCheckpoint(plan: Plan, settings: RunSettings, graph: Graph, progress: Progress): Uint8Array {
  const { add, finish } = createWriter('WRCP', plan, settings, SIZE_USUAL);
  add(progress.advancedMs);
  add(progress.unused);
  writeCounts(graph, add);
  for (const { slots, lists } of graph.states) {
    slots.forEach(add);
    for (const list of lists) {
      add(list.length);
      list.view().forEach(add);
    }
  }
  return finish();
}

/** Puts the numbers of a checkpoint into a new graph. @throws CheckpointError */
export function readCheckpoint(
  bytes: Uint8Array,
  plan: Plan,
  settings: RunSettings,
  graph: Graph,
  progress: Progress,
): void {
  const next = openCheckpoint('WRCP', bytes, plan, settings);
  progress.advancedMs = next();
  progress.unused = next();
  readCounts(graph, next);
  for (const { slots, lists } of graph.states) {
    for (let i = 0; i < slots.length; i++) slots[i] = next();
    for (const list of lists) for (let length = next(); length > 0; length--) list.push(next());
  }
}

export function writeCounts(graph: Graph, add: (value: number) => void): void {
  for (const counts of graph.counts) Object.values(counts).forEach(add);
}

export function readCounts(graph: Graph, next: () => number): void {
  for (const counts of graph.counts) for (const name of Object.keys(counts)) counts[name] = next();
}
