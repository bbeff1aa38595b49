import { describeValue, InputError } from '../../core/errors.js';
import type { Instant } from '../../core/instant.js';
import { planInTimezone } from '../../plan/create-plan.js';
import type { Plan } from '../../plan/plan.js';
import { type FleetMemory, readFleetCheckpoint, writeFleetCheckpoint } from '../checkpoint/fleet-checkpoint.js';
import type { Progress } from '../checkpoint/stream-checkpoint.js';
import { buildGraph, type Graph } from '../graph/graph.js';
import { type RunSettings, readOptions, type StreamOptions, toMs } from '../options.js';
import type { Report } from '../report.js';
import { LiveRun, newProgress } from '../stream/live-run.js';
import { BlankMember } from './blank-member.js';
import type { Fleet, FleetRun, FleetSeries } from './fleet.js';
import { type CurrentMember, type FleetSamples, FleetSink } from './fleet-sink.js';
import { type FleetInput, type TakenInput, takeInput } from './input.js';
import { MemberStates } from './member-states.js';

/**
 * Opens a fleet: a stream of the same plan for each member, as if all were opened now.
 *
 * @param plan a template: what it says of a source applies to each member, whatever the member's id.
 * @throws InputError for invalid options.
 * @example
 * const plan = createPlan([pipeline('any').aggregate({ function: 'Average', interval: 'PT15M' }).as('Mean')]);
 * const fleet = openFleet(plan);
 * fleet.push({ member: ['boiler', 'pump'], timeMs: Float64Array.of(0, 0), value: Float64Array.of(60, 3) });
 * const [means] = fleet.advance(900_000);
 * // means: { item: 0, metric: 'Mean', member: [0, 1], timeMs: [0, 0], value: [60, 3] }
 */
export function openFleet(plan: Plan, options: StreamOptions = {}): Fleet {
  return startFleet(planInTimezone(plan, options), options);
}

/**
 * Opens a fleet where another left off, on this machine or any other.
 *
 * @param bytes from `checkpoint` of a fleet of the same plan and options.
 * @throws CheckpointError if the bytes are damaged, or belong to another plan, other options or another version.
 */
export function restoreFleet(plan: Plan, bytes: Uint8Array, options: StreamOptions = {}): Fleet {
  const fleet = startFleet(planInTimezone(plan, options), options);
  fleet.restore(bytes);
  return fleet;
}

function startFleet(plan: Plan, options: StreamOptions): LiveFleet {
  const current = { member: 0 };
  const progress = newProgress();
  const sinks = plan.items.map(() => new FleetSink(current));
  const settings = readOptions(options, plan.timezone);
  const graph = buildGraph(plan, settings, sinks, () => progress.advancedMs);
  return new LiveFleet(plan, settings, { graph, sinks, progress, current });
}

interface WiredPlan {
  readonly graph: Graph;
  readonly sinks: readonly FleetSink[];
  readonly progress: Progress;
  /** The member whose state is loaded into the graph. */
  readonly current: CurrentMember;
}

class LiveFleet extends LiveRun implements Fleet {
  readonly #states: MemberStates;
  readonly #blank: BlankMember;
  /** The members' names, and their numbers by name. */
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #sinks: readonly FleetSink[];
  /** One for each source. */
  readonly #lateSinks: readonly FleetSink[];
  readonly #current: CurrentMember;
  #late: readonly FleetSamples[] = [];

  constructor(plan: Plan, settings: RunSettings, { graph, sinks, progress, current }: WiredPlan) {
    super('fleet', plan, settings, graph, progress);
    this.#states = new MemberStates(graph);
    this.#sinks = sinks;
    this.#lateSinks = plan.sources.map(() => new FleetSink(current));
    this.#current = current;
    this.#blank = new BlankMember(graph, this.#states, sinks, current);
  }

  get size(): number {
    return this.#states.count;
  }

  get late(): readonly FleetSamples[] {
    return this.#late;
  }

  join(timeseriesId: string): number {
    if (typeof timeseriesId !== 'string') {
      throw new InputError('input.columns', `join: expected a name, received ${describeValue(timeseriesId)}`);
    }
    return this.#numbers.get(timeseriesId) ?? this.#add(timeseriesId);
  }

  nameOf(member: number): string {
    return this.#names[this.#checkMember(member)]!;
  }

