import type { Chunk } from '../../core/chunk.js';
import {
  FIRST_TIMES,
  FIRST_VALUES,
  type MatchContext,
  type Matcher,
  matchInner,
  SECOND_TIMES,
  SECOND_VALUES,
} from '../../operations/match.js';
import type { CombineRunner, State } from '../../operations/operation.js';
import type { StepCounts } from './counts.js';
import { clearState, type Inlet, type Node, type NodeContext, newState } from './node.js';
import { Pairs } from './pairs.js';

/** A step with two inputs: samples wait in lists until the other input has caught up. */
export class CombineNode implements Node {
  readonly inlets: readonly Inlet[];
  readonly outlets: Inlet[] = [];
  readonly state: State = newState(6, 4);
  readonly #isInner: boolean;
  readonly #match: Matcher;
  readonly #counts: StepCounts;
  readonly #pairs: Pairs;
  readonly #matching: MatchContext;

  /** @param match how the inputs meet, if not at equal times only. */
  constructor(runner: CombineRunner, match: Matcher | undefined, context: NodeContext) {
    this.#isInner = match === undefined;
    this.#match = match ?? matchInner;
    this.#counts = context.counts;
    const pairs = new Pairs(runner, this.outlets, context);
    this.#pairs = pairs;
    this.#matching = {
      state: this.state,
      pair: (timeMs, first, second) => pairs.add(timeMs, first, second),
      unmatched: (input, count) => this.#countUnmatched(input, count),
    };
    this.inlets = [{ receive: (chunk) => this.#receive(0, chunk) }, { receive: (chunk) => this.#receive(1, chunk) }];
  }

  advance(watermarksMs: Float64Array): void {
    this.#pairs.spill(this.state);
    this.#match(this.#matching, watermarksMs[0]!, watermarksMs[1]!);
    this.#pairs.flush();
  }

  watermarkMs(watermarksMs: Float64Array): number {
    const first = watermarksMs[0]!;
    const second = watermarksMs[1]!;
    const { lists } = this.state;
    const firstWaits = lists[FIRST_TIMES]!.length > 0 ? lists[FIRST_TIMES]!.at(0) : first;
    const secondWaits = lists[SECOND_TIMES]!.length > 0 ? lists[SECOND_TIMES]!.at(0) : second;
    return Math.min(first, second, firstWaits, secondWaits);
  }

  close(): void {
    this.#pairs.spill(this.state);
    this.#match(this.#matching, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    this.#pairs.flush();
    const { lists } = this.state;
    this.#countUnmatched(0, lists[FIRST_TIMES]!.length);
    this.#countUnmatched(1, lists[SECOND_TIMES]!.length);
    for (const list of lists) list.clear();
  }

  reset(): void {
    clearState(this.state);
    this.#pairs.clear();
  }

  #receive(input: 0 | 1, chunk: Chunk): void {
    this.#counts.samplesIn += chunk.count;
    const { lists } = this.state;
    const times = lists[input === 0 ? FIRST_TIMES : SECOND_TIMES]!;
    const values = lists[input === 0 ? FIRST_VALUES : SECOND_VALUES]!;
    if (this.#isInner) {
      if (this.#pairs.pairHeld(input, chunk)) return;
      this.#pairs.spill(this.state);
      if (lists[FIRST_TIMES]!.length === 0 && lists[SECOND_TIMES]!.length === 0) {
        this.#pairs.hold(input, chunk);
        return;
      }
    }
    times.append(chunk.timeMs, 0, chunk.count);
    values.append(chunk.value, 0, chunk.count);
    if (this.#isInner) this.#match(this.#matching, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY);
  }

  #countUnmatched(input: 0 | 1, count: number): void {
    this.#counts[input === 0 ? 'unmatchedFirst' : 'unmatchedSecond'] += count;
  }
}
