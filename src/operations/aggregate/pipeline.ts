import { DAY_MS } from '../../core/calendar.js';
import { nanosecondsOf } from '../../core/grid.js';
import { parseInterval } from '../../core/interval.js';
import type { Describe, Operation, OperationTexts, StepDraft } from '../operation.js';
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
import { describeAggregate, windowTexts } from './texts.js';

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

export const aggregatePipelineTexts: OperationTexts = {
  summary: 'Runs several aggregates, each over the results of the one before.',
  parameters: /* @__PURE__ */ Object.assign(
    { pipeline: 'Stages of `{function, interval}`, each interval a multiple of the one before.' },
    windowTexts,
  ),
  examples: [
    {
      title: 'The highest hourly average of a day',
      parameters: {
        pipeline: [
          { function: 'Average', interval: 'Hourly' },
          { function: 'Max', interval: 'Daily' },
        ],
      },
      inputs: ['00:00 1, 00:30 3, 05:00 7, 05:30 8, 05:45 3'],
      output: '00:00 6',
    },
    {
      title: 'How many hours of a day had samples',
      parameters: {
        pipeline: [
          { function: 'Count', interval: 'Hourly' },
          { function: 'Count', interval: 'Daily' },
        ],
      },
      inputs: ['00:00 1, 00:30 3, 05:00 7, 23:59 0'],
      output: '00:00 3',
    },
    {
      title: 'The average daily sum of a month',
      parameters: {
        pipeline: [
          { function: 'Sum', interval: 'Daily' },
          { function: 'Average', interval: 'Monthly' },
        ],
      },
      inputs: ['2024-03-01T06:00:00Z 1, 2024-03-01T18:00:00Z 2, 2024-03-02T06:00:00Z 5'],
      output: '2024-03-01T00:00:00Z 4',
    },
  ],
};

export const describeAggregatePipeline: Describe = (parameters) => {
  const stages = stagesOf(parameters).map((stage) => describeAggregate({ ...parameters, ...stage }));
  const last = stages.at(-1) ?? describeAggregate(parameters);
  const keeps = [...new Set(stages.map((stage) => stage.keeps))].join(', and ');
  return { ...last, does: stages.map((stage) => stage.does).join(', then '), keeps };
};

function stagesOf(parameters: Parameters): readonly Parameters[] {
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
