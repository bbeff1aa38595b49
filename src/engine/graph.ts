import { OutputLimitError } from '../core/errors.js';
import { scratchColumn } from '../kernels/columns.js';
import { operationsByName } from '../operations/index.js';
import type { RunContext, Runner } from '../operations/operation.js';
import { durationMsIn } from '../operations/parameters.js';
import { alignOf } from '../operations/two-inputs.js';
import type { Plan, PlanInput, PlanStep } from '../plan/plan.js';
import { combineNode } from './align.js';
import { type StepCounts, zeroStepCounts } from './counts.js';
import { filterNode, type Inlet, mapNode, type Node, type NodeContext, regridNode } from './node.js';
import type { RunSettings } from './options.js';
import { createSource, type Source } from './source.js';

/** A plan wired up: sources at one end, a node or more for each step, and places to take results from. */
export interface Graph {
  readonly sources: readonly Source[];
  readonly steps: readonly GraphStep[];
  /** Tells every step how far time has come; steps give what became final. */
  readonly advance: () => void;
  /** Ends every input. `advancedMs` is the last `advance` of the run. */
  readonly close: (advancedMs: number) => void;
  /** Forgets everything, as if nothing had come yet. */
  readonly reset: () => void;
  /** Starts a new count for `maxOutputSamples`. */
  readonly resetLimit: () => void;
}

/** A step: one node, or one for each stage of a pipeline, each with its own counts. */
export interface GraphStep {
  readonly nodes: readonly Node[];
  readonly counts: readonly StepCounts[];
}

/**
 * @param sinks where the results of each item go.
 * @param advancedMs the last `advance` of the run so far.
 */
export function buildGraph(
  plan: Plan,
  settings: RunSettings,
  sinks: readonly Inlet[],
  advancedMs: () => number = () => Number.NEGATIVE_INFINITY,
): Graph {
  let columnCount = 0;
  const nextColumn = (): number => columnCount++;
  const sources = plan.sources.map(() => createSource(settings, nextColumn));
  const readerCount = countReaders(plan);
  const itemsOf: number[][] = plan.steps.map(() => []);
  for (const [item, { step }] of plan.items.entries()) itemsOf[step]!.push(item);
  const limits: (() => void)[] = [];
  const steps: GraphStep[] = [];
  const column = (): Float64Array => scratchColumn(nextColumn());
  const run: RunContext = { untilMs: settings.untilMs, advancedMs, column };
  for (const [index, planStep] of plan.steps.entries()) {
    const mayOverwrite = planStep.inputs.every(({ from, index: at }) => readerCount[from][at] === 1);
    const step = openStep(planStep, settings, run, { nextColumn, mayOverwrite }, limits);
    steps.push(step);
    for (const [side, input] of planStep.inputs.entries()) {
      outletsOf(input, sources, steps).push(step.nodes[0]!.inlets[side]!);
    }
    for (const item of itemsOf[index]!) lastOf(step.nodes).outlets.push(sinks[item]!);
  }
  const close = (advancedMs: number): void => {
    for (const source of sources) source.close();
    for (const { nodes } of steps) for (const node of nodes) node.close(advancedMs);
  };
  const resetLimit = (): void => {
    for (const reset of limits) reset();
  };
  const { advance, forget } = createAdvance(plan, sources, steps);
  const reset = (): void => {
    for (const source of sources) source.reset();
    for (const { nodes, counts } of steps) {
      for (const node of nodes) node.reset();
      for (const own of counts) Object.assign(own, zeroStepCounts());
    }
    forget();
    resetLimit();
  };
  return { sources, steps, advance, close, reset, resetLimit };
}

