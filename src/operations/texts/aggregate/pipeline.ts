import { stagesOf } from '../../aggregate/pipeline.js';
import type { Describe, OperationTexts } from '../../operation.js';
import { describeAggregate, windowTexts } from './aggregate.js';

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
