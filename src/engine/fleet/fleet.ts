import { CheckpointError, describeValue, InputError } from '../../core/errors.js';
import { planInTimezone } from '../../plan/create-plan.js';
import type { Plan } from '../../plan/plan.js';
import { readFleetCheckpoint, writeFleetCheckpoint } from '../checkpoint/fleet-checkpoint.js';
import { snapshotOf } from '../checkpoint/snapshot.js';
import { buildGraph, type Graph } from '../graph/graph.js';
import { type Instant, type RunSettings, readOptions, type StreamOptions, toMs } from '../options.js';
import { createReport, type Report } from '../report.js';
import { createFleetSink, type FleetSamples, type FleetSink } from './fleet-sink.js';
import { type FleetInput, takeInput } from './input.js';
import { createNames, type Names } from './names.js';
import { Rows } from './rows.js';

/** Results of many members for one item of the request. */
export interface FleetSeries extends FleetSamples {
  /** The item's place in `plan.items`, and its metric. */
  readonly item: number;
  readonly metric: string;
}

/** What a fleet gives at its end: a series for each item, and what became of the samples of all members together. */
export interface FleetRun {
  readonly series: readonly FleetSeries[];
  readonly report: Report;
}

/**
 * Many live series under one plan: each member is a stream of its own, with its own samples, open windows and
 * watermark, but all share the plan and what runs it. A member takes some hundred bytes.
 */
export interface Fleet {
  /** How many members there are. Their numbers count from 0 in the order in which they joined. */
  readonly size: number;
  /** The number of a member, who joins the fleet with this call if it is new. */
  join(timeseriesId: string): number;
  /** The name of a member. */
  nameOf(member: number): string;
  /**
   * Takes samples of any members, in any order between members and within the allowed lateness for each, and gives
   * what became final: a series for each item that has new results. It goes fastest with samples sorted by member,
   * as neighbours of one member are taken together. A call is taken as a whole or, when it throws an InputError, not
   * at all.
   *
   * @throws InputError for members, columns or times that cannot be taken.
   * @throws OutputLimitError when a step would make more than `maxOutputSamples` in this call, for all members. The
   *   fleet then takes nothing more: restore its last checkpoint.
   */
  push(samples: FleetInput): FleetSeries[];
  /** Promises that no sample of any member before this instant will come, and gives what became final by that. */
  advance(instant: Instant): FleetSeries[];
  /** What `close` would give for some members (all by default), who go on as if they had not been asked. */
  preview(members?: Iterable<number>): FleetSeries[];
  /** Ends all members; `series` is what became final since the last call, one for each item. */
  close(): FleetRun;
  /** Everything that the fleet remembers, as bytes for `restoreFleet`. */
  checkpoint(): Uint8Array;
  /** What became of the samples of all members since the start. */
  report(): Report;
  /** Samples of the last call that came later than allowed, for each source of the plan: they are in no result. */
  readonly late: readonly FleetSamples[];
}

/**
 * Opens a fleet: as many streams as there are members, all of the same plan, opened now.
 *
 * @param plan a template: what its steps say of their sources holds for each member, whatever it is called.
 * @throws InputError for options that cannot be taken.
 * @example
 * const plan = createPlan([pipeline('any').aggregate({ function: 'Average', interval: 'PT15M' }).as('Mean')]);
 * const fleet = openFleet(plan);
 * fleet.push({ member: ['boiler', 'pump'], timeMs: Float64Array.of(0, 0), value: Float64Array.of(60, 3) });
 * const [means] = fleet.advance(900_000);
 * // means: { item: 0, metric: 'Mean', member: [0, 1], timeMs: [0, 0], value: [60, 3] }
 */
export function openFleet(plan: Plan, options: StreamOptions = {}): Fleet {
  return startFleet(planInTimezone(plan, options.timezone), options, undefined);
}

