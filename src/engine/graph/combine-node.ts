import type { Chunk } from '../../core/chunk.js';
import type { CombineRunner } from '../../operations/operation.js';
import type { Align } from '../../operations/two-inputs.js';
import { FIRST_TIMES, FIRST_VALUES, type Meeting, matchers, SECOND_TIMES, SECOND_VALUES } from './match.js';
import { clearState, type Inlet, type Node, type NodeContext, newState } from './node.js';
import { createPairs } from './pairs.js';

/** A step with two inputs: samples wait in lists until the other side has come as far. */
export function combineNode(runner: CombineRunner, align: Align, maxHoldMs: number, context: NodeContext): Node {
  const { counts } = context;
  const outlets: Inlet[] = [];
  const state = newState(6, 4);
  const pairs = createPairs(runner, outlets, context);
  const unmatched = (input: 0 | 1, count: number): void => {
    counts[input === 0 ? 'unmatchedFirst' : 'unmatchedSecond'] += count;
  };
  const meeting: Meeting = { state, pair: pairs.add, unmatched, maxHoldMs };
  const matcher = matchers[align];

  function inletOf(input: 0 | 1): Inlet {
    const times = state.lists[input === 0 ? FIRST_TIMES : SECOND_TIMES]!;
    const values = state.lists[input === 0 ? FIRST_VALUES : SECOND_VALUES]!;
    const otherTimes = state.lists[input === 0 ? SECOND_TIMES : FIRST_TIMES]!;
    const receive = (chunk: Chunk): void => {
      counts.samplesIn += chunk.count;
      if (align === 'inner') {
        if (pairs.meet(input, chunk)) return;
        pairs.spill(state);
        if (times.length === 0 && otherTimes.length === 0) {
          pairs.hold(input, chunk);
          return;
        }
      }
      times.append(chunk.timeMs, 0, chunk.count);
      values.append(chunk.value, 0, chunk.count);
      if (align === 'inner') matcher(meeting, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY);
    };
    const placeFor: Inlet['placeFor'] = (column) =>
      align === 'inner' && column === 'value' ? pairs.placeFor(input) : undefined;
    return { receive, placeFor };
  }

  function advance(watermarksMs: Float64Array): void {
    pairs.spill(state);
    matcher(meeting, watermarksMs[0]!, watermarksMs[1]!);
    pairs.flush();
  }

  function watermarkMs(watermarksMs: Float64Array): number {
    const first = watermarksMs[0]!;
    const second = watermarksMs[1]!;
    const { lists } = state;
    const firstWaits = lists[FIRST_TIMES]!.length > 0 ? lists[FIRST_TIMES]!.at(0) : first;
    const secondWaits = lists[SECOND_TIMES]!.length > 0 ? lists[SECOND_TIMES]!.at(0) : second;
    return Math.min(first, second, firstWaits, secondWaits);
  }

  function close(): void {
    pairs.spill(state);
    matcher(meeting, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    pairs.flush();
    const { lists } = state;
    unmatched(0, lists[FIRST_TIMES]!.length);
    unmatched(1, align === 'asof' ? 0 : lists[SECOND_TIMES]!.length);
    for (const list of lists) list.clear();
  }

  function reset(): void {
    clearState(state);
    pairs.clear();
  }

  return { inlets: [inletOf(0), inletOf(1)], outlets, advance, watermarkMs, close, reset, state };
}
