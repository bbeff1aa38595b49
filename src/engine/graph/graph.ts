import { OutputLimitError } from '../../core/errors.js';
import { currentArena } from '../../kernels/arena.js';
import { matcherOf } from '../../operations/extensions/align.js';
import { operationOf } from '../../operations/index.js';
import type { RunContext, Runner, State } from '../../operations/operation.js';
import type { Plan, PlanInput, PlanStep } from '../../plan/plan.js';
import type { RunSettings } from '../options.js';
import { CombineNode } from './combine-node.js';
import { type StepCounts, zeroStepCounts } from './counts.js';
import { FilterNode, type Inlet, MapNode, type Node, type NodeContext, type OutputLimit } from './node.js';
import { RegridNode } from './regrid-node.js';
import { Source } from './source.js';

/** A step: one node, or one for each stage of a pipeline, each with its own counts. */
export interface GraphStep {
  readonly nodes: readonly Node[];
  readonly counts: readonly StepCounts[];
}

/** A plan wired up to run: sources, and for each step one or more nodes, which deliver to sinks. */
export class Graph {
  readonly sources: readonly Source[];
  readonly steps: readonly GraphStep[];
  /** Everything that sources and nodes remember between two calls. */
  readonly states: readonly State[];
  /** The counts of sources and nodes, in the same order. */
  readonly counts: readonly Record<string, number>[];
  readonly #limits: readonly SampleLimit[];
  readonly #active: readonly ActiveStep[];
  /** The watermark of each step that another active step reads. */
  readonly #stepMs: Float64Array;
  /** The watermark between two stages of a step. */
  readonly #stageMs = new Float64Array(1);
  /** See `Node.advance`. */
  readonly #coming = new Float64Array(1);
  /** The latest watermark of the sources that steps have read so far in this `advance`. */
  reachedMs = Number.NEGATIVE_INFINITY;

  constructor(plan: Plan, sources: readonly Source[], steps: readonly GraphStep[], limits: readonly SampleLimit[]) {
    this.sources = sources;
    this.steps = steps;
    const parts = [...sources, ...steps.flatMap(({ nodes }) => nodes)];
    this.states = parts.flatMap(({ state }) => (state === undefined ? [] : [state]));
    this.counts = [...sources, ...steps].flatMap<Record<string, number>>(({ counts }) => counts);
    this.#limits = limits;
    this.#active = activeSteps(plan, steps);
    this.#stepMs = new Float64Array(steps.length).fill(Number.NEGATIVE_INFINITY);
  }