/**
 * Opens a fleet where another left off, on this machine or any other.
 *
 * @param bytes from `checkpoint` of a fleet of the same plan and options.
 * @throws CheckpointError when the bytes are damaged, or belong to another plan, options or version.
 */
export function restoreFleet(plan: Plan, bytes: Uint8Array, options: StreamOptions = {}): Fleet {
  return startFleet(planInTimezone(plan, options.timezone), options, { bytes });
}

/** All that a fleet works with, for the functions below. */
interface Engine {
  readonly plan: Plan;
  readonly settings: RunSettings;
  readonly graph: Graph;
  readonly rows: Rows;
  readonly names: Names;
  readonly sinks: readonly FleetSink[];
  /** One for each source. */
  readonly lateSinks: readonly FleetSink[];
  readonly progress: { advancedMs: number };
  readonly startedMs: number;
  /** The member whose row is loaded. */
  readonly hand: { member: number };
  late: readonly FleetSamples[];
  isOpen: boolean;
  /** Why it can go no further: the member at work when a call failed half way would go on wrongly. */
  failure: unknown;
}

function startFleet(plan: Plan, options: StreamOptions, kept: { readonly bytes: Uint8Array } | undefined): Fleet {
  const settings = readOptions(options, plan.timezone);
  const hand = { member: 0 };
  const progress = { advancedMs: Number.NEGATIVE_INFINITY };
  const sinks = plan.items.map(() => createFleetSink(() => hand.member));
  const graph = buildGraph(plan, settings, sinks, () => progress.advancedMs);
  const engine: Engine = {
    plan,
    settings,
    graph,
    rows: new Rows(graph),
    names: createNames(),
    sinks,
    lateSinks: plan.sources.map(() => createFleetSink(() => hand.member)),
    progress,
    startedMs: settings.clock(),
    hand,
    late: [],
    isOpen: true,
    failure: undefined,
  };
  const advanceBlank = (advancedMs: number): void => advanceBlankTo(engine, advancedMs);
  if (kept !== undefined) readFleetCheckpoint(kept.bytes, plan, settings, engine, advanceBlank);
  return {
    get size() {
      return engine.rows.count;
    },
    join: (timeseriesId) => join(engine, timeseriesId),
    nameOf: (member) => engine.names.of(checkMember(engine, member)),
    push: (samples) => push(engine, samples),
    advance: (instant) => advance(engine, instant),
    preview: (members) => preview(engine, members),
    close: () => close(engine),
    checkpoint: () => checkpoint(engine),
    report: () => reportOf(engine),
    get late() {
      return engine.late;
    },
  };
}

function join({ names, rows }: Engine, timeseriesId: string): number {
  if (typeof timeseriesId !== 'string') {
    throw new InputError('input.columns', `join: expected a name, received ${describeValue(timeseriesId)}`);
  }
  const known = names.numberOf(timeseriesId);
  if (known !== undefined) return known;
  names.add(timeseriesId);
  return rows.add();
}

function checkMember({ rows }: Engine, member: number): number {
  if (Number.isInteger(member) && member >= 0 && member < rows.count) return member;
  const expected = `the number of one of ${rows.count} members`;
  throw new InputError('input.columns', `member: expected ${expected}, received ${String(member)}`);
}

function push(engine: Engine, samples: FleetInput): FleetSeries[] {
  checkUsable(engine);
  const { source, member, timeMs, value } = takeInput(samples, engine.plan.sources.length, engine.rows.count, (id) =>
    join(engine, id),
  );
  call(engine, () => pushRuns(engine, source, member, { timeMs, value }));
  return takeNew(engine);
}

// Neighbours of one member go in together.
function pushRuns(
  engine: Engine,
  sourceIndex: number,
  member: Uint32Array,
  columns: Pick<FleetSamples, 'timeMs' | 'value'>,
): void {
  const { graph, rows, hand } = engine;
  const source = graph.sources[sourceIndex]!;
  const lateSink = engine.lateSinks[sourceIndex]!;
  const count = columns.timeMs.length;
  for (let from = 0; from < count; ) {
    const number = member[from]!;
    let to = from + 1;
    while (to < count && member[to] === number) to++;
    hand.member = number;
    rows.load(number);
    source.push(columns, from, to);
    graph.advance();
    rows.save(number);
    const late = source.takeLate();
    if (late !== undefined) lateSink.receive({ ...late, count: late.timeMs.length });
    from = to;
  }
}

