import type { DoubleList } from '../../core/list.js';
import type { Plan } from '../../plan/plan.js';
import { countsToList, SOURCE_COUNT_LENGTH, STEP_COUNT_LENGTH, setCounts } from '../graph/counts.js';
import type { Graph } from '../graph/graph.js';
import type { RunSettings } from '../options.js';
import { type CheckpointWriter, createWriter, openCheckpoint } from './bytes.js';

/** A checkpoint of a stream is the states written out, as numbers in the order of the graph. */

/** What a stream remembers besides the states of its graph. */
export interface Progress {
  advancedMs: number;
  unused: number;
}

const SIZE_USUAL = 1024;

export function writeCheckpoint(plan: Plan, settings: RunSettings, graph: Graph, progress: Progress): Uint8Array {
  const writer = createWriter('WRCP', plan, settings, SIZE_USUAL);
  writer.add(progress.advancedMs);
  writer.add(progress.unused);
  for (const { state, counts } of graph.sources) {
    addAll(writer, countsToList(counts));
    addAll(writer, state.slots);
    addList(writer, state.pendingTimes);
    addList(writer, state.pendingValues);
  }
  for (const { nodes, counts } of graph.steps) {
    for (const own of counts) addAll(writer, countsToList(own));
    for (const { state } of nodes) {
      if (state === undefined) continue;
      addAll(writer, state.slots);
      for (const list of state.lists) addList(writer, list);
    }
  }
  return writer.finish();
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
  for (const { state, counts } of graph.sources) {
    setCounts(counts, take(next, SOURCE_COUNT_LENGTH));
    state.slots.set(take(next, state.slots.length));
    takeList(next, state.pendingTimes);
    takeList(next, state.pendingValues);
  }
  for (const { nodes, counts } of graph.steps) {
    for (const own of counts) setCounts(own, take(next, STEP_COUNT_LENGTH));
    for (const { state } of nodes) {
      if (state === undefined) continue;
      state.slots.set(take(next, state.slots.length));
      for (const list of state.lists) takeList(next, list);
    }
  }
}

function addAll(writer: CheckpointWriter, numbers: ArrayLike<number>): void {
  for (let i = 0; i < numbers.length; i++) writer.add(numbers[i]!);
}

function addList(writer: CheckpointWriter, list: DoubleList): void {
  writer.add(list.length);
  for (let i = 0; i < list.length; i++) writer.add(list.at(i));
}

function take(next: () => number, count: number): number[] {
  return Array.from({ length: count }, next);
}

function takeList(next: () => number, list: DoubleList): void {
  for (let length = next(); length > 0; length--) list.push(next());
}