  /** Tells every step how far time has come, so that steps deliver what that makes final. */
  advance(): void {
    this.reachedMs = Number.NEGATIVE_INFINITY;
    // Steps are in running order, so one pass carries the sources' watermarks to the last of them.
    const active = this.#active;
    for (let k = 0; k < active.length; k++) {
      const step = active[k]!;
      const { nodes, inputs, marks } = step;
      for (let side = 0; side < inputs.length; side++) {
        const { from, index } = inputs[side]!;
        if (from === 'source') {
          this.sources[index]!.writeWatermark(marks, side);
          this.reachedMs = Math.max(this.reachedMs, marks[side]!);
        } else marks[side] = this.#stepMs[index]!;
      }
      if (step.comesFrom < 0) this.#coming[0] = Number.NEGATIVE_INFINITY;
      else this.sources[step.comesFrom]!.writeComing(this.#coming, 0);
      let given = marks;
      nodes[0]!.advance(given, this.#coming);
      this.#coming[0] = Number.NEGATIVE_INFINITY;
      for (let n = 1; n < nodes.length; n++) {
        this.#stageMs[0] = nodes[n - 1]!.watermarkMs(given);
        given = this.#stageMs;
        nodes[n]!.advance(given, this.#coming);
      }
      if (step.isAwaited) this.#stepMs[step.at] = lastOf(nodes).watermarkMs(given);
    }
  }

  /** Ends every input. `advancedMs` is the last `advance` of the run. */
  close(advancedMs: number): void {
    for (const source of this.sources) source.close();
    for (const { nodes } of this.steps) for (const node of nodes) node.close(advancedMs);
  }

  /** Forgets everything, as if nothing had come yet. */
  reset(): void {
    for (const source of this.sources) source.reset();
    for (const { nodes } of this.steps) for (const node of nodes) node.reset();
    for (const counts of this.counts) for (const name of Object.keys(counts)) counts[name] = 0;
    this.#stepMs.fill(Number.NEGATIVE_INFINITY);
    this.resetLimit();
  }

  /** Starts a new count for `maxOutputSamples`. */
  resetLimit(): void {
    const limits = this.#limits;
    for (let k = 0; k < limits.length; k++) limits[k]!.restart();
  }
}

/** A step with a state, which therefore needs watermarks. */
interface ActiveStep {
  readonly at: number;
  readonly nodes: readonly Node[];
  /** Sources, or active steps. */
  readonly inputs: readonly PlanInput[];
  /** The watermarks of its inputs. */
  readonly marks: Float64Array;
  /** The source all of whose samples reach the step's only input; −1 without one. */
  readonly comesFrom: number;
  /** Whether another active step reads its watermark. */
  isAwaited: boolean;
}

// A step without a state passes its input's watermark on, so it is left out: steps after it read the watermark of the
// step or source before it.
function activeSteps(plan: Plan, steps: readonly GraphStep[]): ActiveStep[] {
  const origins: PlanInput[] = [];
  // For each step, the source for each of whose samples it gives one; −1 without one.
  const wholeOf: number[] = [];
  const active: ActiveStep[] = [];
  for (const [at, { nodes }] of steps.entries()) {
    const step = plan.steps[at]!;
    const inputs = step.inputs.map((input) => (input.from === 'step' ? origins[input.index]! : input));
    const hasState = nodes.some((node) => node.state !== undefined);
    const { from, index } = step.inputs[0]!;
    const whole = step.inputs.length > 1 ? -1 : from === 'source' ? index : wholeOf[index]!;
    wholeOf.push(operationOf(step).results === 'one a sample' ? whole : -1);
    origins.push(hasState ? { from: 'step', index: at } : inputs[0]!);
    if (!hasState) continue;
    const marks = new Float64Array(inputs.length).fill(Number.NEGATIVE_INFINITY);
    active.push({ at, nodes, inputs, marks, comesFrom: whole, isAwaited: false });
  }
  const awaited = new Set(active.flatMap(({ inputs }) => inputs.map(({ from, index }) => `${from} ${index}`)));
  for (const step of active) step.isAwaited = awaited.has(`step ${step.at}`);
  return active;
}

/** Most plans need no more columns than this. All of these get columns of one length, and are wired once. */
const COLUMN_COUNT_USUAL = 32;

/**
 * Wires a plan to its sinks.
 *
 * @param sinks where the results of each item go.
 * @param advancedMs the last `advance` of the run so far.
 */
export function buildGraph(
  plan: Plan,
  settings: RunSettings,
  sinks: readonly Inlet[],
  advancedMs: () => number,
): Graph {
  // The number of columns decides how long they can be, and only wiring tells how many a plan needs. A plan that needs
  // more than most is wired again, with shorter ones.
  const arena = currentArena();
  const spilt = new Float64Array(0);
  let columns = arena.scratchColumns(COLUMN_COUNT_USUAL);
  for (;;) {
    let count = 0;
    const graph = wire(plan, settings, sinks, advancedMs, () => columns[count++] ?? spilt);
    if (count <= columns.length) return graph;
    columns = arena.scratchColumns(count);
  }
}

function wire(
  plan: Plan,
  settings: RunSettings,
  sinks: readonly Inlet[],
  advancedMs: () => number,
  column: () => Float64Array,
): Graph {
  const sources = plan.sources.map(() => new Source(settings, column));
  const readerCount = countReaders(plan);
  const itemsOf: number[][] = plan.steps.map(() => []);
  for (const [item, { step }] of plan.items.entries()) itemsOf[step]!.push(item);
  const limits: SampleLimit[] = [];
  const steps: GraphStep[] = [];
  const run = { untilMs: settings.untilMs, advancedMs, reachedMs: () => graph.reachedMs, column };
  for (const [index, planStep] of plan.steps.entries()) {
    const mayOverwrite = planStep.inputs.every(({ from, index: at }) => readerCount[from][at] === 1);
    const step = openStep(planStep, settings, run, { column, mayOverwrite }, limits);
    steps.push(step);
    for (const [side, input] of planStep.inputs.entries()) {
      outletsOf(input, sources, steps).push(step.nodes[0]!.inlets[side]!);
    }
    for (const item of itemsOf[index]!) lastOf(step.nodes).outlets.push(sinks[item]!);
  }
  const graph = new Graph(plan, sources, steps, limits);
  return graph;
}

function lastOf(nodes: readonly Node[]): Node {
  return nodes[nodes.length - 1]!; // each step has one
}

function outletsOf(input: PlanInput, sources: readonly Source[], steps: readonly GraphStep[]): Inlet[] {
  return input.from === 'source' ? sources[input.index]!.outlets : lastOf(steps[input.index]!.nodes).outlets;
}

// How many steps and items read each source and each step's result.
function countReaders(plan: Plan): Readonly<Record<PlanInput['from'], number[]>> {
  const counts = { source: plan.sources.map(() => 0), step: plan.steps.map(() => 0) };
  for (const { inputs } of plan.steps) for (const { from, index } of inputs) counts[from][index]!++;
  for (const { step } of plan.items) counts.step[step]!++;
  return counts;
}

function openStep(
  step: PlanStep,
  settings: RunSettings,
  run: Omit<RunContext, 'inputCount'>,
  place: Pick<NodeContext, 'column' | 'mayOverwrite'>,
  limits: SampleLimit[],
): GraphStep {
  const opened = operationOf(step).open(step.parameters, { ...run, inputCount: step.inputs.length });
  const counts: StepCounts[] = [];
  const nodes = (isList(opened) ? opened : [opened]).map((runner) => {
    const own = zeroStepCounts();
    counts.push(own);
    const limit = new SampleLimit(step, own, settings.maxOutputSamples);
    // Other kinds give no more samples than they take.
    if (runner.kind === 'regrid') limits.push(limit);
    return openNode(runner, step, { ...place, counts: own, limit });
  });
  for (const [index, node] of nodes.entries()) if (index > 0) nodes[index - 1]!.outlets.push(node.inlets[0]!);
  return { nodes, counts };
}

function isList(opened: Runner | readonly Runner[]): opened is readonly Runner[] {
  return Array.isArray(opened);
}

/** Counts the samples that a step makes in one call. */
class SampleLimit implements OutputLimit {
  readonly #step: PlanStep;
  readonly #counts: StepCounts;
  readonly #samplesMax: number;
  #countedFrom = 0;

  constructor(step: PlanStep, counts: StepCounts, samplesMax: number) {
    this.#step = step;
    this.#counts = counts;
    this.#samplesMax = samplesMax;
  }

  restart(): void {
    this.#countedFrom = this.#counts.samplesOut;
  }

  check(sampleCount: number): void {
    const made = sampleCount - this.#countedFrom;
    if (made <= this.#samplesMax) return;
    throw new OutputLimitError(this.#step.pointer, this.#step.operation, made, this.#samplesMax);
  }
}

function openNode(runner: Runner, step: PlanStep, context: NodeContext): Node {
  switch (runner.kind) {
    case 'map':
      return new MapNode(runner, context);
    case 'filter':
      return new FilterNode(runner, context);
    case 'regrid':
      return new RegridNode(runner, context);
    case 'combine':
      return new CombineNode(runner, matcherOf(step.parameters), context);
  }
}