  push(samples: FleetInput): FleetSeries[] {
    this.assertUsable();
    const join = (timeseriesId: string): number => this.join(timeseriesId);
    this.call(this.#pushRuns, takeInput(samples, this.plan.sources.length, this.size, join));
    return this.#takeNew();
  }

  pushShared(samples: Omit<FleetInput, 'member'>): FleetSeries[] {
    this.assertUsable();
    const member = new Uint32Array(samples?.timeMs?.length ?? 0);
    this.call(
      this.#pushToAll,
      takeInput({ ...samples, member }, this.plan.sources.length, 1, () => 0),
    );
    return this.#takeNew();
  }

  advance(instant: Instant): FleetSeries[] {
    this.call(this.#advanceAll, toMs('advance', instant, this.plan.timezone));
    return this.#takeNew();
  }

  preview(members?: Iterable<number>): FleetSeries[] {
    this.assertUsable();
    const asked = members === undefined ? undefined : [...members].map((member) => this.#checkMember(member));
    try {
      return this.callAside(() => {
        this.#blank.giveResults(false);
        if (asked === undefined) this.#endAll();
        else for (const member of asked) this.#endMember(member);
        return this.#takeAll();
      });
    } finally {
      // After a failure they hold part of a result.
      for (const sink of this.#sinks) if (sink.count() > 0) sink.take();
    }
  }

  close(): FleetRun {
    this.call(this.#close, undefined);
    this.#takeLate();
    // Before the results are taken: the clock may throw.
    const report = this.end();
    return { series: this.#takeAll(), report };
  }

  override report(): Report {
    const report = super.report();
    // Samples of shared sources are counted once, by the blank member.
    const sources = report.sources.map((source, index) => {
      const {
        samplesIn = 0,
        samplesOut = 0,
        missing = 0,
        outOfRun = 0,
        duplicate = 0,
        late = 0,
      } = this.#blank.counts[index]!;
      if (samplesIn === 0) return source;
      return { ...source, samplesIn, samplesOut, dropped: { missing, outOfRun, duplicate, late } };
    });
    return { ...report, sources };
  }

  checkpoint(): Uint8Array {
    this.assertHasState();
    return writeFleetCheckpoint(this.plan, this.settings, this.#memory());
  }

  /** Puts a checkpoint into a fleet that has seen nothing yet. @throws CheckpointError */
  restore(bytes: Uint8Array): void {
    readFleetCheckpoint(bytes, this.plan, this.settings, this.#memory());
  }

  #memory(): FleetMemory {
    return {
      graph: this.graph,
      states: this.#states,
      names: this.#names,
      progress: this.progress,
      blank: this.#blank,
      add: (name) => {
        this.#addName(name);
        return this.#states.add();
      },
    };
  }

  #add(timeseriesId: string): number {
    this.assertUsable();
    this.#addName(timeseriesId);
    return this.#blank.copy();
  }

  #addName(timeseriesId: string): void {
    this.#numbers.set(timeseriesId, this.#names.push(timeseriesId) - 1);
  }

  #checkMember(member: number): number {
    if (Number.isInteger(member) && member >= 0 && member < this.size) return member;
    const expected = `the number of one of ${this.size} members`;
    throw new InputError('input.columns', `member: expected ${expected}, received ${String(member)}`);
  }

  // Adjacent samples of one member go in together.
  #pushRuns(samples: TakenInput): void {
    const { graph } = this;
    const states = this.#states;
    const { member } = samples;
    const source = graph.sources[samples.source]!;
    const lateSink = this.#lateSinks[samples.source]!;
    const count = member.length;
    this.#blank.giveResults();
    for (let from = 0; from < count; ) {
      const number = member[from]!;
      let to = from + 1;
      while (to < count && member[to] === number) to++;
      this.#current.member = number;
      states.load(number);
      source.push(samples, from, to);
      graph.advance();
      states.save(number);
      const late = source.takeLate();
      if (late !== undefined) lateSink.receive({ ...late, count: late.timeMs.length });
      from = to;
    }
    this.#takeLate();
  }

  #pushToAll(samples: TakenInput): void {
    const source = this.graph.sources[samples.source]!;
    const push = (): void => {
      source.push(samples);
      this.graph.advance();
    };
    this.#blank.act(push);
    const late = source.takeLate();
    this.#eachMember(push);
    source.takeLate();
    if (late !== undefined) this.#lateSinks[samples.source]!.receive({ ...late, count: late.timeMs.length });
    this.#takeLate();
  }

  #advanceAll(timeMs: number): void {
    this.progress.advancedMs = Math.max(this.progress.advancedMs, timeMs);
    const advance = (): void => {
      for (const source of this.graph.sources) source.advance(this.progress.advancedMs);
      this.graph.advance();
    };
    this.#blank.act(advance);
    this.#eachMember(advance);
    this.#takeLate();
  }

  #eachMember(work: () => void): void {
    for (let member = 0; member < this.#states.count; member++) {
      this.#current.member = member;
      this.#states.load(member);
      work();
      this.#states.save(member);
    }
  }

  #close(): void {
    this.#blank.act(() => this.graph.close(this.progress.advancedMs));
    this.#endAll();
  }

  #endAll(): void {
    for (let member = 0; member < this.size; member++) this.#endMember(member);
  }

  #endMember(member: number): void {
    this.#current.member = member;
    this.#states.load(member);
    this.graph.close(this.progress.advancedMs);
  }

  #takeLate(): void {
    this.#late = this.#lateSinks.map((sink) => sink.take());
  }

  #takeAll(): FleetSeries[] {
    return this.#sinks.map((sink, item) => ({ item, metric: this.plan.items[item]!.output.metric, ...sink.take() }));
  }

  #takeNew(): FleetSeries[] {
    const results: FleetSeries[] = [];
    for (const [item, sink] of this.#sinks.entries()) {
      if (sink.count() > 0) results.push({ item, metric: this.plan.items[item]!.output.metric, ...sink.take() });
    }
    return results;
  }
}
