import { DAY_MS } from '../../core/calendar.js';
import { nanosecondsOf } from '../../core/grid.js';
import { parseInterval } from '../../core/interval.js';
import type { Operation, StepDraft } from '../operation.js';
import { listOf, objectOf, type Parameters, type Report, textIn, within } from '../parameters.js';
import { checkedInterval, checkInterval } from '../windowing.js';
import { openAggregate } from './aggregate.js';
import {
  type AggregateStage,
  checkFunction,
  functionParameters,
  type WindowParameters,
  windowParameters,
} from './parameters.js';

export interface AggregatePipelineMethods {
  aggregatePipeline(
    stages: readonly AggregateStage[],
    parameters?: WindowParameters,
  ): StepDraft<WindowParameters & { readonly pipeline: readonly AggregateStage[] }>;
}

export const aggregatePipeline: Operation<AggregatePipelineMethods, 'Aggregate Pipeline' | 'AggregatePipeline'> = {
  name: 'Aggregate Pipeline',
  aliases: ['AggregatePipeline'],
  shape: 'regrid',
  results: 'one a window',
  methods: { aggregatePipeline: (stages, parameters) => ({ parameters: { pipeline: stages, ...parameters } }) },
  parameters: {
    pipeline: listOf(objectOf(functionParameters, checkFunction), {
      some: 'stage of {function, interval}',
      extension: true,
    }),
    ...windowParameters,
  },
  check: checkStages,
  open: (parameters, run) => {
    const stages = stagesOf(parameters);
    const closed = parameters.closed === 'right' ? 'right' : 'left';
    const timezone = textIn(parameters, 'timezone');
    return stages.map((stage, index) => {
      // With `closed: right`, stages before the last stamp results with the end, so the last hour of a day stays in it.
      const isLast = index === stages.length - 1;
      const label = isLast ? (parameters.label === 'end' ? 'end' : 'start') : closed === 'right' ? 'end' : 'start';
      return openAggregate(stage, { timezone, closed, label }, run.column);
    });
  },
  windows: (parameters) => ({
    window: textIn(stagesOf(parameters).at(-1) ?? {}, 'interval'),
    timezone: textIn(parameters, 'timezone'),
  }),
};

export function stagesOf(parameters: Parameters): readonly Parameters[] {
  const { pipeline } = parameters;
  if (!Array.isArray(pipeline)) throw new Error('assertion failed: no pipeline');
  return pipeline;
}

function checkStages(parameters: Parameters, report: Report): void {
  const timezone = textIn(parameters, 'timezone');
  let before: string | undefined;
  for (const [index, stage] of stagesOf(parameters).entries()) {
    const place = within(report, `/pipeline/${index}/interval`);
    const text = textIn(stage, 'interval');
    checkInterval(text, timezone, place);
    if (before !== undefined && !isMultiple(text, before)) {
      place('', 'request.conflict', `an interval that is a multiple of the one before, \`${before}\``, `\`${text}\``);
    }
    before = text;
  }
}

/** Weekly and Monthly are multiples of Daily, Yearly of Monthly; whatever divides a day divides all of them. */
function isMultiple(text: string, beforeText: string): boolean {
  const interval = parseInterval(text) ?? checkedInterval(text);
  const before = parseInterval(beforeText) ?? checkedInterval(beforeText);
  if (before.kind === 'calendar') {
    if (interval.kind === 'fixed') return false;
    return interval.unit === before.unit || (interval.unit === 'Yearly' && before.unit === 'Monthly');
  }
  const lengthMs = interval.kind === 'fixed' ? interval.lengthMs : DAY_MS;
  return (nanosecondsOf(lengthMs) ?? 1n) % (nanosecondsOf(before.lengthMs) ?? 1n) === 0n;
}