function advance(engine: Engine, instant: Instant): FleetSeries[] {
  const { graph, rows, progress, hand } = engine;
  const timeMs = toMs('advance', instant, engine.plan.timezone);
  call(engine, () => {
    advanceBlankTo(engine, timeMs);
    for (let member = 0; member < rows.count; member++) {
      hand.member = member;
      rows.load(member);
      for (const source of graph.sources) source.advance(progress.advancedMs);
      graph.advance();
      rows.save(member);
    }
  });
  return takeNew(engine);
}

function advanceBlankTo({ graph, rows, progress }: Engine, timeMs: number): void {
  if (!(timeMs > progress.advancedMs)) return;
  progress.advancedMs = timeMs;
  rows.loadBlank();
  for (const source of graph.sources) source.advance(timeMs);
  graph.advance();
  rows.saveBlank();
}

function preview(engine: Engine, members: Iterable<number> | undefined): FleetSeries[] {
  const { graph, rows, sinks } = engine;
  checkUsable(engine);
  const asked = members === undefined ? undefined : [...members].map((member) => checkMember(engine, member));
  const putBack = snapshotOf(graph);
  graph.resetLimit();
  try {
    if (asked !== undefined) for (const member of asked) endMember(engine, member);
    else for (let member = 0; member < rows.count; member++) endMember(engine, member);
    return takeAll(engine);
  } finally {
    putBack();
    // After a failure they hold a part.
    for (const sink of sinks) if (sink.count() > 0) sink.take();
  }
}

function endMember({ graph, rows, hand, progress }: Engine, member: number): void {
  hand.member = member;
  rows.load(member);
  graph.close(progress.advancedMs);
}

function close(engine: Engine): FleetRun {
  const { rows } = engine;
  call(engine, () => {
    for (let member = 0; member < rows.count; member++) endMember(engine, member);
  });
  engine.isOpen = false;
  return { series: takeAll(engine), report: reportOf(engine) };
}

function checkpoint(engine: Engine): Uint8Array {
  if (engine.failure !== undefined || !engine.isOpen) {
    const reason = engine.isOpen ? 'has failed' : 'is closed';
    throw new CheckpointError('stream.closed', `the fleet ${reason}, so there is no state to keep`);
  }
  return writeFleetCheckpoint(engine.plan, engine.settings, engine);
}

function checkUsable({ isOpen, failure }: Engine): void {
  if (!isOpen) throw new InputError('stream.closed', 'the fleet is closed; open another, or restore a checkpoint');
  if (failure === undefined) return;
  const message = 'the fleet has failed before; restore its last checkpoint';
  throw new InputError('stream.closed', message, { cause: failure });
}

function call(engine: Engine, work: () => void): void {
  checkUsable(engine);
  engine.graph.resetLimit();
  try {
    work();
  } catch (error) {
    engine.failure = error;
    throw error;
  }
  engine.late = engine.lateSinks.map((sink) => sink.take());
}

function takeAll({ plan, sinks }: Engine): FleetSeries[] {
  return sinks.map((sink, item) => ({ item, metric: plan.items[item]!.output.metric, ...sink.take() }));
}

function takeNew({ plan, sinks }: Engine): FleetSeries[] {
  const results: FleetSeries[] = [];
  for (const [item, sink] of sinks.entries()) {
    if (sink.count() > 0) results.push({ item, metric: plan.items[item]!.output.metric, ...sink.take() });
  }
  return results;
}

function reportOf({ plan, graph, settings, startedMs }: Engine): Report {
  return createReport(plan, graph, 0, settings.clock() - startedMs);
}