// Steps stand in running order, so one pass brings the sources' watermarks to the last of them. A step without a
// state passes its input's watermark on, so it is left out, and those after it look at what stands before it.
function createAdvance(
  plan: Plan,
  sources: readonly Source[],
  steps: readonly GraphStep[],
): { advance: () => void; forget: () => void } {
  const stepMs = plan.steps.map(() => Number.NEGATIVE_INFINITY);
  const origins: PlanInput[] = [];
  const active: { at: number; nodes: readonly Node[]; inputs: readonly PlanInput[]; marks: number[] }[] = [];
  for (const [at, { nodes }] of steps.entries()) {
    const inputs = plan.steps[at]!.inputs.map((input) => (input.from === 'step' ? origins[input.index]! : input));
    const hasState = nodes.some((node) => node.state !== undefined);
    origins.push(hasState ? { from: 'step', index: at } : inputs[0]!);
    if (hasState) active.push({ at, nodes, inputs, marks: inputs.map(() => Number.NEGATIVE_INFINITY) });
  }
  const single = [Number.NEGATIVE_INFINITY];
  const advance = (): void => {
    for (let k = 0; k < active.length; k++) {
      const { at, nodes, inputs, marks } = active[k]!;
      for (let side = 0; side < inputs.length; side++) {
        const { from, index } = inputs[side]!;
        marks[side] = from === 'source' ? sources[index]!.watermarkMs() : stepMs[index]!;
      }
      single[0] = nodes[0]!.advance(marks);
      for (let n = 1; n < nodes.length; n++) single[0] = nodes[n]!.advance(single);
      stepMs[at] = single[0];
    }
  };
  const forget = (): void => {
    stepMs.fill(Number.NEGATIVE_INFINITY);
  };
  return { advance, forget };
}

function lastOf(nodes: readonly Node[]): Node {
  const node = nodes[nodes.length - 1];
  if (node === undefined) throw new Error('assertion failed: a step without nodes');
  return node;
}

function outletsOf(input: PlanInput, sources: readonly Source[], steps: readonly GraphStep[]): Inlet[] {
  return input.from === 'source' ? sources[input.index]!.outlets : lastOf(steps[input.index]!.nodes).outlets;
}

// How many read each source and each step's result: steps and items.
function countReaders(plan: Plan): Readonly<Record<PlanInput['from'], number[]>> {
  const counts = { source: plan.sources.map(() => 0), step: plan.steps.map(() => 0) };
  for (const { inputs } of plan.steps) for (const { from, index } of inputs) counts[from][index]!++;
  for (const { step } of plan.items) counts.step[step]!++;
  return counts;
}

function openStep(
  step: PlanStep,
  settings: RunSettings,
  run: RunContext,
  place: Pick<NodeContext, 'nextColumn' | 'mayOverwrite'>,
  limits: (() => void)[],
): GraphStep {
  const operation = operationsByName.get(step.operation);
  if (operation === undefined) throw new Error(`assertion failed: the plan names ${step.operation}`);
  const opened = operation.open(step.parameters, run);
  const counts: StepCounts[] = [];
  const nodes = (isList(opened) ? opened : [opened]).map((runner) => {
    const own = zeroStepCounts();
    counts.push(own);
    return openNode(runner, step, { ...place, counts: own, checkLimit: createLimit(step, own, settings, limits) });
  });
  for (const [index, node] of nodes.entries()) if (index > 0) nodes[index - 1]!.outlets.push(node.inlets[0]!);
  return { nodes, counts };
}

function isList(opened: Runner | readonly Runner[]): opened is readonly Runner[] {
  return Array.isArray(opened);
}

function createLimit(step: PlanStep, counts: StepCounts, settings: RunSettings, limits: (() => void)[]) {
  let countedFrom = 0;
  limits.push(() => {
    countedFrom = counts.samplesOut;
  });
  return (sampleCount: number): void => {
    const made = sampleCount - countedFrom;
    if (made <= settings.maxOutputSamples) return;
    throw new OutputLimitError(step.pointer, step.operation, made, settings.maxOutputSamples);
  };
}

function openNode(runner: Runner, step: PlanStep, context: NodeContext): Node {
  switch (runner.kind) {
    case 'map':
      return mapNode(runner, context);
    case 'filter':
      return filterNode(runner, context);
    case 'regrid':
      return regridNode(runner, context);
    case 'combine': {
      const align = alignOf(step.parameters);
      const maxHoldMs = durationMsIn(step.parameters, 'maxhold') ?? Number.POSITIVE_INFINITY;
      return combineNode(runner, align, maxHoldMs, context);
    }
  }
}
