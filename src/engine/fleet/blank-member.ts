import { DoubleList } from '../../core/list.js';
import type { Graph } from '../graph/graph.js';
import type { CurrentMember, FleetSink } from './fleet-sink.js';
import { BLANK, type MemberStates } from './member-states.js';

/**
 * A member without samples of its own, which takes part in everything that concerns all members. A new member starts
 * as a copy of it, with its state, results and counts, as if the new member had been there from the start.
 */
export class BlankMember {
  readonly #graph: Graph;
  readonly #states: MemberStates;
  readonly #sinks: readonly FleetSink[];
  readonly #current: CurrentMember;
  /** Its counts, in the order of the graph. The graph's own counts are those of the members. */
  readonly counts: readonly Record<string, number>[];
  /** Its results by item. Few plans give results without samples of their own. */
  readonly #results: readonly { readonly timeMs: DoubleList; readonly value: DoubleList }[];
  /** How many members have been given its results. */
  #givenCount = 0;

  constructor(graph: Graph, states: MemberStates, sinks: readonly FleetSink[], current: CurrentMember) {
    this.#graph = graph;
    this.#states = states;
    this.#sinks = sinks;
    this.#current = current;
    this.counts = graph.counts.map((counts) => ({ ...counts }));
    this.#results = sinks.map(() => ({ timeMs: new DoubleList(), value: new DoubleList() }));
  }

  /** Does some work for the blank member; the caller then does the same for each member. */
  act(work: () => void): void {
    const before = this.#graph.counts.map((counts) => ({ ...counts }));
    this.#states.load(BLANK);
    work();
    this.#states.save(BLANK);
    for (const [index, counts] of this.#graph.counts.entries()) {
      for (const [name, count] of Object.entries(before[index]!)) {
        this.counts[index]![name]! += counts[name]! - count;
        counts[name] = count;
      }
    }
    const taken = this.#sinks.map((sink) => (sink.count() === 0 ? undefined : sink.take()));
    // New members get the results from before they joined; later ones they compute themselves.
    this.giveResults();
    for (const [item, results] of taken.entries()) {
      if (results === undefined) continue;
      const { timeMs, value } = results;
      this.#results[item]!.timeMs.append(timeMs, 0, timeMs.length);
      this.#results[item]!.value.append(value, 0, value.length);
    }
  }

  /** Adds a member as a copy of this one and returns its number. */
  copy(): number {
    for (const [index, counts] of this.#graph.counts.entries()) {
      for (const [name, count] of Object.entries(this.counts[index]!)) counts[name]! += count;
    }
    return this.#states.add();
  }

  /** Gives its results to members that joined since the last time. @param isLasting false if this will be undone. */
  giveResults(isLasting = true): void {
    for (let member = this.#givenCount; member < this.#states.count; member++) {
      this.#current.member = member;
      for (const [item, { timeMs, value }] of this.#results.entries()) {
        if (timeMs.length === 0) continue;
        this.#sinks[item]!.receive({ timeMs: timeMs.view(), value: value.view(), count: timeMs.length });
      }
    }
    if (isLasting) this.#givenCount = this.#states.count;
  }

  write(add: (value: number) => void): void {
    add(this.#givenCount);
    for (const counts of this.counts) Object.values(counts).forEach(add);
    for (const { timeMs, value } of this.#results) {
      add(timeMs.length);
      timeMs.view().forEach(add);
      value.view().forEach(add);
    }
    this.#states.write(BLANK, add);
  }

  read(next: () => number): void {
    this.#givenCount = next();
    for (const counts of this.counts) for (const name of Object.keys(counts)) counts[name] = next();
    for (const { timeMs, value } of this.#results) {
      const length = next();
      for (const list of [timeMs, value]) for (let i = 0; i < length; i++) list.push(next());
    }
    this.#states.read(BLANK, next);
  }
}
