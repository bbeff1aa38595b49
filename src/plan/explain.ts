import { formatDuration } from '../core/duration.js';
import { seriesName } from '../core/series.js';
import type { Description, Reach } from '../operations/operation.js';
import { describeStep as describe } from '../operations/texts/index.js';
import { checkPlan, type Plan, type PlanInput } from './plan.js';

/** The plan in words: what runs in which order, what it keeps, and when results come. @throws InputError */
export function explain(plan: Plan): string {
  checkPlan(plan);
  const lines = [
    `${counted(plan.items, 'result')} from ${counted(plan.sources, 'source')} by ${counted(plan.steps, 'step')}; ` +
      `time zone ${plan.timezone}`,
    '',
    ...plan.sources.map((source, index) => `source ${index + 1}  ${seriesName(source)}`),
  ];
  for (const [index, step] of plan.steps.entries()) {
    const described = describeStep(plan, index);
    const inputs = step.inputs.map((input) => inputName(plan, input)).join(' and ');
    lines.push(
      '',
      `step ${index + 1}  ${step.operation}: ${described.does}`,
      `  reads    ${inputs}`,
      `  gives    ${seriesName(step.output)}`,
      `  uses     ${describeReach(described.reads)}`,
      `  keeps    ${described.keeps}`,
      `  final    ${described.final}`,
      `  pointer  ${step.pointer}`,
    );
  }
  lines.push('');
  for (const { output, processingType, frequency, step } of plan.items) {
    const often = frequency === undefined ? '' : `, run every ${frequency}`;
    lines.push(
      `result  ${seriesName(output)} from step ${step + 1}, as ${processingType}${often}`,
      `  comes    ${firstResult(plan, step)}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function counted(list: readonly unknown[], noun: string): string {
  return `${list.length} ${noun}${list.length === 1 ? '' : 's'}`;
}

/** What `explain` says of a step. */
export function describeStep(plan: Plan, index: number): Description {
  const { operation, parameters } = plan.steps[index]!;
  return describe(operation, parameters);
}

// When the first result can come: what each step on the way from the sources waits for.
function firstResult(plan: Plan, last: number): string {
  const onTheWay = new Set([last]);
  for (let at = last; at >= 0; at--) {
    if (!onTheWay.has(at)) continue;
    for (const { from, index } of plan.steps[at]?.inputs ?? []) if (from === 'step') onTheWay.add(index);
  }
  const steps = [...onTheWay].sort((a, b) => a - b);
  const waits = steps.map((at) => describeStep(plan, at).final).filter((final) => final !== 'with its sample');
  return waits.length === 0 ? 'with its first sample' : [...new Set(waits)].join('; then ');
}

function inputName(plan: Plan, { from, index }: PlanInput): string {
  const reference = from === 'source' ? plan.sources[index] : plan.steps[index]?.output;
  return `${reference === undefined ? '' : seriesName(reference)} (${from} ${index + 1})`;
}

/** Which samples a result uses, in words. */
export function describeReach(reach: Reach): string {
  switch (reach.kind) {
    case 'sample':
      return 'the sample of the same time';
    case 'moved':
      return reach.byMs === undefined
        ? 'the sample that many windows away'
        : `the sample ${formatDuration(Math.abs(reach.byMs))} ${reach.byMs < 0 ? 'later' : 'earlier'}`;
    case 'window':
      return (
        `the samples of its window, at most ${formatDuration(reach.lengthMsMax)}` +
        (reach.isCarriedIn ? ', and the last one before it' : '') +
        (reach.isCarriedOut ? ' and the next one after it' : '')
      );
    case 'trailing':
      return `the samples of the last ${formatDuration(reach.lengthMs)} up to it`;
    case 'session':
      return `the samples of its session, with no gap over ${formatDuration(reach.gapMs)}, and the last one before it`;
    case 'past':
      return 'all samples up to it';
    case 'last':
      return reach.ageMsMax === undefined
        ? 'the last sample at or before, however old'
        : `the last sample at or before, up to ${formatDuration(reach.ageMsMax)} old`;
    case 'neighbours':
      return reach.gapMsMax === undefined
        ? 'the samples around it, however far'
        : `the samples around it, in gaps of up to ${formatDuration(reach.gapMsMax)}`;
  }
}
